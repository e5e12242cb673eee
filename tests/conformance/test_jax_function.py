"""Functions of JAX as operators of both libraries."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.pipelines import reference

pytest.importorskip("jax", reason="not available: JAX")
pytest.importorskip("nvidia.dali.plugin.jax.fn", reason="not available: NVIDIA DALI")


def run(library: Any) -> list[Any]:
    jax_function = importlib.import_module(f"{library.__name__}.plugin.jax.fn").jax_function
    seen = []
    turned = jax_function(lambda batch: batch[:, ::-1] * 2, output_layouts="AB")
    both = jax_function(lambda a, b: (a + b, a - b), num_outputs=2, output_layouts=("DE", "BC"))
    look = jax_function(lambda batch: seen.append(batch.shape), num_outputs=0)
    same = {} if library is dali_core else {"exec_dynamic": False}
    pipeline = library.Pipeline(3, 1, None, **same)
    with pipeline:
        data = library.fn.external_source(
            lambda: [np.full((2, 3), number, np.float32) for number in range(3)], layout="HW"
        )
        look(data)
        pipeline.set_outputs(turned(data), *both(data, data))
    pipeline.build()
    return [
        seen[:1],
        *((b.layout(), [np.array(b.at(i)).tolist() for i in range(3)]) for b in pipeline.run()),
    ]


def test_results() -> None:
    ours = run(dali_core)
    assert ours == run(reference)
    assert ours[1][0] == "AB"


def test_parameters() -> None:
    ours, theirs = (
        importlib.import_module(f"{name}.plugin.jax.fn").jax_function
        for name in ("dali_core", "nvidia.dali")
    )
    assert {name: value.default for name, value in inspect.signature(ours).parameters.items()} == {
        name: value.default for name, value in inspect.signature(theirs).parameters.items()
    }
