"""Automatic augmentation: the same augmentations, suites, policies and refusals."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.errors
import dali_core.fn
from tests.generated_images import photo_like

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

BINS = 5
PHOTO = photo_like(60, 84)
Library = Any

pytestmark = pytest.mark.filterwarnings("ignore")


def module(library: Library, name: str) -> Any:
    """Return a module of automatic augmentation."""
    return importlib.import_module(f"{library.__name__}.auto_aug.{name}")


def run(
    library: Library,
    define: Callable[[Library, Any], Any],
    samples: list[np.ndarray],
    layout: str = "HWC",
) -> list[np.ndarray]:
    """Run one batch of a pipeline; return all samples of all outputs."""

    def whole() -> Any:
        data = library.fn.external_source(source=lambda: list(samples), layout=layout)
        return define(library, data)

    pipeline = library.pipeline_def(
        whole,
        batch_size=len(samples),
        num_threads=1,
        device_id=None,
        seed=1,
        enable_conditionals=True,
    )()
    pipeline.build()
    return [np.array(batch.at(i)) for batch in pipeline.run() for i in range(len(samples))]


def both(
    define: Callable[[Library, Any], Any], samples: list[np.ndarray], layout: str = "HWC"
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return pairs of our samples and theirs."""
    return list(
        zip(
            *(run(library, define, samples, layout) for library in (dali_core, reference)),
            strict=True,
        )
    )


# Augmentations

RANGES: dict[str, tuple[float, float] | None] = {
    **dict.fromkeys(("auto_contrast", "equalize", "identity", "invert")),
    **dict.fromkeys(("brightness", "contrast", "color", "sharpness"), (0, 0.9)),
    **dict.fromkeys(("shear_x", "shear_y"), (0, 0.3)),
    **dict.fromkeys(("translate_x", "translate_y"), (0.0, 1.0)),
    **dict.fromkeys(("translate_x_no_shape", "translate_y_no_shape"), (0, 250)),
    "rotate": (0, 30),
    "posterize": (0, 4),
    "solarize": (256, 0),
    "solarize_add": (0, 110),
}
SETTINGS = ("name", "mag_range", "randomly_negate", "param_device")


@pytest.mark.parametrize("name", RANGES)
def test_settings(name: str) -> None:
    ours, theirs = (
        getattr(module(library, "augmentations"), name) for library in (dali_core, reference)
    )
    for setting in SETTINGS:
        assert getattr(ours, setting) == getattr(theirs, setting), setting
    assert theirs.mag_range == RANGES[name]
    for magnitude in np.linspace(*(theirs.mag_range or (0, 1)), 9):
        mine, expected = (np.asarray(one.mag_to_param(magnitude)) for one in (ours, theirs))
        assert mine == pytest.approx(expected, abs=1e-6)
        assert (mine.dtype.kind, mine.shape) == (expected.dtype.kind, expected.shape)


def transform(
    library: Library, data: Any, name: str, numbers: list[int], options: dict[str, Any]
) -> tuple[Any, ...]:
    """Transform with several bins; every other sample is negated."""
    one = getattr(module(library, "augmentations"), name)
    if name.endswith("no_shape"):
        one = one.augmentation(mag_range=(0, 30))
    sign = library.fn.external_source(source=lambda: [np.int32(0), np.int32(1)])
    signed = module(library, "core").signed_bin
    named = {
        key: getattr(library.types, value) if key == "interp_type" else value
        for key, value in options.items()
    }
    return tuple(
        one(
            data,
            magnitude_bin=signed(number, random_sign=sign),
            num_magnitude_bins=BINS,
            **named,
        )
        for number in numbers
    )


def compare(name: str, samples: list[np.ndarray], layout: str = "HWC", **options: Any) -> None:
    """Compare, with an allowance for pixels between two, or for rounding."""
    if name in ("translate_x", "translate_y"):
        options.setdefault("shape", samples[0].shape[-3:-1])
    numbers = [0, 1, 2, 4] if RANGES[name] else [0]
    is_nearest = options.get("interp_type") == "INTERP_NN"
    for ours, theirs in both(
        lambda library, data: transform(library, data, name, numbers, options), samples, layout
    ):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        difference = np.abs(ours.astype(int) - theirs)
        if is_nearest:
            assert (difference > 0).mean() < 0.002
        else:
            assert difference.max() <= 1


