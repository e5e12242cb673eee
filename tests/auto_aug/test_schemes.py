"""RandAugment and TrivialAugment; determinism of all three schemes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.auto_aug.auto_augment import auto_augment
from dali_core.auto_aug.core import augmentation
from dali_core.auto_aug.rand_augment import (
    apply_rand_augment,
    get_rand_augment_non_monotonic_suite,
    get_rand_augment_suite,
    rand_augment,
)
from dali_core.auto_aug.trivial_augment import (
    apply_trivial_augment,
    get_trivial_augment_wide_suite,
    trivial_augment_wide,
)
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
)
from tests.auto_aug.augmenting import PHOTO, build, run

GEOMETRY = ["translate_x", "translate_y", "shear_x", "shear_y", "rotate"]
NAMES = [one.name for one in get_rand_augment_suite()]
TINY = np.zeros((1, 1, 1), np.uint8)


def digit(number: int) -> Any:
    """Return an augmentation that appends a digit, in base 4."""
    return augmentation(
        lambda data, _: data * np.uint8(4) + np.uint8(number), name=f"digit_{number}"
    )


DIGITS = [digit(number) for number in range(4)]


@augmentation(mag_range=(0, 30), randomly_negate=True, mag_to_param=lambda m: 100 + m)
def magnitude(data: Any, value: Any, shift: int = 0) -> Any:
    return data + fn.cast(value + shift, dtype=types.UINT8)


def numbers(define: Callable[[Any], Any], count: int) -> list[int]:
    return [int(sample.item()) for sample in run(define, [TINY] * count)]


# RandAugment


def test_all_sequences_have_equal_chances() -> None:
    found = Counter(numbers(lambda x: apply_rand_augment(DIGITS, x, 2, 0), 1600))
    assert set(found) == set(range(16))
    assert 55 < min(found.values()) <= max(found.values()) < 150


def test_the_magnitude_is_fixed_and_negated_at_random() -> None:
    found = Counter(numbers(lambda x: apply_rand_augment([magnitude], x, 1, 7), 200))
    assert set(found) == {93, 107}
    assert min(found.values()) > 60
    found = Counter(numbers(lambda x: apply_rand_augment([magnitude], x, 1, 2, 4, shift=5), 20))
    assert set(found) == {85, 125}


def test_seeds_make_selections_and_signs_independent() -> None:
    low = magnitude.augmentation(mag_to_param=lambda m: 50 + m)

    def define(image: Any) -> Any:
        return apply_rand_augment([low, magnitude], image, 1, 7, seed=5)

    found = Counter(numbers(define, 400))
    assert set(found) == {43, 57, 93, 107}
    assert min(found.values()) > 60
    assert numbers(define, 20) == numbers(define, 20)


def test_zero_augmentations() -> None:
    with pytest.warns(UserWarning, match="n=0 leaves the samples"):
        (found,) = run(lambda x: apply_rand_augment([], x, 0, 3, nobody_takes=1))
    assert found.tolist() == PHOTO.tolist()


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("monotonic_mag", [True, False])
def test_rand_augment(n: int, monotonic_mag: bool) -> None:
    found = run(lambda x: rand_augment(x, n, 17, monotonic_mag=monotonic_mag), [PHOTO] * 32)
    assert {image.shape for image in found} == {PHOTO.shape}
    assert len({image.tobytes() for image in found}) > 10


def test_images_of_several_sizes() -> None:
    photos = [PHOTO[: 20 + 3 * i, : 60 - 2 * i].copy() for i in range(16)]
    found = run(lambda x: rand_augment(x, 2, 9, shape=x.shape()), photos)
    assert [image.shape for image in found] == [photo.shape for photo in photos]
    (clip,) = run(lambda x: rand_augment(x, 4, 9), [np.stack([PHOTO] * 3)], "FHWC")
    assert clip.shape == (3, *PHOTO.shape)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n": -1}, r"'n' must be an integer of at least 0 \(got -1\)"),
        ({"n": 1.5}, "'n' must be"),
        ({"m": 31}, r"'m' must be an integer from 0 to 30 \(got 31\)"),
        ({"m": -1}, "'m' must be"),
        ({"m": 1.5}, "'m' must be"),
        ({"num_magnitude_bins": 0}, "'num_magnitude_bins' must be a positive integer"),
        ({"num_magnitude_bins": 2.5}, "'num_magnitude_bins' must be a positive integer"),
        ({"excluded": ["nope"]}, r"'excluded' .*got 'nope'\). They are: translate_x, "),
        ({"excluded": NAMES}, "'augmentations' must have at least one"),
    ],
)
def test_invalid_arguments(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=rf"rand_augment: argument {message}"):
        run(lambda x: rand_augment(x, **{"n": 1, "m": 1, **keywords}))


# TrivialAugment


def test_bins_have_equal_chances() -> None:
    found = Counter(numbers(lambda x: apply_trivial_augment([magnitude], x, 4), 800))
    assert set(found) == {70, 80, 90, 100, 110, 120, 130}
    assert 150 < found.pop(100) < 250
    assert 60 < min(found.values()) <= max(found.values()) < 140


def test_augmentations_have_equal_chances() -> None:
    found = Counter(numbers(lambda x: apply_trivial_augment(DIGITS, x, seed=3), 400))
    assert set(found) == {0, 1, 2, 3}
    assert min(found.values()) > 60


def test_trivial_augment() -> None:
    found = run(lambda x: trivial_augment_wide(x, 8, (70, 90)), [PHOTO] * 32)
    assert {image.shape for image in found} == {PHOTO.shape}
    assert len({image.tobytes() for image in found}) > 10
    for keywords, message in (
        ({"num_magnitude_bins": 0}, "positive integer"),
        ({"excluded": ["nope"]}, "got 'nope'"),
        ({"excluded": NAMES}, "at least one augmentation"),
    ):
        with pytest.raises(ArgumentValueError, match=message):
            run(lambda x, keywords=keywords: trivial_augment_wide(x, **keywords))


# What the schemes share


@pytest.mark.parametrize(
    "scheme", [lambda x, **k: rand_augment(x, 1, 9, **k), trivial_augment_wide]
)
def test_unused_arguments_raise(scheme: Any) -> None:
    for excluded, keywords, named in (
        (GEOMETRY, {}, "'fill_value', 'interp_type'"),
        (GEOMETRY[:2], {"shape": (70, 90)}, "'shape'"),
    ):
        with pytest.raises(ArgumentTypeError, match=rf"taken by at least one .*\(got {named}"):
            run(lambda x, e=excluded, k=keywords: scheme(x, excluded=e, **k))
    assert run(lambda x: scheme(x, excluded=["rotate", "color"]))


@pytest.mark.parametrize(
    ("make", "largest", "relative"),
    [
        (get_rand_augment_suite, 100, 100 / 224),
        (get_rand_augment_non_monotonic_suite, 100, 100 / 224),
        (get_trivial_augment_wide_suite, 32, 1.0),
    ],
)
def test_translations_of_suites(make: Any, largest: int, relative: float) -> None:
    def ranges(*arguments: Any) -> list[Any]:
        suite = make(*arguments)
        assert [one.name for one in suite] == NAMES
        return [one.mag_range for one in suite[:2]]

    assert ranges() == [(0, largest)] * 2
    assert ranges(True) == [(0, relative)] * 2
    assert ranges(False, 3) == [(0, 3)] * 2
    assert ranges(False, (3, 4)) == [(0, 4), (0, 3)]
    assert ranges(True, None, [0.25, 0.5]) == [(0, 0.5), (0, 0.25)]
    with pytest.raises(ArgumentConflictError, match="'max_translate_abs' must not be .* with"):
        make(True, 3)
    with pytest.raises(ArgumentConflictError, match="'max_translate_rel' must not be .* without"):
        make(False, None, 0.5)
    for impossible in ((1, 2, 3), "a", ("a", "b")):
        with pytest.raises(ArgumentFormError, match="'max_translate_abs' must be a number"):
            make(False, impossible)


def test_ranges_that_are_not_monotonic() -> None:
    by_name = {one.name: one for one in get_rand_augment_non_monotonic_suite()}
    for name in ("brightness", "contrast", "color", "sharpness"):
        assert (by_name[name].mag_range, by_name[name].randomly_negate) == ((0.1, 1.9), False)
    assert by_name["brightness"].mag_to_param(0.5) == 0.5
    assert by_name["posterize"].mag_range == (0, 4)
    assert by_name["solarize"].mag_range == (0, 256)


SCHEMES: dict[str, Callable[[Any], Any]] = {
    "rand": lambda x: rand_augment(x, 2, 12, shape=x.shape()),
    "trivial": trivial_augment_wide,
    "auto": lambda x: auto_augment(x, "reduced_cifar10"),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_results_depend_on_nothing_but_the_seed(scheme: str) -> None:
    def batches(count: int, pipeline: Any) -> list[list[int]]:
        # The position of a sample does not matter: all samples are the same photo.
        return [
            [hash(np.asarray(sample).tobytes()) for sample in pipeline.run()[0]]
            for _ in range(count)
        ]

    def made(**options: Any) -> Any:
        return build(SCHEMES[scheme], [PHOTO[:24, :32].copy()] * 12, **options)

    expected = batches(3, made(num_threads=1))
    assert len({tuple(batch) for batch in expected}) == 3
    assert batches(3, made(num_threads=4)) == expected
    assert batches(3, made(num_threads=2, prefetch_queue_depth=4)) == expected
    assert batches(3, made(seed=99)) != expected
    first = made(num_threads=2)
    assert batches(1, first) == expected[:1]
    resumed = made(num_threads=3)
    resumed.load_state_dict(first.state_dict())
    assert batches(2, resumed) == expected[1:]


def test_conditionals_need_not_be_enabled() -> None:
    found = build(SCHEMES["rand"], [PHOTO] * 4, enable_conditionals=False)
    expected = build(SCHEMES["rand"], [PHOTO] * 4)
    assert found.run()[0].as_array().tolist() == expected.run()[0].as_array().tolist()
