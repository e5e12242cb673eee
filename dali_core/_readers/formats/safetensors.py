"""The format of `fn.readers.safetensors`: tensors of safetensors files."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.name_patterns import has_pattern, matches_of
from dali_core._readers.protocol import DataSource, FetchedSource
from dali_core._readers.python_reader import Format
from dali_core._spec import Arg, Range
from dali_core._storage import Storage, join_path
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.listed_files import file_args, list_files

_MAX_HEADER = 100_000_000  # as in the format's own reader
_MAX_DIMENSIONS = 32
_TYPES = {
    "BOOL": "?",
    "U8": "u1",
    "I8": "i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
    "BF16": "<u2",
    "F8_E4M3": "u1",
    "F8_E5M2": "u1",
}


class Safetensors(Format):
    """Tensors of safetensors files."""

    name = "readers.safetensors"
    doc = """Read tensors from safetensors files.

A sample is a file, with an output for each of the tensors. With ``rows=True`` it is a row of each
of them. With a ``*`` in the names, such as ``"latent_*"``, each match in a file is a sample, in
natural order. Nothing but these tensors is read. bfloat16 and the 8-bit floating-point types become
float32, which has all their values. Errors name the file and the tensor.

Returns
-------
DataNode or list of DataNode
    The tensors in the order of `tensors`; a list if there are several."""
    args = (
        *file_args("*.safetensors"),
        Arg("tensors", list[str], "Names of the tensors.", length=Range(1, 4096)),
        Arg(
            "rows",
            bool,
            "Whether a sample is a row of the tensors, along their first dimension, not a file.",
            False,
        ),
    )

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse rows of the matches of a pattern."""
        if arguments["rows"] and has_pattern(arguments["tensors"]):
            raise ArgumentValueError(
                "rows must be False where tensors have a '*', since each match is a sample then "
                "(got True). Leave out one."
            )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List files, rows or matches."""
        listed = list_files(dict(arguments), storage)
        paths = [join_path(listed.root, name) for name in listed.files]
        files = ByteRanges(paths, storage, "files")
        names = arguments["tensors"]
        try:
            if has_pattern(names):
                return _Matches(files, names)
            return _Rows(files, names) if arguments["rows"] else _WholeFiles(files, names)
        except ValueError as error:
            raise ArgumentValueError(
                f"files must be in safetensors, with all tensors (got {error}). Check files and "
                "tensors."
            ) from error

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of tensors."""
        return len(arguments["tensors"])


class _Tensor(NamedTuple):
    kind: str
    shape: tuple[int, ...]
    offset: int  # in the file
    size: int

    @property
    def item_size(self) -> int:
        return np.dtype(_TYPES[self.kind]).itemsize


class _Tensors(FetchedSource):
    """Samples that are tensors, or parts of them, of some files."""

    def __init__(self, files: ByteRanges, names: Sequence[str]) -> None:
        self.files, self.names = files, names

    def parts(self, index: int) -> tuple[int, list[_Tensor]]:
        """Return file and tensors of a sample."""
        raise NotImplementedError

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        found = self.files.each(self.parts, indices)
        wanted = [(file, one.offset, one.size) for file, tensors in found for one in tensors]
        data = iter(self.files.read_many(wanted))
        return [tuple(_array(one, next(data)) for one in tensors) for _, tensors in found]

    def tensors(self, file: int, names: Sequence[str]) -> list[_Tensor]:
        """Find tensors in the header of a file."""
        return self.named(file, self.header(file), names)

    def named(self, file: int, header: Mapping[str, Any], names: Sequence[str]) -> list[_Tensor]:
        """Return some of the tensors of a header."""
        for name in names:
            if name not in header:
                raise ValueError(f"{self.files.paths[file]!r}: there is no tensor {name!r} in it")
            if not isinstance(header[name], _Tensor):
                raise ValueError(
                    f"{self.files.paths[file]!r}: tensor {name!r} must be of a type that arrays "
                    f"have (got {header[name]!r})"
                )
        return [header[name] for name in names]

    def header(self, file: int) -> dict[str, Any]:
        """Read the header of a file: tensors, or names of types that arrays have not."""
        (length,) = np.frombuffer(self.files.read(file, 0, 8), "<u8").tolist()
        path = self.files.paths[file]
        if length > _MAX_HEADER:
            raise ValueError(f"{path!r}: the header must have at most 100 MB (it has {length} B)")
        text = self.files.read(file, 8, length)
        try:
            return _parse(text, 8 + length, self.files.size(file))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"{path!r}: the header must be that of safetensors ({error})"
            ) from error


