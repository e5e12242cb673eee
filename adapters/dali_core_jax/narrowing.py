"""Values of 64 bits, of which JAX makes 32 bits unless ``jax_enable_x64`` is on."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import numpy
from numpy.typing import NDArray

from dali_core.errors import AdapterError

_CURE = 'Call jax.config.update("jax_enable_x64", True), or cast it in the pipeline.'


class Narrowing:
    """Checks that no values become others, and warns once of digits that are lost."""

    def __init__(self) -> None:
        self._warned: set[str] = set()

    def check(self, array: NDArray[Any], where: str) -> None:
        """Check data before JAX converts them.

        Parameters
        ----------
        array : array
            On the host.
        where : str
            What has them, for messages.

        Raises
        ------
        AdapterError
            If numbers do not fit into the type that JAX makes of theirs.
        """
        target = narrowed_type(array.dtype)
        if target is None or not array.size:
            return
        if array.dtype.kind == "f":
            with numpy.errstate(over="ignore"):
                converted = array.astype(target)
            is_lost = numpy.isinf(converted) & numpy.isfinite(array)
            if not is_lost.any():
                if where not in self._warned and not numpy.array_equal(
                    converted, array, equal_nan=True
                ):
                    self.warn(array.dtype, where)
                return
            value = array[is_lost].flat[0]
        else:
            limits = numpy.iinfo(target)
            least, largest = array.min(), array.max()
            if limits.min <= int(least) and int(largest) <= limits.max:
                return
            value = largest if int(largest) > limits.max else least
        raise AdapterError(
            f"{where}: values of type {array.dtype} must fit into {target}, which JAX makes of it "
            f"(got {value}). {_CURE}"
        )

    def warn(self, dtype: numpy.dtype[Any], where: str) -> None:
        """Warn that JAX narrows a type, once for each place."""
        if where not in self._warned:
            self._warned.add(where)
            warnings.warn(
                f"{where}: JAX makes {narrowed_type(dtype)} of {dtype}, which has fewer digits. "
                f"{_CURE}",
                UserWarning,
                stacklevel=2,
            )


def narrowed_type(dtype: numpy.dtype[Any]) -> numpy.dtype[Any] | None:
    """Return the type that JAX makes of another one; None if it leaves it as it is."""
    if dtype.itemsize < 8 or dtype.kind not in "iuf":
        return None
    target = numpy.dtype(jax.dtypes.canonicalize_dtype(dtype))
    return None if target == dtype else target
