"""Functions of JAX as operators."""

from __future__ import annotations

from pathlib import Path
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


def test_invalid_functions_and_batches_raise() -> None:
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


def test_inputs_that_do_not_fit_into_32_bits_are_errors() -> None:
    samples = [np.full((1, 1), 2**40 + number, np.int64) for number in range(3)]
    with pytest.raises(SampleError, match=r"jax_function: input 0: values of type int64 must fit"):
        run(jax_function(lambda batch: batch + 1), samples=samples)
    ((_, found),) = run(
        jax_function(lambda batch: batch + 1), samples=[sample - 2**40 for sample in samples]
    )
    assert [int(sample[0, 0]) for sample in found] == [1, 2, 3]


def test_layouts_and_sources_are_those_of_inputs(tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}") for number in range(3)]
    for name in names:
        Path(name).write_bytes(bytes(4))
    with Pipeline(3, 1, None) as pipeline:
        data = fn.reshape(fn.readers.file(files=names)[0], shape=[2, 2], layout="HW")
        other = fn.external_source(lambda: SAMPLES, layout="XY")
        both = jax_function(lambda a, b: (b, a.sum((1, 2))), num_outputs=2)(data, other)
        named = jax_function(lambda a: a, output_layouts="")(data)
        pipeline.set_outputs(*both, named)
    outputs = pipeline.run()
    assert [output.layout() for output in outputs] == ["HW", "", ""]
    for output in outputs:
        assert [output[i].source_info() for i in range(3)] == names
