"""Functions are compiled as often as the plan of the batches says."""

from __future__ import annotations

import re
from typing import Any

import jax
import numpy as np
import pytest

from dali_core import fn, pipeline_def
from dali_core.batching import Bucket, Pack
from dali_core.jax import Loader

LENGTHS = np.random.default_rng(0).integers(1, 64, 300)


class Documents:
    """Documents of the given lengths."""

    lengths = LENGTHS

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: int) -> np.ndarray:
        return np.full(LENGTHS[index], index, np.int32)


@pipeline_def(num_threads=2, device_id=None)
def padded() -> Any:
    tokens = fn.readers.python(Documents(), random_shuffle=True, seed=3)
    return fn.pad_batch(tokens, fn.batch_extents(tokens))[0]


@pipeline_def(num_threads=2, device_id=None)
def packed() -> Any:
    tokens = fn.readers.python(Documents(), random_shuffle=True, seed=3)
    return fn.pack(tokens, capacity=64)[0]


@pytest.mark.parametrize(
    ("define", "options"),
    [
        (padded, {"batching": Bucket([16, 32, 64], batch_sizes=[16, 8, 4])}),
        (packed, {"batching": Pack(64), "batch_size": 4}),
    ],
)
def test_a_function_is_compiled_once_for_each_shape(define: Any, options: dict[str, Any]) -> None:
    shapes = []

    @jax.jit
    def total(tokens: jax.Array) -> jax.Array:
        shapes.append(tokens.shape)  # when it is compiled
        return tokens.sum()

    with Loader(define(**options), last_batch="drop") as loader:
        for (tokens,) in loader:
            total(tokens)
        said = re.search(r" (\d+) shapes to compile for", str(loader.describe(1)))
    assert said is not None
    assert len(shapes) == int(said[1])
    assert len(shapes) <= 6