@pytest.mark.parametrize("name", RANGES)
def test_images(name: str) -> None:
    compare(name, [PHOTO, PHOTO[::-1].copy()])


@pytest.mark.parametrize("name", ["contrast", "equalize", "rotate", "sharpness", "solarize"])
def test_sequences(name: str) -> None:
    clip = np.stack([PHOTO[:20, :30], PHOTO[20:40, 30:60]])
    compare(name, [clip, clip // 2], "FHWC")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rotate", {"fill_value": None, "interp_type": "INTERP_NN"}),
        ("rotate", {"rotate_keep_size": False, "fill_value": 7}),
        ("shear_x", {"fill_value": None}),
        ("shear_y", {"fill_value": 0, "interp_type": "INTERP_NN"}),
        ("translate_x", {"fill_value": None}),
        ("translate_y_no_shape", {"fill_value": 3, "not_taken": 5}),
    ],
)
def test_options(name: str, options: dict[str, Any]) -> None:
    compare(name, [PHOTO, PHOTO[::-1].copy()], **options)


# Suites and policies


def described(augmentations: Any) -> list[tuple[Any, ...]]:
    return [
        (*(getattr(one, name) for name in SETTINGS), one.mag_to_param.__name__)
        if one.mag_to_param.__name__ in _PARAMETERS
        else tuple(getattr(one, name) for name in SETTINGS)
        for one in augmentations
    ]


_PARAMETERS = (
    *("warp_x_param", "warp_y_param", "shift_enhance_range", "sharpness_kernel"),
    *("sharpness_kernel_shifted", "poster_mask_uint8", "solarize_add_shift"),
)


@pytest.mark.parametrize(
    "arguments", [(), (True,), (False, 30), (False, (30, 40)), (True, None, (0.25, 0.5))]
)
def test_suites_and_policies(arguments: tuple[Any, ...]) -> None:
    for place, name in (
        ("rand_augment", "get_rand_augment_suite"),
        ("rand_augment", "get_rand_augment_non_monotonic_suite"),
        ("trivial_augment", "get_trivial_augment_wide_suite"),
    ):
        ours, theirs = (
            described(getattr(module(library, place), name)(*arguments))
            for library in (dali_core, reference)
        )
        assert len(theirs) == 14
        assert ours == theirs, name
    for name, given in (
        ("get_image_net_policy", arguments),
        ("get_reduced_image_net_policy", ()),
        ("get_svhn_policy", arguments),
        ("get_reduced_cifar10_policy", arguments),
    ):
        ours, theirs = (
            getattr(module(library, "auto_augment"), name)(*given)
            for library in (dali_core, reference)
        )
        assert (ours.name, ours.num_magnitude_bins) == (theirs.name, theirs.num_magnitude_bins)
        assert list(ours.augmentations) == list(theirs.augmentations)
        assert described(ours.augmentations.values()) == described(theirs.augmentations.values())
        assert steps(ours) == steps(theirs)
        assert len(theirs.sub_policies) == 25


def steps(policy: Any) -> list[list[tuple[Any, ...]]]:
    return [
        [(one.name, pytest.approx(chance), number) for one, chance, number in sub_policy]
        for sub_policy in policy.sub_policies
    ]


def test_policies_that_repeat_names() -> None:
    def made(library: Library) -> Any:
        known = module(library, "augmentations")
        other, same = (known.rotate.augmentation(mag_range=(0, 3)) for _ in range(2))
        return module(library, "core").Policy(
            "own",
            5,
            [[(known.rotate, 0.5, 1), (other, 1, 1)], [(same, 0.2, 4), (known.color, 0, 3)]],
        )

    ours, theirs = made(dali_core), made(reference)
    assert steps(ours) == steps(theirs)
    assert list(ours.augmentations) == ["0__rotate", "1__rotate", "2__rotate", "3__color"]


