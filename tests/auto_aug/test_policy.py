"""`Policy` and AutoAugment."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.auto_aug import augmentations as a
from dali_core.auto_aug.auto_augment import (
    apply_auto_augment,
    auto_augment,
    auto_augment_image_net,
    get_image_net_policy,
    get_reduced_cifar10_policy,
    get_reduced_image_net_policy,
    get_svhn_policy,
)
from dali_core.auto_aug.core import Policy, augmentation
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentFormError,
    ArgumentKeyError,
    ArgumentTypeError,
    ArgumentValueError,
)
from tests.auto_aug.augmenting import PHOTO, run


@augmentation(mag_range=(0, 10))
def plus(data: Any, value: Any) -> Any:
    return data + fn.cast(value, dtype=types.UINT8)


@augmentation(mag_range=(0, 100), randomly_negate=True, mag_to_param=lambda m: 100 + m)
def plus_much(data: Any, value: Any, scale: int = 1) -> Any:
    return data + fn.cast(value * scale, dtype=types.UINT8)


def sums(policy: Policy, count: int = 200, **keywords: Any) -> list[int]:
    """Return what is added to each sample of a batch."""
    zeros = [np.zeros((1, 1, 1), np.uint8)] * count
    found = run(lambda x: apply_auto_augment(policy, x, **keywords), zeros)
    return [int(sample.item()) for sample in found]


def test_steps_are_applied_in_order_with_their_bins() -> None:
    doubled = augmentation(lambda data, _: data * np.uint8(2), name="doubled")
    policy = Policy("own", 11, [[(plus, 1.0, 3), (doubled, 1, None), (plus, 1, 1)]])
    assert set(sums(policy)) == {7}


def test_each_sample_gets_one_sub_policy() -> None:
    policy = Policy("own", 11, [[(plus, 1, 1)], [(plus, 1, 2), (plus, 1, 3)], []])
    found = sums(policy)
    assert set(found) == {1, 5, 0}
    assert min(found.count(value) for value in (0, 1, 5)) > 30


def test_probabilities() -> None:
    with pytest.warns(UserWarning, match="'plus': is never applied"):
        policy = Policy("own", 11, [[(plus, 0.25, 1), (plus, 0.75, 2), (plus, 0, 9)]])
    found = np.array(sums(policy, 1000))
    assert set(found.tolist()) == {0, 1, 2, 3}
    assert 190 < (found % 2).sum() < 310
    assert 690 < (found >= 2).sum() < 810


def test_signs_and_arguments() -> None:
    policy = Policy("own", 2, [[(plus_much, 1, 1)]])
    found = sums(policy)
    assert set(found) == {0, 200}
    assert 60 < found.count(0) < 140
    assert set(sums(Policy("own", 2, [[(plus_much, 1, 0)]]), scale=2)) == {200}


def test_seeds() -> None:
    policy = Policy("own", 11, [[(plus, 0.5, 1)], [(plus_much, 0.5, 2), (plus, 0.5, 3)]])
    assert sums(policy, seed=1) == sums(policy, seed=1)
    assert sums(policy, seed=1) != sums(policy, seed=2)


def test_names() -> None:
    same = plus.augmentation(mag_range=(0, 1))
    policy = Policy("own", 5, [[(plus, 0.5, 1), (same, 0.5, 1)], [(a.color, 1, 2), (plus, 1, 2)]])
    names = [[step[0].name for step in steps] for steps in policy.sub_policies]
    assert names == [["0__plus", "1__plus"], ["2__color", "0__plus"]]
    assert list(policy.augmentations) == ["0__plus", "1__plus", "2__color"]
    assert policy.augmentations["1__plus"].mag_range == (0, 1)
    many = Policy("own", 5, [[(plus.augmentation(), 1, 1)] for _ in range(11)])
    assert list(many.augmentations)[::10] == ["00__plus", "10__plus"]
    unique = Policy("own", 5, [[(plus, 0.5, 1), (a.color, 0.5, 1)], [(plus, 1, 2)]])
    assert list(unique.augmentations) == ["color", "plus"]
    assert (unique.name, unique.num_magnitude_bins) == ("own", 5)
    assert "[('plus', 0.5, 1), ('color', 0.5, 1)]" in repr(unique)


def test_unused_bins_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="'equalize'.* 3 is ignored"):
        policy = Policy("own", 5, [[(a.equalize, 0.5, 3)]])
    assert policy.sub_policies == (((a.equalize, 0.5, 3),),)


@pytest.mark.parametrize(
    ("bins", "sub_policies", "kind", "message"),
    [
        (0, [], ArgumentValueError, r"positive integer \(got 0\)"),
        (2.0, [], ArgumentValueError, "positive integer"),
        (5, None, ArgumentTypeError, "'sub_policies' must be a list"),
        (5, [3], ArgumentTypeError, "sub-policy must be a list"),
        (5, [[(plus, 0.5)]], ArgumentFormError, "a step must be"),
        (5, [[(abs, 0.5, 1)]], ArgumentTypeError, "must begin with an augmentation"),
        (5, [[(plus, 1.5, 1)]], ArgumentValueError, r"'plus': the probability.*got 1.5"),
        (5, [[(plus, -0.5, 1)]], ArgumentValueError, "'plus': the probability"),
        (5, [[(plus, "a", 1)]], ArgumentValueError, "'plus': the probability"),
        (5, [[(plus, 0.5, 5)]], ArgumentValueError, r"from 0 to 4 \(got 5\)"),
        (5, [[(plus, 0.5, -1)]], ArgumentValueError, "from 0 to 4"),
        (5, [[(plus, 0.5, 1.5)]], ArgumentValueError, "from 0 to 4"),
        (5, [[(plus, 0.5, None)]], ArgumentValueError, "'plus': the magnitude bin must be given"),
    ],
)
def test_invalid_policies(
    bins: Any, sub_policies: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=f"Policy 'own'.*{message}"):
        Policy("own", bins, sub_policies)


def test_empty_policies() -> None:
    with pytest.raises(ArgumentValueError, match="at least one sub-policy"):
        sums(Policy("own", 5, []))
    assert set(sums(Policy("own", 5, [[]]))) == {0}


def test_unused_arguments() -> None:
    with pytest.raises(ArgumentTypeError, match=r"apply_auto_augment.*'other', which plus do not"):
        sums(Policy("own", 5, [[(plus, 1, 1)]]), other=3)


@pytest.mark.parametrize(
    ("make", "name", "num_augmentations"),
    [
        (get_image_net_policy, "ImageNetPolicy", 11),
        (get_reduced_image_net_policy, "ReducedImageNetPolicy", 10),
        (get_svhn_policy, "SvhnPolicy", 10),
        (get_reduced_cifar10_policy, "ReducedCifar10Policy", 13),
    ],
)
def test_policies_of_the_paper(make: Any, name: str, num_augmentations: int) -> None:
    policy = make()
    assert (policy.name, policy.num_magnitude_bins) == (name, 11)
    assert len(policy.sub_policies) == 25
    assert len(policy.augmentations) == num_augmentations
    found = run(
        lambda x: apply_auto_augment(policy, x, fill_value=0, interp_type=None), [PHOTO] * 8
    )
    assert len({image.tobytes() for image in found}) > 2


@pytest.mark.parametrize("name", ["image_net", "reduced_image_net", "svhn", "reduced_cifar10"])
def test_auto_augment(name: str) -> None:
    has_translations = name != "reduced_image_net"

    def define(image: Any) -> Any:
        shape = image.shape() if has_translations else None
        return auto_augment(image, name, shape, fill_value=None, interp_type=types.INTERP_NN)

    found = run(define, [PHOTO] * 24)
    assert {image.shape for image in found} == {PHOTO.shape}
    assert len({image.tobytes() for image in found}) > 4
    for arguments in ({"shape": (3, 4), "max_translate_abs": 3}, {"max_translate_rel": 0.5}):
        with pytest.raises(ArgumentConflictError, match=r"'(shape|max_translate_\w+)' must not"):
            run(lambda x, arguments=arguments: auto_augment(x, name, **arguments))


def test_policy_for_image_net_by_its_own_name() -> None:
    options = {"shape": (70, 90), "max_translate_rel": (0.1, 0.2), "seed": 4}
    first = run(lambda x: auto_augment_image_net(x, **options), [PHOTO] * 8)
    second = run(lambda x: auto_augment(x, "image_net", **options), [PHOTO] * 8)
    assert [image.tolist() for image in first] == [image.tolist() for image in second]


def test_unknown_policy() -> None:
    with pytest.raises(ArgumentKeyError, match=r"'policy_name' must be one of 'image_net'"):
        run(lambda x: auto_augment(x, "imagenet"))
