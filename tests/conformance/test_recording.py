"""The conformance report finds differences, and attributes them to calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.recording import Comparison, Watch, our_origins, pairs
from tests.conformance.recording_differences import Batch, Described, describe
from tests.conformance.recording_report import Report, reference_on_device, reference_operators

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Watches = tuple[Watch, Watch]


@pytest.fixture
def watches() -> Iterator[Watches]:
    """Record both libraries during a test."""
    both = (
        Watch(reference.fn, reference.Pipeline),
        Watch(dali_core.fn, dali_core.Pipeline, our_origins),
    )
    with pytest.MonkeyPatch.context() as patch:
        for watch in both:
            watch.start(patch)
        yield both


def run(library: Any, image: np.ndarray, **arguments: Any) -> None:
    pipeline = library.Pipeline(2, 1, None)
    with pipeline:
        data = library.fn.external_source(source=lambda: [image, image], layout="HWC")
        pipeline.set_outputs(library.fn.flip(library.fn.crop(data, crop=[2, 3]), **arguments))
    pipeline.build()
    pipeline.run()


def compared(watches: Watches) -> list[Comparison]:
    return list(pairs(*watches))


def test_calls_and_differences(watches: Watches) -> None:
    image = np.zeros((4, 5, 3), np.uint8)
    run(reference, image, vertical=1)
    run(dali_core, image + 3, vertical=1)
    (comparison,) = compared(watches)
    assert comparison.origin.last is not None
    assert comparison.origin.last.operator == "flip"
    assert [call.operator for call in comparison.origin.before] == ["crop", "external_source"]
    assert (comparison.found.largest, comparison.found.share) == (3, 1)

    report = Report()
    report.add([comparison])
    found = report.as_dict(reference)["operators"]
    expected = {"comparisons": 1, "random": 0, "unlike": 0, "integer": 3, "integer_places": 1}
    assert found["flip"]["arguments"] == {"vertical": {"constant": {"last": expected}}}
    assert found["crop"]["arguments"] == {"crop": {"constant": {"behind": expected}}}
    assert found["crop"]["last"] == {"comparisons": 0, "random": 0, "unlike": 0}


def test_only_the_same_calls_are_compared(watches: Watches) -> None:
    image = np.zeros((4, 5, 3), np.uint8)
    run(reference, image, vertical=1)
    run(dali_core, image, vertical=0)
    assert compared(watches) == []
    run(dali_core, image, vertical=1)
    assert len(compared(watches)) == 1
    for watch in watches:
        watch.clear()
    assert compared(watches) == []


def test_random_results_are_known(watches: Watches) -> None:
    for library in (reference, dali_core):
        pipeline = library.Pipeline(2, 1, None, seed=1)
        with pipeline:
            pipeline.set_outputs(library.fn.random.uniform(shape=[3]))
        pipeline.build()
        pipeline.run()
    (comparison,) = compared(watches)
    assert comparison.origin.is_random
    assert comparison.found.same_kind


def batch(*samples: Any, dtype: str = "FLOAT", layout: str = "") -> Batch:
    return Batch(tuple(np.asarray(sample) for sample in samples), dtype, layout)


def test_differences() -> None:
    ours = batch(np.float32([1, 2, np.nan, np.inf]))
    assert describe(ours, ours).largest == 0
    other = batch(np.float32([1, 2.5, np.nan, np.inf]))
    assert describe(ours, other) == Described(True, True, "floating", 0.5, 0.2, 0.25)
    assert describe(ours, batch(np.float32([1, 2, 0, np.inf]))).largest == np.inf
    assert not describe(ours, batch(np.float32([1, 2]))).is_alike
    assert not describe(ours, batch(np.float32([1, 2, 3, 4]), layout="A")).same_kind
    large = [batch(np.uint64([value]), dtype="UINT64") for value in (2**64 - 1, 2**64 - 4)]
    assert describe(*large).largest == 3


def test_operators_of_the_reference() -> None:
    operators = reference_operators(reference)
    assert operators["crop"]["arguments"]["crop"]["per_sample"]
    assert not operators["crop"]["arguments"]["rounding"]["per_sample"]
    assert operators["coin_flip"]["deprecated"] == "random__CoinFlip"


def test_operators_of_the_reference_on_a_device() -> None:
    names = reference_on_device(reference)
    assert {"resize", "warp_affine", "decoders.image", "optical_flow"} <= set(names)
    assert not {"coin_flip", "transforms.rotation"} & set(names)