# Schemes with nothing to draw


def always_the_same(library: Library, data: Any) -> Any:
    known = module(library, "augmentations")
    rand, trivial, auto = (
        module(library, name) for name in ("rand_augment", "trivial_augment", "auto_augment")
    )
    brighter = known.brightness.augmentation(randomly_negate=False)
    policy = module(library, "core").Policy(
        "own", 3, [[(brighter, 1, 1), (known.invert, 1, None), (known.color, 0, 2)]]
    )
    turned = known.rotate.augmentation(mag_range=(10, 10), randomly_negate=False)
    return (
        rand.apply_rand_augment([brighter], data, 3, 4, 9),
        rand.apply_rand_augment([turned], data, 1, 0, fill_value=None),
        rand.apply_rand_augment([brighter], data, 0, 4),
        trivial.apply_trivial_augment([turned], data, fill_value=9, seed=3),
        auto.apply_auto_augment(policy, data),
        auto.apply_auto_augment(module(library, "core").Policy("own", 3, [[]]), data),
    )


def test_schemes_with_nothing_to_draw() -> None:
    for ours, theirs in both(always_the_same, [PHOTO, PHOTO[::-1].copy()]):
        assert np.abs(ours.astype(int) - theirs).max() <= 1


def selecting(library: Library, data: Any) -> Any:
    numbers = library.fn.external_source(
        source=lambda: [np.int32(number) for number in (0, 1, 2, 5, -3)]
    )
    known = module(library, "augmentations")
    return module(library, "core").select(
        [known.invert, known.identity, known.posterize],
        numbers,
        data,
        magnitude_bin=1,
        num_magnitude_bins=5,
    )


def test_select() -> None:
    for ours, theirs in both(selecting, [PHOTO] * 5):
        assert ours.tolist() == theirs.tolist()


def drawing(library: Library, data: Any) -> Any:
    return (
        module(library, "rand_augment").rand_augment(data, 1, 20, shape=data.shape()),
        module(library, "trivial_augment").trivial_augment_wide(data),
        module(library, "auto_augment").auto_augment(data, "reduced_cifar10"),
    )


def test_drawn_results_have_the_same_types() -> None:
    for ours, theirs in both(drawing, [PHOTO] * 4):
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)


# Refusals

GEOMETRY = ["translate_x", "translate_y", "shear_x", "shear_y", "rotate"]
Refused = Callable[[Library, Any], Any]


