"""Functions of JAX in a pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from dali_core_jax.narrowing import Narrowing


def on_arrays(function: Callable[..., Any], num_outputs: int) -> Callable[..., Any]:
    """Wrap a function of arrays as one of lists of samples."""
    narrowing = Narrowing()

    def call(*batches: list[Any]) -> Any:
        host = jax.devices("cpu")[0]
        arrays = [_stacked(batch, number) for number, batch in enumerate(batches)]
        for number, array in enumerate(arrays):
            narrowing.check(array, f"jax_function: input {number}")
        with jax.default_device(host):
            results = function(*(jax.device_put(array, host) for array in arrays))
        if num_outputs == 0:
            return ()
        returned = results if isinstance(results, (tuple, list)) else (results,)
        lists = tuple([*np.asarray(array)] for array in returned)
        return lists[0] if num_outputs == 1 and len(lists) == 1 else lists

    return call


def _stacked(samples: list[Any], number: int) -> Any:
    shapes = {sample.shape for sample in samples}
    if len(shapes) > 1:
        raise ValueError(
            f"samples of input {number} must have one shape (got {sorted(shapes)}). Resize or pad "
            "them before."
        )
    return np.stack(samples) if samples else np.empty((0,), np.float32)
