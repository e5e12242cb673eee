"""Makes tensors and batches of arrays, numbers, lists, and tensors of frameworks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from dali_core._call.location import user_location
from dali_core._messages import shown
from dali_core._registry.specs import find_own
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._spec import OpSpec
from dali_core.dynamic._batches import Batch, make_batch, padded
from dali_core.dynamic._conversion import conversions
from dali_core.dynamic._devices import check_host
from dali_core.dynamic._dtypes import DType, numpy_type
from dali_core.dynamic._dtypes import dtype as as_dtype
from dali_core.dynamic._lazy import IntegerRangeError, Lazy, call_operator
from dali_core.dynamic._tensors import Tensor, make_tensor
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
    TensorError,
)

_NUMBERS = (bool, int, float)
_KINDS = "biuf"


def as_tensor(
    data: Any,
    dtype: Any = None,
    device: Any = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Make a tensor that shares the memory of the data where that is possible.

    Parameters
    ----------
    data : number, list, array, tensor of a framework, Tensor or Batch
        The data. Integers become 32 bits wide, other numbers of Python too. Arrays keep their type;
        those that are not dense or in another byte order are copied, and so is read-only memory.
        Lists of arrays, and batches, are stacked.
    dtype : DType, or a type of NumPy or PyTorch, optional
        Type of the elements. Numbers of Python must be in its range; arrays are cast as by the
        operator `cast`, with rounding and saturation.
    device : str or Device, optional
        The host.
    layout : str, optional
        One letter for each dimension.
    pad : bool
        For batches: fill samples with zeros to the largest extents.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, TensorError
        If it is no array of numbers, or `layout` does not fit.
    """
    return _tensor(data, dtype, device, layout, pad, copy=False, what="as_tensor")


def tensor(
    data: Any,
    dtype: Any = None,
    device: Any = None,
    layout: str | None = None,
    pad: bool = False,
) -> Tensor:
    """Make a tensor with memory of its own; see `as_tensor`."""
    return _tensor(data, dtype, device, layout, pad, copy=True, what="tensor")


