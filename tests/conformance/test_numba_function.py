"""Functions compiled by Numba: what they get and give, in both libraries."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from dali_core.testing.examples import list_of
from tests.conformance.pipelines import reference

pytest.importorskip("numba", reason="not available: Numba")
pytest.importorskip("nvidia.dali.plugin.numba", reason="not available: NVIDIA DALI")


def double(out: Any, data: Any) -> None:
    out[:] = 2 * data


def shapes(outs: Any, ins: Any) -> None:
    for number in range(2):
        for sample in range(len(outs[number])):
            for axis in range(3):
                outs[number][sample][axis] = ins[0][sample][(axis + number) % 3]


def two(same: Any, turned: Any, data: Any, factor: Any) -> None:
    same[:] = data + factor[0]
    for i in range(turned.shape[0]):
        for j in range(turned.shape[1]):
            for k in range(turned.shape[2]):
                turned[i, j, k] = data[k, i, j] * 0.5


def whole(outs: Any, ins: Any) -> None:
    for i in range(len(outs)):
        outs[i][:] = ins[len(ins) - 1 - i] + len(ins)


def run(library: Any, build: Callable[[Any, Any, Any, Any], Any]) -> list[Any]:
    name = library.__name__
    function = importlib.import_module(f"{name}.plugin.numba.fn.experimental").numba_function
    cls = importlib.import_module(f"{name}.plugin.numba.experimental").NumbaFunction
    same = {} if library is dali_core else {"exec_dynamic": False}
    pipeline = library.Pipeline(3, 2, None, **same)
    with pipeline:
        data = library.fn.external_source(
            lambda: [np.full((2, 3, 4), number, np.uint8) for number in range(3)], layout="HWC"
        )
        outputs = build(library, function, cls, data)
        pipeline.set_outputs(*list_of(outputs))
    pipeline.build()
    return [
        (batch.layout(), [(a := np.array(batch.at(i))).tolist() for i in range(3)], str(a.dtype))
        for batch in pipeline.run()
    ]


def check(build: Callable[[Any, Any, Any, Any], Any]) -> list[Any]:
    ours, theirs = run(dali_core, build), run(reference, build)
    assert ours == theirs
    return ours


def types(library: Any, *names: str) -> list[Any]:
    return [getattr(library.types, name) for name in names]


def test_each_sample() -> None:
    def build(library: Any, function: Any, cls: Any, data: Any) -> Any:
        kinds = types(library, "UINT8")
        return [
            function(
                data, run_fn=double, out_types=kinds, in_types=kinds, outs_ndim=[3], ins_ndim=[3]
            ),
            cls(double, kinds, kinds, [3], [3])(data),
        ]

    assert check(build)[0][1][2][0][0][0] == 4


def test_shapes_and_several_inputs() -> None:
    def build(library: Any, function: Any, cls: Any, data: Any) -> Any:
        factor = library.fn.external_source(lambda: [np.float32([i]) for i in range(3)])
        return function(
            data,
            factor,
            run_fn=two,
            setup_fn=shapes,
            out_types=types(library, "INT32", "FLOAT"),
            in_types=types(library, "UINT8", "FLOAT"),
            outs_ndim=[3, 3],
            ins_ndim=[3, 1],
        )

    assert len(check(build)) == 2


def test_whole_batches() -> None:
    def build(library: Any, function: Any, cls: Any, data: Any) -> Any:
        kinds = types(library, "UINT8")
        return function(
            data,
            run_fn=whole,
            out_types=kinds,
            in_types=kinds,
            outs_ndim=[3],
            ins_ndim=[3],
            batch_processing=True,
        )

    assert check(build)[0][1][0][0][0][0] == 5


def test_invalid_arguments_raise_in_both() -> None:
    for changes in (
        {"in_types": ["FLOAT"]},
        {"ins_ndim": [2], "outs_ndim": [2]},
        {"in_types": ["UINT8", "UINT8"]},
        {"run_fn": 3},
        {"run_fn": None},
    ):

        def build(library: Any, function: Any, cls: Any, data: Any, own: Any = changes) -> Any:
            call = {"run_fn": double, "outs_ndim": [3], "ins_ndim": [3], **own}
            call["in_types"] = types(library, *own.get("in_types", ["UINT8"]))
            return function(data, out_types=types(library, "UINT8"), **call)

        for library in (dali_core, reference):
            with pytest.raises((RuntimeError, TypeError, AssertionError, AttributeError)):
                run(library, build)
