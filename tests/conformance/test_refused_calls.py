"""Calls that are refused, since they are mistakes, with an error that the same clause catches."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.auto_aug.auto_augment
import dali_core.auto_aug.core
import dali_core.pipeline
from tests.conformance.comparing import check, check_refused, reference
from tests.conformance.failing_snippets import made

pytest.importorskip("nvidia.dali.auto_aug.auto_augment", reason="not available: NVIDIA DALI")
LIBRARIES = (reference, dali_core)
BOXES = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.5, 0.7, 0.9]], np.float32)


def test_labels_of_three_dimensions() -> None:
    arguments = {"angle": 10.0, "input_shape": [10, 10], "tolerance": 1e-6}
    for shape in ((2,), (2, 1)):
        labels = np.zeros(shape, np.int32)
        check("bbox_rotate", ([BOXES], ""), ([labels], ""), **arguments)
    del arguments["tolerance"]
    for shape in ((2, 1, 1), (2, 1, 3), (3,), ()):
        labels = np.zeros(shape, np.int32)
        check_refused("bbox_rotate", ([BOXES], ""), ([labels], ""), **arguments)


@pytest.mark.parametrize("tail", [b"x", b"\0", b"\0" * 64])
def test_bytes_behind_an_array(tail: bytes) -> None:
    file = io.BytesIO()
    np.save(file, np.arange(6, dtype=np.int16).reshape(2, 3))
    for content in (file.getvalue(), file.getvalue() + tail):
        data = ([np.frombuffer(content, np.uint8)], "")
        if content is file.getvalue() or len(content) == len(file.getvalue()):
            check("decoders.numpy", data)
        else:
            check_refused("decoders.numpy", data)


def test_decibels_of_zero() -> None:
    signal = ([np.array([1, 2, 3], np.float32)], "")
    check_refused("to_decibels", signal, reference=0.0)
    check("to_decibels", signal, reference=2.0, tolerance=1e-4)
    check("to_decibels", signal, tolerance=1e-4)


def batch() -> list[np.ndarray]:
    return [np.zeros(1)] * 2


def batches() -> Any:
    while True:
        yield batch()


@pytest.mark.parametrize("cycle", [True, False, None, "no", "quiet", "raise", "other", 3])
@pytest.mark.parametrize(
    "make", [lambda: None, lambda: batch, lambda: batches, batches, lambda: [batch()]]
)
def test_cycle_of_every_source(cycle: Any, make: Callable[[], Any]) -> None:
    """It is refused where the source is passed, not when the pipeline is built."""
    caught = []
    for library in LIBRARIES:
        named = {} if make() is not None else {"name": "fed"}
        try:
            made(library, lambda lib: lib.fn.external_source(make(), cycle=cycle, **named))  # noqa: B023
            caught.append(None)
        except (ValueError, TypeError) as error:
            caught.append(error)
    theirs, ours = caught
    assert (theirs is None) == (ours is None)
    if theirs is not None:
        assert isinstance(ours, type(theirs))


@pytest.mark.parametrize("enable_conditionals", [False, True])
def test_definitions_are_not_marked(enable_conditionals: bool) -> None:
    for library in LIBRARIES:
        decorate = library.pipeline_def(batch_size=1, enable_conditionals=enable_conditionals)
        mark = library.pipeline.do_not_convert
        with pytest.raises(ValueError, match="do_not_convert"):
            decorate(mark(lambda: None))
        with pytest.raises(ValueError, match="do_not_convert|pipeline"):
            mark(decorate(lambda: None))


# Automatic augmentation


def warned(library: Any, magnitude: Any, **settings: Any) -> tuple[int, list[Any]]:
    """Return the number of warnings, and the types of the magnitudes of a pipeline."""
    magnitudes: list[Any] = []

    def note(magnitude: Any) -> Any:
        magnitudes.append((type(magnitude), float(magnitude)))
        return magnitude

    augmentation = library.auto_aug.core.augmentation(mag_to_param=note, **settings)

    @augmentation
    def same(data: Any, parameter: Any) -> Any:
        return data

    @library.pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def define() -> Any:
        data = library.fn.external_source(lambda: [np.zeros((4, 4, 3), np.uint8)] * 2, layout="HWC")
        return magnitude(library, same, data)

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        define().build()
    return len([one for one in caught if issubclass(one.category, Warning)]), magnitudes


def called(bins: Callable[[Any], Any]) -> Callable[[Any, Any, Any], Any]:
    return lambda library, same, data: same(
        data, magnitude_bin=bins(library), num_magnitude_bins=11
    )


def policy(chance: float, number: int | None) -> Callable[[Any, Any, Any], Any]:
    def apply(library: Any, same: Any, data: Any) -> Any:
        schemes = library.auto_aug.auto_augment
        one = schemes.Policy("one", 11, [[(same, chance, number)]])
        return schemes.apply_auto_augment(one, data)

    return apply


@pytest.mark.parametrize(
    "magnitude",
    [
        called(lambda _: 5),
        called(lambda library: library.fn.random.uniform(range=[0, 9], dtype=library.types.INT32)),
        called(lambda library: library.auto_aug.core.signed_bin(5)),
        policy(0.5, 5),
        policy(0, 5),
        policy(0.0, 5),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize(
    "magnitudes", [(0, 250), (0.0, 0.9), np.arange(11), np.linspace(0, 1, 11, dtype=np.float32)]
)
def test_warnings_and_magnitudes(magnitude: Any, negate: bool, magnitudes: Any) -> None:
    results = [
        warned(library, magnitude, mag_range=magnitudes, randomly_negate=negate)
        for library in LIBRARIES
    ]
    (their_count, theirs), (count, ours) = results
    assert count == their_count
    assert set(ours) <= set(theirs)
    assert {kind for kind, _ in ours} == {kind for kind, _ in theirs}


def test_probability_of_zero() -> None:
    for library in LIBRARIES:
        assert warned(library, policy(0, None))[0] == 1
        assert warned(library, policy(0.1, None))[0] == 0