def _rand(**arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        return module(library, "rand_augment").rand_augment(data, **{"n": 1, "m": 1, **arguments})

    return call


def _trivial(**arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        return module(library, "trivial_augment").trivial_augment_wide(data, **arguments)

    return call


def _auto(**arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        return module(library, "auto_augment").auto_augment(data, **arguments)

    return call


def _call(name: str, **arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        return getattr(module(library, "augmentations"), name)(data, **arguments)

    return call


def _policy(*arguments: Any) -> Refused:
    """Make a policy; names in the arguments stand for augmentations."""

    def resolved(library: Library, value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return type(value)(resolved(library, item) for item in value)
        return getattr(module(library, "augmentations"), str(value), value)

    def call(library: Library, data: Any) -> Any:
        policy = module(library, "core").Policy("own", *resolved(library, arguments))
        return module(library, "auto_augment").apply_auto_augment(policy, data)

    return call


def _decorate(function: Any) -> Refused:
    return lambda library, data: module(library, "core").augmentation(function)


def _signed(**arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        module(library, "core").signed_bin(**arguments)
        return data

    return call


def _applied(place: str, augmentations: list[str], **arguments: Any) -> Refused:
    def call(library: Library, data: Any) -> Any:
        known = module(library, "augmentations")
        chosen = [getattr(known, name) for name in augmentations]
        return getattr(module(library, place), f"apply_{place}")(chosen, data, **arguments)

    return call


REFUSED: dict[str, Refused] = {
    "n below 0": _rand(n=-1),
    "n a float": _rand(n=1.5),
    "m too large": _rand(m=31),
    "m below 0": _rand(m=-1),
    "m a float": _rand(m=1.5),
    "no bins": _rand(num_magnitude_bins=0),
    "unknown exclusion": _rand(excluded=["nope"]),
    "exclusion as a text": _rand(excluded="rotate"),
    "all excluded": _rand(excluded=[*GEOMETRY, "brightness"] * 2 + ["nope"]),
    "no geometry": _rand(excluded=GEOMETRY),
    "no translations": _rand(excluded=GEOMETRY[:2], shape=(60, 84)),
    "pixels with a shape": _rand(shape=(60, 84), max_translate_abs=3),
    "shares without a shape": _rand(max_translate_rel=0.3),
    "three largest translations": _rand(max_translate_abs=(1, 2, 3)),
    "seed as a text": _rand(seed="a"),
    "trivial: no bins": _trivial(num_magnitude_bins=0),
    "trivial: unknown exclusion": _trivial(excluded=["nope"]),
    "trivial: no geometry": _trivial(excluded=GEOMETRY),
    "unknown policy": _auto(policy_name="nope"),
    "shape without use": _auto(policy_name="reduced_image_net", shape=(60, 84)),
    "pixels without use": _auto(policy_name="reduced_image_net", max_translate_abs=3),
    "shares without use": _auto(policy_name="reduced_image_net", max_translate_rel=0.3),
    "pixels and a shape": _auto(policy_name="svhn", shape=(60, 84), max_translate_abs=3),
    "no list": _applied("rand_augment", [], n=1, m=1),
    "no list of trivial": _applied("trivial_augment", []),
    "misspelt argument": _applied("rand_augment", ["rotate"], n=1, m=1, fillvalue=3),
    "missing argument": _applied("rand_augment", ["translate_x"], n=1, m=1),
    "trivial: misspelt argument": _applied("trivial_augment", ["rotate"], fillvalue=3),
    "no sub-policies": _policy(5, []),
    "sub-policies None": _policy(5, None),
    "policy without bins": _policy(0, []),
    "sub-policy a number": _policy(5, [3]),
    "pair": _policy(5, [[("rotate", 0.5)]]),
    "no augmentation": _policy(5, [[(3, 0.5, 1)]]),
    "probability above 1": _policy(5, [[("rotate", 1.5, 1)]]),
    "probability a text": _policy(5, [[("rotate", "x", 1)]]),
    "bin too large": _policy(5, [[("rotate", 0.5, 5)]]),
    "bin below 0": _policy(5, [[("rotate", 0.5, -1)]]),
    "bin missing": _policy(5, [[("rotate", 0.5, None)]]),
    "missing shape": _call("translate_x", magnitude_bin=0, num_magnitude_bins=2),
    "number of bins missing": _call("rotate", magnitude_bin=0),
    "augmentation: bin too large": _call("rotate", magnitude_bin=2, num_magnitude_bins=2),
    "one parameter": _decorate(lambda data: data),
    "no function": _decorate(3),
    "fractional bin": _signed(magnitude_bin=1.5),
}


def raised(library: Library, call: Refused) -> Exception | None:
    """Return the exception of a call."""
    try:
        run(library, call, [PHOTO])
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", REFUSED)
def test_invalid_arguments_raise_in_both(name: str) -> None:
    assert raised(reference, REFUSED[name]) is not None
    assert isinstance(raised(dali_core, REFUSED[name]), dali_core.errors.DaliCoreError)


def test_unusual_settings_are_accepted_by_both() -> None:
    accepted = (
        _rand(n=0),
        _rand(num_magnitude_bins=1, m=0),
        _rand(max_translate_abs=[-3, 4.5], excluded=GEOMETRY[2:]),
        _rand(shape=[60, 84, 3], max_translate_rel=3.0, excluded=[]),
        _applied("rand_augment", ["rotate"], n=0, m=0, fillvalue=3),
        _applied("rand_augment", [], n=0, m=0),
        _policy(5, [[("rotate", True, 1)]]),
        _policy(5, [[["rotate", 1, 1]]]),
    )
    for call in accepted:
        for ours, theirs in both(call, [PHOTO]):
            assert ours.shape == theirs.shape
