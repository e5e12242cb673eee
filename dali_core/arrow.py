"""Samples of Arrow tables, without a Python object for each value.

`ArrowSource` is a data set for `fn.readers.python`. pyarrow is needed; the extra is `arrow`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

__all__ = ["ArrowSource"]


class ArrowSource:
    """The rows of an Arrow table: a sample has an array for each column.

    Numbers and booleans are scalars. Binary values and strings are 1-D arrays of uint8. Lists of
    numbers are 1-D, and have a dimension more for each fixed-size list inside. Images as
    Hugging Face stores them, a struct of ``bytes`` and ``path``, are their bytes. What is null, or
    has a null inside, raises a `ValueError`, which makes a bad sample.

    Arrays are views of the table's memory, except booleans.

    Parameters
    ----------
    table : pyarrow.Table or datasets.Dataset
        The table. Of a Hugging Face dataset, the rows that it has: those of one that was shuffled
        or filtered are copied into a new table.
    columns : sequence of str
        Which columns, at least one; ``"a.b"`` is the field ``b`` of structs in the column ``a``.
    lengths : str or sequence of str, optional
        Names of the columns that give the length of each sample, for batches by tokens: integers,
        or lists, binary values and strings, whose numbers of entries and bytes count. Several
        columns give several kinds of lengths. They need not be among `columns`.

    Attributes
    ----------
    lengths : NumPy array or None
        The length of each row, shape (rows,) or, of several columns, (rows, columns).

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such column, its type cannot be an array or a length, or lengths are null or
        negative.
    MissingModuleError
        If pyarrow is not installed.
    """

    def __init__(
        self, table: Any, columns: Sequence[str], lengths: str | Sequence[str] | None = None
    ) -> None:
        pa = import_pyarrow()
        if not isinstance(table, pa.Table):
            table = _table_of_dataset(table, pa)
        if isinstance(columns, str) or not columns:
            raise ArgumentTypeError(
                f"columns must be a list of names, at least one (got {columns!r}). Pass a list."
            )
        self._columns = [
            _Column(table, find_field(table.schema, name, "the table")) for name in columns
        ]
        self._num_rows: int = table.num_rows
        names = [lengths] if isinstance(lengths, str) else lengths or []
        fields = [find_length_field(table.schema, name, "the table") for name in names]
        self.lengths = read_lengths(table, fields, "the table") if fields else None

    def __len__(self) -> int:
        return self._num_rows

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[NDArray[Any], ...]]:
        """Return the samples of some rows, a tuple with an array of each column."""
        return list(zip(*(column.rows(indices) for column in self._columns), strict=True))


def _table_of_dataset(dataset: Any, pa: Any) -> Any:
    """Return the table of a Hugging Face dataset, which need not be imported for that."""
    if hasattr(dataset, "with_format") and hasattr(dataset, "features"):
        table = dataset.with_format("arrow")[:]
        if isinstance(table, pa.Table):
            return table
    raise ArgumentTypeError(
        f"table must be a pyarrow.Table or a datasets.Dataset (got {dataset!r:.100}). Convert it "
        "first; of a dictionary of datasets, pass one."
    )


def import_pyarrow() -> Any:
    """Import pyarrow.

    Raises
    ------
    MissingModuleError
        If it is not installed.
    """
    try:
        import pyarrow
    except ImportError as error:
        raise MissingModuleError(
            f"reading Arrow and Parquet needs pyarrow (got none: {error}). Install it: "
            f"{install_command('arrow')}."
        ) from error
    return pyarrow


class Field:
    """A column, or a field of the structs in one.

    Attributes
    ----------
    name : str
        As the user wrote it.
    path : tuple of str
        Name of the column, and of the fields in it.
    type : pyarrow.DataType
        Of its values.
    """

    def __init__(self, name: str, path: tuple[str, ...], type: Any) -> None:  # noqa: A002
        self.name = name
        self.path = path
        self.type = type


def find_field(schema: Any, name: str, where: str, argument: str = "columns") -> Field:
    """Find a column by its name; of an image of Hugging Face, the bytes.

    Parameters
    ----------
    schema : pyarrow.Schema
        All columns.
    name : str
        Name of one, or ``"a.b"`` for a field.
    where : str
        What has the columns, for messages.
    argument : str
        Which argument names it, for messages.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such column, or its type cannot be an array.
    """
    try:
        # Lists of names may have some that are no text.
        path = (name,) if schema.get_field_index(name) >= 0 else tuple(name.split("."))
        found = schema.field(path[0]).type
        for inner in path[1:]:
            found = found.field(inner).type
    except (AttributeError, KeyError, TypeError, UnicodeError):
        raise ArgumentValueError(
            f"{argument} must be those of {where} (got {name!r}; there are "
            f"{', '.join(_shown_names(schema)) or 'none'}). Change the name."
        ) from None
    if _is_image(found):
        path, found = (*path, "bytes"), found.field("bytes").type
    if _dtype_and_shape(found) is None:
        raise ArgumentTypeError(
            f"{argument} must have types of which arrays can be made (got {name!r} of type "
            f"{_shown_type(found)} in "
            f"{where}): numbers, booleans, binary, strings, lists of numbers, and fixed-size lists "
            "in these. Leave the column out, or convert it first."
        )
    return Field(name, path, found)


def find_length_field(schema: Any, name: str, where: str) -> Field:
    """Find a column that gives lengths, see `find_field`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such column, or it has neither integers nor anything of variable size.
    """
    import pyarrow.types as kinds

    field = find_field(schema, name, where, "lengths")
    kind = field.type.value_type if kinds.is_dictionary(field.type) else field.type
    if not (kinds.is_integer(kind) or _is_bytes(kind) or _is_list(kind)):
        raise ArgumentTypeError(
            "lengths must be columns of integers, lists, binary values or strings (got "
            f"{name!r} of type {_shown_type(kind)} in {where}). Name another column."
        )
    return field


def read_lengths(table: Any, fields: Sequence[Field], where: str) -> NDArray[np.int64]:
    """Return the lengths of rows, from columns that `find_length_field` has found.

    Parameters
    ----------
    table : pyarrow.Table
        The columns, perhaps among others.
    fields : sequence of Field
        Those that give lengths, at least one.
    where : str
        What has the rows, for messages.

    Returns
    -------
    NumPy array
        Shape (rows,), or (rows, fields) if there are several.

    Raises
    ------
    ArgumentValueError
        If a length is null, negative or more than 64 bits have.
    """
    kinds = [
        np.concatenate(
            [np.empty(0, np.int64)]
            + [
                _chunk_lengths(chunk, field, where, start)
                for chunk, start in _with_starts(table.column(field.path[0]).chunks)
            ]
        )
        for field in fields
    ]
    return kinds[0] if len(kinds) == 1 else np.stack(kinds, axis=1)


def _with_starts(chunks: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    start = 0
    for chunk in chunks:
        yield chunk, start
        start += len(chunk)


def _chunk_lengths(values: Any, field: Field, where: str, start: int) -> NDArray[np.int64]:
    """Return the lengths in an Arrow array, which begins at a row of the table."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in field.path[1:]:
        values = pc.struct_field(values, [name])
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_binary_view(values.type) or pa.types.is_string_view(values.type):
        values = values.cast(pa.large_binary())
    if _is_bytes(values.type):
        values = pc.binary_length(values)
    elif _is_list(values.type):
        values = pc.list_value_length(values)
    is_bad = values.is_null().to_numpy(zero_copy_only=False)
    if not is_bad.any():
        numbers = values.to_numpy(zero_copy_only=False)
        is_bad = (numbers < 0) | (numbers > _LARGEST_LENGTH)
        if not is_bad.any():
            return np.asarray(numbers, np.int64)
    row = int(np.argmax(is_bad))
    raise ArgumentValueError(
        f"lengths must be integers from 0 on of 64 bits (got {values[row]} in row {start + row} "
        f"of the column {field.name!r} of {where}). Remove the row, or fill it."
    )


