"""The interface of values that calls read and give, and what calls accept instead of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from dali_core._constants import ScalarConstant
from dali_core._spec import OpSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Caller(Protocol):
    """Performs calls of operators: it records them, say."""

    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call an operator, and return its output, a list of several, or None."""
        ...


class Value:
    """One tensor for each sample: the input or output of a call.

    Attributes
    ----------
    name : str
        Name of the value, for messages.
    device : str
        Where it is: ``"cpu"`` or ``"gpu"``.
    owner : Caller
        Performs the calls of expressions of the value.
    """

    __slots__ = ()

    name: str
    device: str
    owner: Caller


class Array(Protocol):
    """An array of NumPy, PyTorch or JAX: what converts to one of NumPy."""

    def __array__(self, *arguments: Any, **keywords: Any) -> NDArray[Any]:
        """Convert to an array of NumPy."""
        ...


Input: TypeAlias = "Value | ScalarConstant | float | Sequence[Any] | Array"
"""A value, or anything that is made a value: the same tensor for every sample."""
