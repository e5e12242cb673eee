"""Pipelines accept the same data as NVIDIA DALI, in the same ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from tests.conformance.pipelines import (
    ARRAY,
    SIZE,
    check,
    fed,
    made,
    outcome,
    reference,
    run,
)

pytestmark = pytest.mark.filterwarnings("ignore")


FED: dict[str, Callable[[Any], Any]] = {
    "array": lambda _: ARRAY,
    "list": lambda _: [np.arange(2)] * SIZE,
    "tuple": lambda _: (np.arange(2),) * SIZE,
    "ragged": lambda _: [np.arange(i + 1) for i in range(SIZE)],
    "short": lambda _: [np.arange(2)] * 2,
    "long": lambda _: [np.arange(2)] * 4,
    "numbers of NumPy": lambda _: [np.float32(1)] * SIZE,
    "batch": lambda library: library.tensors.TensorListCPU(ARRAY, "X"),
    "tensor": lambda library: library.tensors.TensorCPU(ARRAY, ""),
    "tensors": lambda library: [library.tensors.TensorCPU(np.arange(2), "X")] * SIZE,
    "types differ": lambda _: [np.arange(2), np.arange(2.0), np.arange(2)],
    "dimensions differ": lambda _: [np.arange(2), np.zeros((2, 2)), np.arange(2)],
}


def feeding(*given: Any, **named: Any) -> Callable[[Any, Any], Any]:
    def feed_and_run(p: Any, _: Any) -> Any:
        p.feed_input(*given, **named)
        return p.run()

    return feed_and_run


@pytest.mark.parametrize("name", FED)
def test_accepted_feed_types(name: str) -> None:
    def feed_and_run(p: Any, library: Any) -> Any:
        p.feed_input("x", FED[name](library))
        return p.run()

    ours, theirs = (
        outcome(lambda: feed_and_run(fed(library), library), library)  # noqa: B023
        for library in (dali_core, reference)
    )
    if "differ" in name:
        # Invalid data is a TypeError here, raised when it is fed.
        assert (ours, theirs) == ("TypeError", "RuntimeError")
    else:
        assert ours == theirs


def test_ways_to_feed() -> None:
    for call in (
        lambda p, library: feeding(p.node, ARRAY)(p, library),
        feeding("x", ARRAY, "X"),
        feeding("x", ARRAY, layout="X"),
        feeding("x", ARRAY, None, None, True),
        feeding("y", ARRAY),
        feeding(3, ARRAY),
        feeding("x", ARRAY, unknown=1),
    ):
        check(call, make=fed)
    check(feeding("x", ARRAY), make=lambda library: fed(library, layout="Q"))
    for arguments in (
        {"source": lambda: ARRAY},
        {"ndim": 3},
    ):
        check(feeding("x", ARRAY), make=lambda library, a=arguments: fed(library, **a))


def test_feeding_a_layout_that_does_not_fit() -> None:
    for library, error in ((dali_core, ValueError), (reference, RuntimeError)):
        with pytest.raises(error):
            fed(library).feed_input("x", ARRAY, layout="XYZ")


def test_feeding_too_little() -> None:
    check(run, make=fed)
    check(
        lambda p, _: p.feed_input("x", ARRAY),
        lambda p, _: p.run(),
        make=lambda library: fed(library, depth=2),
    )


def test_counts_of_batches_to_feed() -> None:
    for depth in (1, 3):
        check(
            lambda p, _: p.input_feed_count("x"),
            lambda p, _: p.input_feed_count("y"),
            make=lambda library, depth=depth: fed(library, depth),
        )


def test_inputs_by_name() -> None:
    check(
        lambda p, _: p.run(x=ARRAY),
        lambda p, _: p.run(None, x=[np.arange(2)] * SIZE),
        lambda p, _: p.run(x=ARRAY),
        make=fed,
    )
    check(lambda p, _: p.run(x=ARRAY), make=lambda library: fed(library, 2))
    check(
        lambda p, _: p.run(x=ARRAY, x1=ARRAY + 1),
        lambda p, _: p.run(x=ARRAY + 2, x1=ARRAY),
        make=lambda library: made(library, None, 2, exec_pipelined=False),
    )
