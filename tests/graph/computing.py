"""Runs graphs of some arrays, for tests of expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from dali_core import Pipeline, fn

Build = Callable[..., Any]

ALL_TYPES = [
    *("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"),
    *("float16", "float32", "float64"),
]


def compute(
    build: Build, *arrays: np.ndarray, layout: str = "", **options: Any
) -> list[np.ndarray]:
    """Return the results for one sample; `build` takes a node for each array and returns a list."""
    (results,) = compute_batch(build, [arrays], layout=layout, **options)
    return results


def compute_batch(
    build: Build, samples: Sequence[Sequence[np.ndarray]], *, layout: str = "", **options: Any
) -> list[list[np.ndarray]]:
    """Return the results for each sample, given an array for each node."""
    outputs, _ = run(build, samples, layout=layout, **options)
    return [[np.array(batch.at(i)) for batch in outputs] for i in range(len(samples))]


def run(
    build: Build, samples: Sequence[Sequence[np.ndarray]], *, layout: str = "", **options: Any
) -> tuple[Any, list[tuple[int, int]]]:
    """Return a batch of each output, and the numbers of samples in and outside of fused groups."""
    # Without prefetching, since those batches would be counted as well.
    usual = {"num_threads": 1, "device_id": None, "exec_pipelined": False}
    pipeline = Pipeline(**{"batch_size": max(len(samples), 1)} | usual | options)
    try:
        with pipeline:
            nodes = [
                fn.external_source(
                    source=partial(_column, samples, i),
                    layout=layout if samples and samples[0][i].ndim == len(layout) else None,
                )
                for i in range(len(samples[0]) if samples else 1)
            ]
            pipeline.set_outputs(*build(*nodes))
        outputs = pipeline.run()
        assert pipeline._run.runner is not None
        return outputs, pipeline._run.runner.executor.fusion_counts()
    finally:
        pipeline.close()


def numbers(dtype: str, shape: Sequence[int], seed: int) -> np.ndarray:
    """Return numbers over the whole range of a dtype, limits included."""
    generator = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if kind == "f":
        return (generator.standard_normal(shape) * 50).astype(dtype)
    limits = np.iinfo(dtype)
    small = generator.integers(max(limits.min, -9), 9, shape, dtype=dtype)
    wide = generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    return np.asarray(np.where(generator.integers(0, 2, shape), small, wide), dtype)


def _column(samples: Sequence[Sequence[np.ndarray]], number: int) -> list[np.ndarray]:
    return [sample[number] for sample in samples]
