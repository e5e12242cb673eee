"""Runs one operator in both libraries, and compares the results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Samples: TypeAlias = "Sequence[np.ndarray]"

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["float16", "float32", "float64"]


class Output(NamedTuple):
    """One output of an operator."""

    samples: list[np.ndarray]
    layout: str
    dtype: str


def always(samples: Samples) -> Callable[[], list[np.ndarray]]:
    """Return a source that always returns the same batch."""
    return lambda: list(samples)


def run(
    library: Any,
    operator: str,
    inputs: Sequence[tuple[Samples, str]],
    per_sample: Mapping[str, Samples],
    constants: Mapping[str, Any],
) -> list[Output]:
    """Run an operator on one batch.

    Parameters
    ----------
    library : module
        Which library.
    operator : str
        Path of the function below `fn`.
    inputs : sequence
        Samples and layout of each input.
    per_sample : mapping
        Arguments per sample.
    constants : mapping
        Other arguments; values of types and filters are given by their names.
    """
    constants = {
        name: getattr(library.types, value, value) if isinstance(value, str) else value
        for name, value in constants.items()
    }
    source = library.fn.external_source
    size = len(inputs[0][0])
    pipeline = library.Pipeline(batch_size=size, num_threads=1, device_id=None, seed=1)
    function = library.fn
    for part in operator.split("."):
        function = getattr(function, part)
    with pipeline:
        nodes = [
            source(source=always(samples), **({"layout": layout} if layout else {}))
            for samples, layout in inputs
        ]
        arguments = {name: source(source=always(values)) for name, values in per_sample.items()}
        outputs = function(*nodes, **arguments, **constants)
        pipeline.set_outputs(*(outputs if isinstance(outputs, (list, tuple)) else [outputs]))
    pipeline.build()
    return [
        Output([np.array(batch.at(i)) for i in range(size)], batch.layout(), batch.dtype.name)
        for batch in pipeline.run()
    ]


def check(
    operator: str,
    *inputs: tuple[Samples, str],
    per_sample: Mapping[str, Samples] | None = None,
    tolerance: float = 0,
    relative: float = 0,
    **constants: Any,
) -> None:
    """Both libraries return the same, within `tolerance` and a relative tolerance."""
    outputs = [
        run(library, operator, inputs, per_sample or {}, constants)
        for library in (reference, dali_core)
    ]
    for theirs, ours in zip(*outputs, strict=True):
        assert (ours.layout, ours.dtype) == (theirs.layout, theirs.dtype)
        for mine, expected in zip(ours.samples, theirs.samples, strict=True):
            assert (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
            if tolerance or relative:
                np.testing.assert_allclose(
                    mine.astype(np.float64),
                    expected.astype(np.float64),
                    atol=tolerance,
                    rtol=relative,
                )
            else:
                np.testing.assert_array_equal(mine, expected)


def check_refused(
    operator: str,
    *inputs: tuple[Samples, str],
    per_sample: Mapping[str, Samples] | None = None,
    **constants: Any,
) -> None:
    """Both libraries reject the call, when it is built or run."""
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, operator, inputs, per_sample or {}, constants)


def numbers(dtype: str, shape: Sequence[int], seed: int = 0) -> np.ndarray:
    """Return numbers over most of the range of a dtype."""
    random = np.random.default_rng([seed, *shape])
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if np.dtype(dtype).kind == "f":
        return (random.standard_normal(shape) * 200).astype(dtype)
    limits = np.iinfo(dtype)
    return random.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


def described(meta: dict[str, Any]) -> dict[str, Any]:
    """Return what is said about a reader without names of classes, which NVIDIA DALI lacks."""
    return {name: value for name, value in meta.items() if name != "class_names"}
