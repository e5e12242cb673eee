"""The format of `fn.readers.token_file`: indexed token files of Megatron."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.protocol import DataSource, FetchedSource
from dali_core._readers.python_reader import Format
from dali_core._spec import Arg
from dali_core._storage import STORAGE_ARGS, Storage
from dali_core.errors import ArgumentValueError

_MAGIC = b"MMIDIDX\0\0"
_HEADER = len(_MAGIC) + 25
_TYPES = {
    1: "u1",
    2: "i1",
    3: "<i2",
    4: "<i4",
    5: "<i8",
    6: "<f8",
    7: "<f4",
    8: "<u2",
}


class TokenFile(Format):
    """Sequences of tokens in files with an index, as Megatron has them."""

    name = "readers.token_file"
    doc = """Read sequences of tokens from indexed files (``.bin`` and ``.idx``) of Megatron.

A sample is a sequence, or a whole document; of the tokens only those are read. Lengths are known
before, so token budgets need not read the data. Errors name the file.

Returns
-------
DataNode
    The tokens, 1-D, in the type that they are stored in."""
    args = (
        Arg(
            "paths",
            list[str],
            "Paths or URLs, with or without ``.bin`` or ``.idx``; samples come in this order.",
        ),
        Arg(
            "documents",
            bool,
            "Whether a sample is a document, of one sequence or several, and not a sequence.",
            False,
        ),
        *STORAGE_ARGS,
    )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """Read the indices."""
        stems = [path.removesuffix(".bin").removesuffix(".idx") for path in arguments["paths"]]
        indices = ByteRanges([f"{stem}.idx" for stem in stems], storage)
        data = ByteRanges([f"{stem}.bin" for stem in stems], storage)
        try:
            found = [
                _parse(indices.read(file), indices.paths[file], arguments["documents"])
                for file in range(len(stems))
            ]
        except ValueError as error:
            raise ArgumentValueError(
                f"paths must be indexed token files (got {error}). Check the files."
            ) from error
        types = sorted({one.type for one in found})
        if len(types) > 1:
            raise ArgumentValueError(
                f"paths must be files with tokens of one type (got {', '.join(types)}, the first "
                f"in {indices.paths[0]!r}). Read them by themselves."
            )
        tokens = _Tokens(data, found)
        if not len(tokens):
            raise ArgumentValueError(
                f"paths must be files with at least one sequence (got none in {data.paths[0]!r}). "
                "Check them."
            )
        return tokens


class _Index(NamedTuple):
    type: str
    offsets: NDArray[np.int64]  # bytes in the file
    lengths: NDArray[np.int64]  # tokens


def _parse(data: bytes, path: str, documents: bool) -> _Index:
    if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEADER:
        raise ValueError(f"{path!r}: it must begin as an index")
    (version,) = np.frombuffer(data, "<u8", 1, len(_MAGIC)).tolist()
    kind = data[len(_MAGIC) + 8]
    count, num_bounds = np.frombuffer(data, "<u8", 2, _HEADER - 16).tolist()
    if version != 1 or kind not in _TYPES:
        raise ValueError(f"{path!r}: version {version}, type {kind}: must be 1, and 1 to 8")
    # Of data with images, a byte for each sequence follows.
    if len(data) - _HEADER - 12 * count - 8 * num_bounds not in (0, count):
        raise ValueError(
            f"{path!r}: it must have the bytes of {count} sequences and {num_bounds} bounds of "
            f"documents (it has {len(data)})"
        )
    lengths = np.frombuffer(data, "<i4", count, _HEADER).astype(np.int64)
    offsets = np.frombuffer(data, "<i8", count, _HEADER + 4 * count)
    if count and (lengths.min() < 0 or offsets.min() < 0):
        raise ValueError(f"{path!r}: lengths and places must be from 0 on")
    if not documents:
        return _Index(_TYPES[kind], offsets, lengths)
    bounds = np.frombuffer(data, "<i8", num_bounds, _HEADER + 12 * count)
    if num_bounds < 1 or bounds[0] != 0 or bounds[-1] != count or (np.diff(bounds) < 0).any():
        raise ValueError(f"{path!r}: bounds of documents must ascend from 0 to {count}")
    item_size = np.dtype(_TYPES[kind]).itemsize
    follows = offsets[1:] == offsets[:-1] + lengths[:-1] * item_size
    inside = np.ones(count, bool)
    inside[bounds[:-1][np.diff(bounds) > 0]] = False
    if not follows[inside[1:]].all():
        raise ValueError(f"{path!r}: the sequences of a document must follow each other")
    sums = np.concatenate([[0], np.cumsum(lengths)])
    first = np.concatenate([offsets, [0]])[bounds[:-1]]
    return _Index(_TYPES[kind], first, np.diff(sums[bounds]))


class _Tokens(FetchedSource):
    def __init__(self, files: ByteRanges, indices: Sequence[_Index]) -> None:
        self._files = files
        self._sizes = files.sizes
        self._type = np.dtype(indices[0].type)
        self._ends = np.cumsum([len(index.lengths) for index in indices])
        self._offsets = np.concatenate([index.offsets for index in indices])
        self._lengths = np.concatenate([index.lengths for index in indices])

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of tokens of each sample."""
        return self._lengths

    @property
    def fingerprint(self) -> str:
        return fingerprint_of(self._files.names, self._sizes, len(self))

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        files = np.searchsorted(self._ends, indices, side="right")
        sizes = self._lengths[indices] * self._type.itemsize
        parts = zip(files.tolist(), self._offsets[indices].tolist(), sizes.tolist(), strict=True)
        return [np.frombuffer(data, self._type) for data in self._files.read_many(list(parts))]
