"""Runs a graph of any operators in both libraries, and compares the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Graph: TypeAlias = "Callable[[Any], Any]"


def feed(library: Any, samples: Sequence[Any], layout: str = "") -> Any:
    """Return a node with the same samples in every batch."""
    arrays = [np.asarray(sample) for sample in samples]
    return library.fn.external_source(
        source=lambda: list(arrays), **({"layout": layout} if layout else {})
    )


def outputs_of(library: Any, graph: Graph, size: int = 3, batches: int = 1) -> list[Any]:
    """Return type, layout and samples of each output in each batch."""
    pipeline = library.Pipeline(batch_size=size, num_threads=2, device_id=None, seed=1)
    with pipeline:
        outputs = graph(library)
        pipeline.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipeline.build()
    return [
        (batch.dtype.name, batch.layout(), [np.array(batch.at(i)) for i in range(len(batch))])
        for _ in range(batches)
        for batch in pipeline.run()
    ]


def check(
    graph: Graph, size: int = 3, *, batches: int = 1, tolerance: float = 0, relative: float = 0
) -> None:
    """Run `graph(library)` in both libraries and compare its outputs."""
    ours, theirs = (outputs_of(library, graph, size, batches) for library in (dali_core, reference))
    for (*kind, samples), (*expected_kind, expected_samples) in zip(ours, theirs, strict=True):
        assert kind == expected_kind
        for sample, expected in zip(samples, expected_samples, strict=True):
            assert (sample.dtype, sample.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(
                sample.astype(np.float64),
                expected.astype(np.float64),
                rtol=relative,
                atol=tolerance,
            )


def check_distribution(graph: Graph, count: int) -> None:
    """Both return numbers of the same dtype, layout and distribution: `count` for each sample.

    Each sample is compared by itself, so that arguments may differ between samples.
    """
    (ours,), (theirs,) = (outputs_of(library, graph) for library in (dali_core, reference))
    assert ours[:2] == theirs[:2]
    for mine, expected in zip(ours[2], theirs[2], strict=True):
        assert mine.shape == expected.shape
        assert mine.size == count
        values = np.union1d(mine, expected)
        steps = [
            np.searchsorted(np.sort(drawn.ravel()), values, "right") / count
            for drawn in (mine, expected)
        ]
        # Two-sample Kolmogorov-Smirnov test, at a level of 0.001.
        assert np.abs(steps[0] - steps[1]).max() < 1.95 * np.sqrt(2 / count)


def images(*shapes: Sequence[int], dtype: str = "uint8") -> list[np.ndarray]:
    """Make noise: images of the given shapes."""
    random = np.random.default_rng(3)
    return [random.integers(0, 256, shape).astype(dtype) for shape in shapes]
