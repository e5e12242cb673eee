"""Functions of JAX as operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError

pytest.importorskip("jax", reason="not available: JAX")

import jax

from dali_core.plugin.jax.fn import jax_function

SAMPLES = [np.arange(6, dtype=np.float32).reshape(2, 3) + number for number in range(3)]


def run(*functions: Any, samples: list[np.ndarray] = SAMPLES) -> list[Any]:
    pipeline = Pipeline(3, 2, None)
    with pipeline:
        data = fn.external_source(lambda: samples, layout="HW")
        outputs: list[Any] = []
        for function in functions:
            result = function(data)
            outputs += result if isinstance(result, list) else [] if result is None else [result]
        pipeline.set_outputs(*outputs)
    return [
        (batch.layout(), [np.array(batch.at(i)) for i in range(len(batch))])
        for batch in pipeline.run()
    ]


def test_whole_batches_as_arrays() -> None:
    @jax_function
    @jax.jit
    def turned(batch: Any) -> Any:
        """Turn them."""
        return batch[:, ::-1] * 2

    sums = jax_function(jax.vmap(lambda sample: (sample.sum(), sample)), num_outputs=2)
    assert (turned.__name__, turned.__doc__) == ("turned", "Turn them.")
    (_, first), (_, second), (_, third) = run(turned, sums)
    for number, sample in enumerate(SAMPLES):
        np.testing.assert_array_equal(first[number], sample[::-1] * 2, strict=True)
        np.testing.assert_array_equal(second[number], sample.sum(), strict=True)
        np.testing.assert_array_equal(third[number], sample, strict=True)


def test_decorator_with_arguments_and_layouts() -> None:
    @jax_function(num_outputs=2, output_layouts=["AB", "CD"])
    def both(batch: Any) -> Any:
        assert isinstance(batch, jax.Array)
        return batch + 1, batch - 1

    (plus, more), (minus, less) = run(both)
    assert (plus, minus) == ("AB", "CD")
    np.testing.assert_array_equal(more[2], SAMPLES[2] + 1)
    np.testing.assert_array_equal(less[2], SAMPLES[2] - 1)


def test_no_output() -> None:
    seen = []
    run(jax_function(lambda batch: seen.append(batch.shape), num_outputs=0), lambda data: data)
    assert (3, 2, 3) in seen


def test_what_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="function must be callable"):
        jax_function(3)
    for arguments in ({"device": "gpu"}, {"sharding": object()}):
        with pytest.raises(ArgumentValueError, match="data must be on the host"):
            jax_function(lambda batch: batch, **arguments)
    ragged = [np.zeros((1, 2), np.float32), np.zeros((2, 2), np.float32)]
    with pytest.raises(SampleError, match="samples of input 0 must have one shape"):
        run(jax_function(lambda batch: batch), samples=ragged)
    with pytest.raises(SampleError, match="2 results"):
        run(jax_function(lambda batch: batch, num_outputs=2))