_LARGEST_LENGTH = 2**63 - 1


def _is_list(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_list(kind) or kinds.is_large_list(kind))


def _is_image(kind: Any) -> bool:
    import pyarrow.types as kinds

    names = ("bytes", "path")
    is_pair = kinds.is_struct(kind) and kind.num_fields == len(names)
    return is_pair and all(kind.get_field_index(name) >= 0 for name in names)


def _shown_names(schema: Any) -> list[str]:
    """Return the names of columns for messages; files may hold some that are not UTF-8."""
    found = []
    for number in range(len(schema)):
        try:
            found.append(repr(schema.field(number).name))
        except UnicodeError:
            found.append("one that is not UTF-8")
    return found


def _shown_type(kind: Any) -> str:
    try:
        return str(kind)
    except UnicodeError:  # names of fields
        return "struct"


def _inner(kind: Any) -> tuple[Any, tuple[int, ...]]:
    """Return the type in nested fixed-size lists, and their sizes."""
    import pyarrow as pa

    shape: tuple[int, ...] = ()
    while True:
        if pa.types.is_fixed_size_list(kind):
            shape, kind = (*shape, kind.list_size), kind.value_type
        elif isinstance(kind, pa.FixedShapeTensorType) and not shape:
            order = kind.permutation
            if order is not None and list(order) != sorted(order):
                return kind, shape
            return kind.value_type, tuple(kind.shape)
        else:
            return kind, shape


