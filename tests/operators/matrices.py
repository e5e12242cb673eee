"""Shared parts of tests of affine transforms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from dali_core import fn, types
from tests.operators.suite import Input, function_of, numbers, pipeline

Numbers = npt.NDArray[np.float64]


def matrices(ndim: int, layout: str = "") -> Input:
    """Make affine transforms; with a layout that starts with F, three for each sample."""
    frames = [3] * layout.startswith("F")
    return Input(lambda number: numbers("float32", [*frames, ndim, ndim + 1], number), layout)


def transforms(
    operator: str, *inputs: np.ndarray, layouts: Sequence[str] = (), **arguments: Any
) -> tuple[np.ndarray, str]:
    """Run an operator on one sample; return the result and its layout.

    An array of floats is a per-sample argument; a pair of an array and a layout has that layout.
    """
    with pipeline(batch_size=1) as made:
        with made:

            def node(value: np.ndarray, layout: str = "") -> Any:
                return fn.external_source(source=lambda: [value], layout=layout or None)

            nodes = [node(value, layouts[i] if layouts else "") for i, value in enumerate(inputs)]
            keywords = {
                name: node(*value)
                if isinstance(value, tuple) and isinstance(value[0], np.ndarray)
                else node(value)
                if isinstance(value, np.ndarray)
                else value
                for name, value in arguments.items()
            }
            made.set_outputs(function_of(operator)(*nodes, **keywords))
        (batch,) = made.run()
        if operator.startswith("transforms."):
            assert batch.dtype == types.FLOAT
        return np.array(batch.at(0)), batch.layout()


def square(matrix: npt.ArrayLike) -> Numbers:
    """Add the row (0, ..., 0, 1), so that transforms compose by multiplication."""
    rows = np.asarray(matrix, dtype=np.float64)
    return np.vstack([rows, np.eye(rows.shape[1])[-1]])


def check_close(result: np.ndarray, expected: npt.ArrayLike) -> None:
    """Compare in single precision."""
    exact = np.asarray(expected, dtype=np.float64)
    assert result.shape == exact.shape
    np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(exact).max()))
