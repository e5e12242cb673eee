"""Python's operators and brackets on values of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dali_core._graph.registry import spec_of_role
from dali_core._recorder import recorder

if TYPE_CHECKING:
    from dali_core._graph.accepted_types import Input
    from dali_core._graph.node import DataNode
    from dali_core.types import DALIDataType


def _compute(function: str, *operands: Any) -> DataNode:
    node: DataNode = recorder.arithmetic(function, *operands)
    return node


def _of_python(value: Any) -> Any:
    """Read a number of NumPy in front of an operator as the reference does: as one of Python."""
    import numpy

    return value.item() if isinstance(value, numpy.generic) else value


class Expressions:
    """Operators of Python, and methods that call operators of the library."""

    __slots__ = ()

    device: str

    # NumPy's arrays and numbers leave operators with nodes to the nodes.
    __array_ufunc__ = None

    # Nodes are equal to nothing but themselves where they are keys; `==` is an expression.
    __hash__ = object.__hash__

    def __add__(self, other: Input) -> DataNode:
        return _compute("add", self, other)

    def __radd__(self, other: Input) -> DataNode:
        return _compute("add", _of_python(other), self)

    def __sub__(self, other: Input) -> DataNode:
        return _compute("sub", self, other)

    def __rsub__(self, other: Input) -> DataNode:
        return _compute("sub", _of_python(other), self)

    def __mul__(self, other: Input) -> DataNode:
        return _compute("mul", self, other)

    def __rmul__(self, other: Input) -> DataNode:
        return _compute("mul", _of_python(other), self)

    def __truediv__(self, other: Input) -> DataNode:
        return _compute("truediv", self, other)

    def __rtruediv__(self, other: Input) -> DataNode:
        return _compute("truediv", _of_python(other), self)

    def __floordiv__(self, other: Input) -> DataNode:
        return _compute("floordiv", self, other)

    def __rfloordiv__(self, other: Input) -> DataNode:
        return _compute("floordiv", _of_python(other), self)

    def __mod__(self, other: Input) -> DataNode:
        return _compute("mod", self, other)

    def __rmod__(self, other: Input) -> DataNode:
        return _compute("mod", _of_python(other), self)

    def __pow__(self, other: Input) -> DataNode:
        return _compute("pow", self, other)

    def __rpow__(self, other: Input) -> DataNode:
        return _compute("pow", _of_python(other), self)

    def __and__(self, other: Input) -> DataNode:
        return _compute("and", self, other)

    def __rand__(self, other: Input) -> DataNode:
        return _compute("and", _of_python(other), self)

    def __or__(self, other: Input) -> DataNode:
        return _compute("or", self, other)

    def __ror__(self, other: Input) -> DataNode:
        return _compute("or", _of_python(other), self)

    def __xor__(self, other: Input) -> DataNode:
        return _compute("xor", self, other)

    def __rxor__(self, other: Input) -> DataNode:
        return _compute("xor", _of_python(other), self)

    def __lshift__(self, other: Input) -> DataNode:
        return _compute("lshift", self, other)

    def __rlshift__(self, other: Input) -> DataNode:
        return _compute("lshift", _of_python(other), self)

    def __rshift__(self, other: Input) -> DataNode:
        return _compute("rshift", self, other)

    def __rrshift__(self, other: Input) -> DataNode:
        return _compute("rshift", _of_python(other), self)

    def __eq__(self, other: Input) -> DataNode:  # type: ignore[override]
        return _compute("eq", self, other)

    def __ne__(self, other: Input) -> DataNode:  # type: ignore[override]
        return _compute("ne", self, other)

    def __lt__(self, other: Input) -> DataNode:
        return _compute("lt", self, other)

    def __le__(self, other: Input) -> DataNode:
        return _compute("le", self, other)

    def __gt__(self, other: Input) -> DataNode:
        return _compute("gt", self, other)

    def __ge__(self, other: Input) -> DataNode:
        return _compute("ge", self, other)

    def __neg__(self) -> DataNode:
        return _compute("neg", self)

    def __abs__(self) -> DataNode:
        return _compute("abs", self)

    def __invert__(self) -> DataNode:
        return _compute("invert", self)

    def __pos__(self) -> DataNode:
        return self  # type: ignore[return-value]

    def __getitem__(self, entries: Any) -> DataNode:
        """Take elements: by integers, slices, an ellipsis, `dali_core.newaxis` or scalar nodes."""
        node: DataNode = recorder.subscript(self, entries)
        return node

    def cpu(self) -> DataNode:
        """Return the value in host memory: this node itself, or a copy of what is on the GPU."""
        return cast("DataNode", self) if self.device == "cpu" else self._moved("to host")

    def gpu(self) -> DataNode:
        """Return the value on the pipeline's GPU: this node itself, or a copy from the host."""
        return cast("DataNode", self) if self.device == "gpu" else self._moved("to device")

    def _moved(self, role: str) -> DataNode:
        node: DataNode = _call(role, self)
        return node

    def shape(self, *, dtype: DALIDataType | None = None, device: str = "cpu") -> DataNode:
        """Return the shape of each sample as data.

        Parameters
        ----------
        dtype : DALIDataType, optional
            Type of the result; by default ``INT64``.
        device : str
            ``"cpu"``, where the result is.
        """
        node: DataNode = _call("shape", self, dtype=dtype, device=device)
        return node

    def property(self, key: str, *, device: str = "cpu") -> DataNode:
        """Return a property of each sample as a text: a tensor of bytes.

        Parameters
        ----------
        key : str
            ``"source_info"``, the file that the sample came from, or ``"layout"``.
        device : str
            ``"cpu"``, where the result is.
        """
        node: DataNode = _call("property", self, key=key, device=device)
        return node

    def source_info(self, *, device: str = "cpu") -> DataNode:
        """Return the file that each sample came from: ``property("source_info")``."""
        return self.property("source_info", device=device)


def _call(role: str, *inputs: Any, **keywords: Any) -> Any:
    return recorder.add_operator(spec_of_role(role), inputs, keywords)