def as_batch(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Make a batch that shares the memory of the data where that is possible.

    Parameters
    ----------
    data : iterable, array, tensor of a framework, Tensor or Batch
        A list or another iterable of samples, each as `as_tensor` takes it; or an array, whose
        first dimension is the batch. Samples may differ in shape. If types differ, all become the
        type that NumPy promotes them to.
    dtype : DType, or a type of NumPy or PyTorch, optional
        Type of the elements; it must be given for a list without samples.
    device : str or Device, optional
        The host.
    layout : str, optional
        One letter for each dimension of a sample.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, TensorError
        If these are no samples, or their numbers of dimensions or their layouts differ.
    """
    return _batch(data, dtype, device, layout, copy=False, what="as_batch")


def batch(data: Any, dtype: Any = None, device: Any = None, layout: str | None = None) -> Batch:
    """Make a batch with memory of its own; see `as_batch`."""
    return _batch(data, dtype, device, layout, copy=True, what="batch")


def as_input(value: Any, what: str) -> Lazy:
    """Make a tensor of an input of a call: a list is one sample."""
    if value is None:
        raise ArgumentTypeError(
            f"{what} must be a tensor, a batch, a number, a list or an array (got None). Pass data."
        )
    try:
        return as_tensor(value)
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{what}: {error.args[0]}") from error


def _spec(name: str) -> OpSpec:
    found = find_own(name)
    assert found is not None
    return found


def _tensor(
    data: Any,
    dtype: Any,
    device: Any,
    layout: str | None,
    pad: bool,
    *,
    copy: bool,
    what: str,
) -> Tensor:
    if device is not None:
        check_host(device, what)
    wanted = None if dtype is None else as_dtype(dtype)
    if layout is not None:
        _check_layout(layout, what)
    if isinstance(data, Tensor):
        return _of_tensor(data, wanted, layout, copy)
    if isinstance(data, Batch):
        stacked = _stacked(data, pad, what)
        value = _made(TensorCPU(stacked[0], layout or stacked[1]))
        return _cast(value, wanted)
    cast_to = wanted
    source: Any = data
    if type(data).__module__ != "numpy":
        source, is_checked = _as_array(data, wanted, what)
        if is_checked:
            cast_to = None
    try:
        value = _made(_shared(source, layout, copy, what))
    except (ArgumentTypeError, ArgumentValueError) as error:
        raise type(error)(f"{what} at {user_location()}: {error.args[0]}") from error
    return _cast(value, cast_to)


_Value = TypeVar("_Value", Tensor, Batch)


def _of_tensor(data: Tensor, wanted: DType | None, layout: str | None, copy: bool) -> Tensor:
    value = data
    if wanted is not None and data.dtype != wanted:
        value, copy = _cast(data, wanted), False
    if layout is None and not copy and value is not data:
        return value
    own = value._tensor()
    if copy:
        import copy as copying

        own = copying.deepcopy(own)
    made = _made(TensorCPU(own, layout))
    made._ids = data._ids
    return made


def _made(own: TensorCPU) -> Tensor:
    return make_tensor(TensorListCPU.broadcast(own, 1))


def _cast(value: _Value, wanted: DType | None) -> _Value:
    if wanted is None or value.dtype == wanted:
        return value
    found: _Value = call_operator(_spec("cast"), (value,), {"dtype": wanted.type_id})
    return found


def _check_layout(layout: Any, what: str) -> None:
    if not isinstance(layout, str):
        raise ArgumentFormError(
            f"{what} at {user_location()}: layout must be a text (got a {type(layout).__name__}). "
            "Pass one letter for each dimension."
        )


def _shared(source: Any, layout: str | None, copy: bool, what: str) -> TensorCPU:
    """Make a tensor of an array or of an exporter of DLPack."""
    import numpy

    if isinstance(source, (numpy.ndarray, numpy.generic)):
        array = numpy.asarray(source)
        if array.dtype.kind not in _KINDS:
            raise ArgumentTypeError(
                f"elements must be numbers (got {array.dtype}). Convert the array."
            )
        if not array.dtype.isnative:
            array = array.astype(array.dtype.newbyteorder("="))
        elif copy or not array.flags.writeable or not array.flags.c_contiguous:
            array = numpy.array(array, order="C")
        return TensorCPU(array, layout)
    made = TensorCPU(source, layout)
    if copy or made.__array_interface__["data"][1]:
        import copy as copying

        made = copying.deepcopy(made)
    return made


def _as_array(data: Any, wanted: DType | None, what: str) -> tuple[Any, bool]:
    """Return an array or an exporter, and whether it has the wanted type already."""
    import numpy

    where = f"{what} at {user_location()}"
    if data is None:
        raise ArgumentFormError(f"{where}: there must be data (got None). Pass an array.")
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(
            f"{where}: must be made of numbers (got a {type(data).__name__}). Use "
            "numpy.frombuffer(..., numpy.uint8)."
        )
    if isinstance(data, (bytearray, memoryview)):
        return numpy.frombuffer(data, numpy.uint8), False
    if isinstance(data, complex):
        raise ArgumentTypeError(
            f"{where}: must be made of real numbers (got {data!r}). Pass the parts by themselves."
        )
    if isinstance(data, _NUMBERS):
        return _of_numbers(data, numpy.asarray(data), wanted, where), True
    if isinstance(data, (list, tuple, range)):
        return _of_list(data, wanted, where)
    if hasattr(data, "__dlpack__"):
        if getattr(data, "requires_grad", False):
            raise ArgumentTypeError(
                f"{where}: the tensor must not require a gradient. Pass data.detach()."
            )
        is_dense = getattr(data, "is_contiguous", None)
        if callable(is_dense) and not is_dense():
            data = data.contiguous()
        return data, False
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        return numpy.asarray(data), False
    raise ArgumentTypeError(
        f"{where}: must be made of numbers, lists, arrays or tensors (got {shown(data)}, a "
        f"{type(data).__name__}). Convert it."
    )


def _of_list(data: Sequence[Any], wanted: DType | None, where: str) -> tuple[Any, bool]:
    """Make an array of a list of numbers, lists or arrays."""
    import numpy

    if len(data) and any(_is_array(entry) for entry in data):
        arrays = [_plain_array(entry, where) for entry in data]
        if len({array.shape for array in arrays}) > 1:
            raise TensorError(
                f"{where}: arrays in a list must have one shape, to be stacked (got "
                f"{sorted({array.shape for array in arrays})}). Use as_batch for samples."
            )
        return numpy.stack(arrays), False
    try:
        array = numpy.array(data)
    except (ValueError, OverflowError) as error:
        raise TensorError(
            f"{where}: nested lists must have one length in each dimension. Use as_batch for "
            "samples of different shapes."
        ) from error
    if array.dtype == object and any(
        isinstance(entry, int) and abs(entry) >= 2**63 for entry in array.ravel()
    ):
        raise _range_error(array.ravel(), where)
    return _of_numbers(data, array, wanted, where), True


def _is_array(value: Any) -> bool:
    return (
        isinstance(value, Lazy)
        or type(value).__module__ == "numpy"
        or hasattr(value, "__dlpack__")
        or (isinstance(value, (list, tuple)) and any(_is_array(entry) for entry in value))
    )


def _plain_array(value: Any, where: str) -> Any:
    import numpy

    if isinstance(value, Batch):
        raise ArgumentTypeError(
            f"{where}: a list must not hold batches. Stack them with the operator `stack`."
        )
    if isinstance(value, Tensor) or type(value).__module__ == "numpy":
        return numpy.asarray(value)
    return numpy.asarray(as_tensor(value))


def _of_numbers(data: Any, array: Any, wanted: DType | None, where: str) -> Any:
    """Give numbers of Python their type: that which is wanted, or one of 32 bits."""
    import numpy

    kind = array.dtype.kind
    if kind not in _KINDS:
        raise ArgumentTypeError(
            f"{where}: must be made of real numbers (got {shown(data)}). Convert them."
        )
    if array.size == 0:
        return array.astype(numpy.float32 if wanted is None else numpy_type(wanted))
    if kind == "b":
        return array if wanted is None else array.astype(numpy_type(wanted))
    if wanted is None and kind == "f":
        return array.astype(numpy.float32)
    least, most = array.min(), array.max()
    if wanted is None:
        if least >= -(2**31) and most < 2**31:
            return array.astype(numpy.int32)
        if least >= 0 and most < 2**32:
            return array.astype(numpy.uint32)
        raise _range_error(array.ravel(), where)
    target = numpy.dtype(numpy_type(wanted))
    if target.kind in "iu":
        limits = numpy.iinfo(target)
        if least < limits.min or most > limits.max:
            raise _range_error(array.ravel(), where, str(target))
    return array.astype(target)


def _range_error(values: Iterable[Any], where: str, target: str = "") -> IntegerRangeError:
    worst = max(values, key=lambda value: abs(int(value)))
    rule = f"{target} allows" if target else "32 bits allow"
    return IntegerRangeError(
        f"{where}: integers must be what {rule} (got {worst}). Pass a wider dtype or an array."
    )


def _stacked(data: Batch, pad: bool, what: str) -> tuple[Any, str | None]:
    own = data._list()
    layout = f"N{data.layout}" if data.layout and "N" not in data.layout else None
    if own.is_dense_tensor():
        return own.as_tensor(), layout
    if not pad:
        raise data.shape_error(what)
    return padded(data), layout


def _batch(
    data: Any, dtype: Any, device: Any, layout: str | None, *, copy: bool, what: str
) -> Batch:
    where = f"{what} at {user_location()}"
    if device is not None:
        check_host(device, what)
    wanted = None if dtype is None else as_dtype(dtype)
    if layout is not None:
        _check_layout(layout, what)
    if isinstance(data, Batch):
        if layout is None and not copy:
            return _cast(data, wanted)
        own, ids = data._list(), data._ids
    elif data is None:
        raise ArgumentFormError(f"{where}: there must be samples (got None). Pass a list.")
    elif isinstance(data, (str, bytes, *_NUMBERS)):
        raise ArgumentTypeError(
            f"{where}: must be made of samples (got a {type(data).__name__}). Pass a list or an "
            "array."
        )
    elif isinstance(data, Tensor) or hasattr(data, "__dlpack__") or _is_numpy(data):
        own, ids = _rows(data, layout, where), None
    else:
        own, ids = _samples(data, wanted, copy, what, where), None
    if copy and isinstance(data, (Batch, Tensor)):
        import copy as copying

        own = copying.deepcopy(own)
    if layout is not None or isinstance(data, Batch):
        own = TensorListCPU(own, layout)
    return _cast(make_batch(own, ids), wanted)


def _is_numpy(value: Any) -> bool:
    return type(value).__module__ == "numpy"


def _rows(data: Any, layout: str | None, where: str) -> TensorListCPU:
    """Split an array along its first dimension."""
    whole = as_tensor(data)
    if whole.ndim == 0:
        raise TensorError(
            f"{where}: an array must have a first dimension, which is the batch (got a scalar). "
            "Pass a list."
        )
    own = whole._tensor()
    letters = whole.layout
    rows = TensorListCPU(TensorCPU(own, None) if letters is None else _bare(own))
    rest = letters[1:] if letters else None
    return TensorListCPU(rows, rest) if rest and layout is None else rows


def _bare(own: TensorCPU) -> TensorCPU:
    import numpy

    return TensorCPU(numpy.asarray(own))


def _samples(data: Any, wanted: DType | None, copy: bool, what: str, where: str) -> TensorListCPU:
    """Make a list of samples of one type."""
    import numpy

    try:
        entries = list(data)
    except TypeError as error:
        raise ArgumentTypeError(
            f"{where}: must be made of samples (got a {type(data).__name__}). Pass a list or an "
            "array."
        ) from error
    if not entries:
        if wanted is None:
            raise ArgumentFormError(
                f"{where}: dtype must be given for a batch without samples. Pass it."
            )
        return TensorListCPU(numpy.empty((0, 1), numpy_type(wanted)))
    if any(isinstance(entry, Batch) for entry in entries):
        raise ArgumentTypeError(
            f"{where}: samples must be tensors (got a Batch among them). Join batches with "
            "their `tensors`."
        )
    made = [
        _tensor(
            entry, wanted if not _is_array(entry) else None, None, None, False, copy=copy, what=what
        )
        for entry in entries
    ]
    dimensions = {value.ndim for value in made}
    if len(dimensions) > 1:
        raise TensorError(
            f"{where}: samples must have the same number of dimensions (got {sorted(dimensions)}). "
            "Reshape them."
        )
    layouts = {value.layout for value in made}
    if len(layouts) > 1:
        raise TensorError(
            f"{where}: samples must have the same layout (got {sorted(map(str, layouts))}). Pass "
            "layout."
        )
    types = {value.dtype for value in made}
    if wanted is not None:
        made = [_cast(value, wanted) for value in made]
    elif len(types) > 1:
        made = [_cast(value, _common(types)) for value in made]
    return TensorListCPU([value._tensor() for value in made], contiguous=copy)


def _common(types: Iterable[DType]) -> DType:
    """Return a type for all numbers: of floating point types the widest, if there is one."""
    import numpy

    kinds = [numpy.dtype(numpy_type(entry)) for entry in types]
    floats = [kind for kind in kinds if kind.kind == "f"]
    found = numpy.result_type(*(floats or kinds))
    return as_dtype(found.type if floats or found.kind != "f" else numpy.int64)


conversions.as_tensor, conversions.as_batch, conversions.as_input = as_tensor, as_batch, as_input