def _parse(text: bytes, start: int, end: int) -> dict[str, Any]:
    described = json.loads(text.decode(), object_pairs_hook=_once)
    described.pop("__metadata__", None)
    found: dict[str, Any] = {}
    place = 0
    for name, entry in sorted(described.items(), key=lambda item: item[1]["data_offsets"]):
        first, last = entry["data_offsets"]
        shape = entry["shape"]
        if not all(type(number) is int and number >= 0 for number in (first, last, *shape)):
            raise ValueError(f"shape and data_offsets of {name!r} must be numbers from 0 on")
        if len(shape) > _MAX_DIMENSIONS:
            raise ValueError(f"{name!r} must have at most {_MAX_DIMENSIONS} dimensions")
        if first != place or last < first:
            raise ValueError(f"{name!r} must begin at byte {place} (it has {first} to {last})")
        place = last
        tensor = _Tensor(entry["dtype"], tuple(shape), start + first, last - first)
        if tensor.kind not in _TYPES:
            found[name] = str(tensor.kind)[:20]
            continue
        if tensor.item_size * math.prod(shape) != tensor.size:
            raise ValueError(f"{name!r} must have as many bytes as its shape and type say")
        found[name] = tensor
    if start + place != end:
        raise ValueError(f"the file must have {start + place} bytes (it has {end})")
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("names must not be repeated")
    return found


def _array(tensor: _Tensor, data: bytes) -> NDArray[Any]:
    array: NDArray[Any] = np.frombuffer(data, _TYPES[tensor.kind]).reshape(tensor.shape)
    if tensor.kind == "BF16":
        return (array.astype(np.uint32) << 16).view(np.float32)
    if tensor.kind == "F8_E5M2":  # the first half of float16
        return (array.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return _E4M3[array] if tensor.kind == "F8_E4M3" else array


def _e4m3() -> NDArray[np.float32]:
    exponents, fractions = np.divmod(np.arange(128), 8)
    values = np.where(exponents > 0, 8 + fractions, fractions) * 2.0 ** (
        np.maximum(exponents, 1) - 10
    )
    values[127] = np.nan  # there is no infinity
    return np.concatenate([values, -values]).astype(np.float32)


_E4M3 = _e4m3()


class _WholeFiles(_Tensors):
    """Each file is a sample, whose header is read with it; that of the first one also before."""

    def __init__(self, files: ByteRanges, names: Sequence[str]) -> None:
        super().__init__(files, names)
        self.tensors(0, names)

    def __len__(self) -> int:
        return len(self.files)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.files.names, self.names)

    def parts(self, index: int) -> tuple[int, list[_Tensor]]:
        return index, self.tensors(index, self.names)


class _Rows(_Tensors):
    def __init__(self, files: ByteRanges, names: Sequence[str]) -> None:
        super().__init__(files, names)
        self._headers = [self.tensors(file, names) for file in range(len(files))]
        for path, tensors in zip(files.paths, self._headers, strict=True):
            if len({one.shape[:1] for one in tensors}) != 1 or not tensors[0].shape:
                shapes = ", ".join(str(one.shape) for one in tensors)
                raise ValueError(
                    f"{path!r}: tensors must have equally many rows (they have the shapes {shapes})"
                )
        self._ends = np.cumsum([tensors[0].shape[0] for tensors in self._headers])
        if not len(self):
            raise ValueError(f"{files.paths[0]!r}: there is no row in it")

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.files.names, self.names, self._headers)

    def parts(self, index: int) -> tuple[int, list[_Tensor]]:
        file = int(np.searchsorted(self._ends, index, side="right"))
        tensors = self._headers[file]
        row = index - int(self._ends[file]) + tensors[0].shape[0]
        return file, [_row(tensor, row) for tensor in tensors]


def _row(tensor: _Tensor, row: int) -> _Tensor:
    size = tensor.size // tensor.shape[0]
    return _Tensor(tensor.kind, tensor.shape[1:], tensor.offset + row * size, size)


class _Matches(_Tensors):
    def __init__(self, files: ByteRanges, names: Sequence[str]) -> None:
        super().__init__(files, names)
        self._parts: list[tuple[int, list[_Tensor]]] = []
        for file, path in enumerate(files.paths):
            header = self.header(file)
            try:
                matches = matches_of(names, header)
            except ArgumentValueError:
                raise
            except ValueError as error:
                raise ValueError(f"{path!r}: {error}") from error
            self._parts += [(file, self.named(file, header, match)) for match in matches]
        if not self._parts:
            raise ValueError(f"{files.paths[0]!r}: nothing in it matches {names[0]!r}")

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self.files.names, self.names, self._parts)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of bytes of each sample."""
        sizes = (sum(one.size for one in tensors) for _, tensors in self._parts)
        return np.fromiter(sizes, np.int64, len(self))

    def parts(self, index: int) -> tuple[int, list[_Tensor]]:
        return self._parts[index]
