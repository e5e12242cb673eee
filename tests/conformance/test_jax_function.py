"""Functions of JAX as operators of both libraries."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
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


def layouts_and_sources(library: Any, folder: Path) -> list[Any]:
    jax_function = importlib.import_module(f"{library.__name__}.plugin.jax.fn").jax_function
    names = [str(folder / f"{number}") for number in range(3)]
    same = {} if library is dali_core else {"exec_dynamic": True}
    pipeline = library.Pipeline(3, 1, None, **same)
    with pipeline:
        first, second = (
            library.fn.reshape(library.fn.readers.file(files=files)[0], shape=[2, 2], layout=layout)
            for files, layout in ((names, "HW"), (names[::-1], "AB"))
        )
        fed = library.fn.external_source(lambda: [np.zeros((1, 1), np.int32)] * 3, layout="XY")
        pipeline.set_outputs(
            *jax_function(lambda a: (a, a), num_outputs=2)(first),
            *jax_function(lambda a, b: (b, a), num_outputs=2)(first, second),
            *jax_function(lambda a, b: (a, b, b), num_outputs=3)(fed, second),
            *jax_function(lambda a, b, c: (c, b, a), num_outputs=3)(first, second, fed),
            jax_function(lambda a: a.sum((1, 2)))(first),
            jax_function(lambda a: a[:, None])(first),
            *jax_function(lambda a, b: (a, b), 2, output_layouts=["", "QR"])(first, second),
        )
    pipeline.build()
    # The reference joins the sources of all inputs; here they are those of the first one.
    return [
        (batch.layout(), [batch[i].source_info().split(";")[0] for i in range(3)])
        for batch in pipeline.run()
    ]


def test_layouts_and_sources(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}").write_bytes(bytes([number] * 4))
    ours = layouts_and_sources(dali_core, tmp_path)
    assert ours == layouts_and_sources(reference, tmp_path)


def test_parameters() -> None:
    ours, theirs = (
        importlib.import_module(f"{name}.plugin.jax.fn").jax_function
        for name in ("dali_core", "nvidia.dali")
    )
    assert {name: value.default for name, value in inspect.signature(ours).parameters.items()} == {
        name: value.default for name, value in inspect.signature(theirs).parameters.items()
    }