def _dtype_and_shape(kind: Any) -> tuple[Any, tuple[int, ...]] | None:
    """Return the dtype of the values and the shape of what is of a fixed size; None if neither."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(kind):
        return _dtype_and_shape(kind.value_type)
    if _is_bytes(kind):
        return np.dtype(np.uint8), ()
    if kinds.is_fixed_size_binary(kind):
        return np.dtype(np.uint8), (kind.byte_width,)
    if _is_list(kind):
        kind = kind.value_type
    inner, shape = _inner(kind)
    if kinds.is_boolean(inner) or kinds.is_integer(inner) or kinds.is_floating(inner):
        name = str(inner)
        return np.dtype(_DTYPE_NAMES.get(name, name)), shape
    return None


def _is_bytes(kind: Any) -> bool:
    import pyarrow.types as kinds

    return any(
        test(kind)
        for test in (
            *(kinds.is_binary, kinds.is_large_binary, kinds.is_binary_view),
            *(kinds.is_string, kinds.is_large_string, kinds.is_string_view),
        )
    )


class _Column:
    """The values of a column, which are in one piece or in several."""

    def __init__(self, table: Any, field: Field) -> None:
        self._field = field
        self._chunks = table.column(field.path[0]).chunks
        self._ends = np.cumsum([len(chunk) for chunk in self._chunks])
        self._opened: dict[int, _Chunk] = {}

    def rows(self, indices: Sequence[int]) -> list[NDArray[Any]]:
        if len(self._chunks) == 1:
            return self._chunk(0).rows(indices, self._field.name)
        numbers = np.searchsorted(self._ends, np.asarray(indices), side="right").tolist()
        return [
            self._chunk(number).row(index, index - self._start(number), self._field.name)
            for index, number in zip(indices, numbers, strict=True)
        ]

    def _start(self, number: int) -> int:
        return int(self._ends[number - 1]) if number else 0

    def _chunk(self, number: int) -> _Chunk:
        if number not in self._opened:
            import pyarrow.compute as pc

            values = self._chunks[number]
            for name in self._field.path[1:]:
                values = pc.struct_field(values, [name])
            self._opened[number] = _Chunk(values)
        return self._opened[number]


class _Chunk:
    """The values of an Arrow array as parts of one NumPy array."""

    def __init__(self, array: Any) -> None:
        import pyarrow as pa

        kinds = pa.types
        if kinds.is_dictionary(array.type):
            array = array.dictionary_decode()
        if kinds.is_binary_view(array.type) or kinds.is_string_view(array.type):
            array = array.cast(pa.large_binary())
        self._is_null = array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None
        self._offsets: NDArray[Any] | None = None
        kind = array.type
        found = _dtype_and_shape(kind)
        assert found is not None
        dtype, self._shape = found
        self._num_nulls: NDArray[np.int64] | None = None  # before each value
        if _is_bytes(kind):
            is_large = kinds.is_large_binary(kind) or kinds.is_large_string(kind)
            _, offsets, data = array.buffers()
            self._offsets = _offsets(array, offsets, np.int64 if is_large else np.int32)
            self._values = np.frombuffer(data or b"", np.uint8)
        elif kinds.is_fixed_size_binary(kind):
            width = kind.byte_width
            data = np.frombuffer(array.buffers()[1] or b"", np.uint8)
            start = array.offset * width
            self._values = data[start : start + len(array) * width]
        else:
            if _is_list(kind):
                self._offsets = array.offsets.to_numpy()
                array = array.values
            if isinstance(array, pa.ExtensionArray):
                array = array.storage
            while kinds.is_fixed_size_list(array.type):
                size = array.type.list_size
                self._count_nulls(array)
                array = array.values.slice(array.offset * size, len(array) * size)
            self._count_nulls(array)
            self._values = _numbers(array, dtype)
        self._size = math.prod(self._shape)

    def _count_nulls(self, array: Any) -> None:
        """Count the nulls in the values, whose number must be a multiple of those of before."""
        if array.null_count == 0 and self._num_nulls is None:
            return
        is_null = array.is_null().to_numpy(zero_copy_only=False)
        if self._num_nulls is not None:
            before = np.diff(self._num_nulls) > 0
            is_null = is_null | np.repeat(before, len(is_null) // max(len(before), 1))
        self._num_nulls = np.concatenate([[0], np.cumsum(is_null)])

    def rows(self, places: Sequence[int], name: str) -> list[NDArray[Any]]:
        """Return the values at some places, which are the rows of the table; see `row`."""
        has_nulls = self._is_null is not None or self._num_nulls is not None
        if self._offsets is None or self._shape or has_nulls:
            return [self.row(place, place, name) for place in places]
        at = np.asarray(places, np.int64)
        starts, ends = self._offsets[at].tolist(), self._offsets[at + 1].tolist()
        return [self._values[start:end] for start, end in zip(starts, ends, strict=True)]

    def row(self, index: int, place: int, name: str) -> NDArray[Any]:
        """Return the value at a place, which is that of a row of the table."""
        size = self._size
        start, end = place * size, (place + 1) * size
        shape = self._shape
        if self._offsets is not None:
            first, last = int(self._offsets[place]), int(self._offsets[place + 1])
            start, end, shape = first * size, last * size, (last - first, *self._shape)
        is_null = self._is_null is not None and self._is_null[place]
        if is_null or (
            self._num_nulls is not None and self._num_nulls[start] != self._num_nulls[end]
        ):
            raise ValueError(
                f"column {name!r} must have a value in each row (got "
                f"{'null' if is_null else 'a list with a null'} in row {index}). Remove the row, "
                "or fill it."
            )
        return self._values[start:end].reshape(shape)


_DTYPE_NAMES = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""NumPy's names of types that Arrow calls otherwise. pyarrow's own conversion may need pandas."""


def _offsets(array: Any, buffer: Any, dtype: Any) -> NDArray[Any]:
    if buffer is None or buffer.size == 0:
        return np.zeros(len(array) + 1, dtype)
    return np.frombuffer(buffer, dtype, array.offset + len(array) + 1)[array.offset :]


def _numbers(array: Any, dtype: Any) -> NDArray[Any]:
    """Return the numbers of an array; what is null is anything."""
    import pyarrow as pa

    if pa.types.is_boolean(array.type):
        filled: NDArray[Any] = array.fill_null(False).to_numpy(zero_copy_only=False)
        return filled
    if not len(array):
        return np.empty(0, dtype)
    return np.frombuffer(array.buffers()[1], dtype, array.offset + len(array))[array.offset :]
