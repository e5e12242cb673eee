"""The format of `fn.readers.mds`: shards of MDS, the format of MosaicML's streaming."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core._readers.block_cache import Block, BlockCache, BlockSource
from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.formats.mds_encodings import Decode, decoder_of, split_item
from dali_core._readers.inflating import check_compression, inflate
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._spec import Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, is_url
from dali_core.errors import ArgumentValueError, MissingModuleError

_INDEX = "index.json"
_LARGEST_SHARD = 1 << 32  # places in it have 32 bits

_LISTING_ARGS = (
    Arg("paths", list[str], "Folders or their URLs, each with an ``index.json`` or with folders."),
    Arg(
        "columns",
        list[str],
        'Names of the columns to read; there is an output for each. ``"a[0]"`` is the first item '
        "of lists in the column ``a``.",
        length=Range(1, 4096),
    ),
    Arg(
        "check_hashes",
        bool,
        "Whether to compare each shard, once it is needed, with the hash that the index has of it.",
        False,
    ),
    *STORAGE_ARGS,
)


class Mds(Format):
    """Rows of MDS shards."""

    name = "readers.mds"
    doc = """Read columns of MDS shards, as MosaicML's streaming writes them; a sample is a row.

Numbers are scalars, arrays keep type and shape, and bytes, texts, JSON and encoded images are 1-D
arrays of uint8. Raw images of Pillow are arrays of their height, width, and channels if there are
several. Numbers that are stored as texts are int64 or float64. Columns of the encoding ``pkl`` are
refused, since reading them would run what is in them.

Of uncompressed shards, only the rows are read. A compressed one is decoded as a whole, so use
`samplers.Blocks` there. Errors name shard and row.

Returns
-------
DataNode or list of DataNode
    The columns in the order of `columns`; a list if there are several."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded shards are kept in memory; those that were not used for "
            "longest are dropped. A single shard may have more.",
            512 << 20,
            range=Range(1),
        ),
    )
    listing_args = _LISTING_ARGS

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """Read the indices of the folders."""
        shards: list[_Shard] = []
        for path in storage.checked(arguments["paths"]):
            shards += _list_folder(path.rstrip("/"), storage, arguments)
        shards = [shard for shard in shards if shard.num_rows]
        if not shards:
            raise ArgumentValueError(
                f"paths must be folders of shards with rows (got {arguments['paths']!r:.200}, "
                "without any). Check them."
            )
        return Shards(shards, storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of columns."""
        return len(arguments["columns"])

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read rows of plain shards, and keep compressed ones."""
        assert isinstance(source, Shards)
        if source.has_compressed:
            return BlockCache(source, arguments["max_cached_bytes"])
        return _PlainRows(source)


@dataclass(frozen=True)
class _Shard:
    path: str
    num_rows: int
    num_bytes: int  # of the decoded shard
    compression: str  # its name, or the empty text
    hashes: dict[str, str]  # to be checked, of what is read
    sizes: tuple[int, ...]  # of all columns, 0 for those whose sizes are in each row
    columns: tuple[tuple[int, str, Decode], ...]  # those that are asked for: number, name

    def row(self, data: bytes) -> tuple[Any, ...]:
        """Return the values of a row."""
        variable = self.sizes.count(0)
        if len(data) < 4 * variable:
            raise ValueError("it must have the sizes of its values")
        given = iter(struct.unpack_from(f"<{variable}I", data))
        ends = [4 * variable]
        for size in self.sizes:
            ends.append(ends[-1] + (size or next(given)))
        if ends[-1] != len(data):
            raise ValueError(f"its values must have {len(data)} bytes (they have {ends[-1]})")
        values, view = [], memoryview(data)
        for number, name, decode in self.columns:
            try:
                values.append(decode(view[ends[number] : ends[number + 1]]))
            except (ValueError, OverflowError, MemoryError) as error:
                raise ValueError(f"column {name!r}: {error}") from error
        return tuple(values)


class Shards(BlockSource):
    """Shards with at least one row each.

    Parameters
    ----------
    shards : sequence of _Shard
        The shards, in their order.
    storage : Storage
        What reads URLs.
    """

    def __init__(self, shards: Sequence[_Shard], storage: Storage) -> None:
        self.shards = shards
        self.files = ByteRanges([shard.path for shard in shards], storage)
        self.has_compressed = any(shard.compression for shard in shards)
        self._blocks = [shard.num_rows for shard in shards]

    @property
    def blocks(self) -> Sequence[int]:
        """The number of rows of each shard."""
        return self._blocks

    @property
    def fingerprint(self) -> str:
        """The names of the shards, and their rows and bytes."""
        bytes_of = [shard.num_bytes for shard in self.shards]
        return fingerprint_of(self.files.names, self._blocks, bytes_of)

    def block_name(self, block: int) -> str:
        """Return the path of a shard, for messages."""
        return repr(self.shards[block].path)

    def read_block(self, block: int) -> Block:
        """Read and decode a whole shard."""
        shard = self.shards[block]
        data = self.whole(block)
        if shard.compression:
            try:
                data = inflate(shard.compression, data, shard.num_bytes)
            except ValueError as error:
                raise ValueError(f"{shard.path!r}: {error}") from error
        offsets = offsets_of(shard, data[: 4 * shard.num_rows + 8])
        return Block(
            lambda rows: [self.row(block, n, data[offsets[n] : offsets[n + 1]]) for n in rows],
            len(data),
        )

    def row(self, block: int, row: int, data: bytes) -> tuple[Any, ...]:
        """Return the values of a row of a shard."""
        try:
            return self.shards[block].row(data)
        except ValueError as error:
            raise ValueError(f"{self.block_name(block)}, row {row}: {error}") from error

    def whole(self, block: int) -> bytes:
        """Return the bytes of a shard, whose hashes are checked where they are to be."""
        data = self.files.read(block)
        for name, expected in self.shards[block].hashes.items():
            if _hash(name, data) != expected:
                raise ValueError(
                    f"{self.block_name(block)}: the shard must have the {name} that the index has "
                    "of it. Copy it again."
                )
        return data


def offsets_of(shard: _Shard, data: bytes) -> list[int]:
    """Return where the rows of a shard begin and end, from its first bytes."""
    table = np.frombuffer(data[: len(data) // 4 * 4], "<u4")
    if len(table) != shard.num_rows + 2 or table[0] != shard.num_rows:
        raise ValueError(f"{shard.path!r}: the shard must have {shard.num_rows} rows")
    offsets: list[int] = table[1:].tolist()
    if (np.diff(table[1:].astype(np.int64)) < 0).any() or offsets[-1] > shard.num_bytes:
        raise ValueError(f"{shard.path!r}: rows must follow each other within the shard")
    return offsets


class _PlainRows(Fetcher):
    def __init__(self, source: Shards) -> None:
        self._source = source
        self._ends = np.cumsum(source.blocks)
        self._offsets: dict[int, list[int]] = {}

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Read some rows, and before that the tables of their shards, each once."""
        shards = np.searchsorted(self._ends, indices, side="right").tolist()
        for shard in dict.fromkeys(shards):
            if shard not in self._offsets:
                self._offsets[shard] = self._read_table(shard)
        rows, parts = [], []
        for shard, index in zip(shards, indices, strict=True):
            row = index - int(self._ends[shard]) + self._source.blocks[shard]
            first, last = self._offsets[shard][row : row + 2]
            rows.append(row)
            parts.append((shard, first, last - first))
        found = self._source.files.read_many(parts)
        return list(map(self._source.row, shards, rows, found))

    def _read_table(self, shard: int) -> list[int]:
        described = self._source.shards[shard]
        if described.hashes:
            self._source.whole(shard)
        size = 4 * described.num_rows + 8
        return offsets_of(described, self._source.files.read(shard, 0, size))


def _list_folder(folder: str, storage: Storage, arguments: Mapping[str, Any]) -> list[_Shard]:
    """List the shards of a folder, or of the folders in it if it has no index.

    Raises
    ------
    ArgumentValueError
        If there is no index, or it is none of MDS.
    """
    shards: list[_Shard] = []
    for each in _folders_of(folder.removesuffix(f"/{_INDEX}"), storage):
        path = f"{each}/{_INDEX}"
        try:
            described = json.loads(storage.read_whole(path))
            shards += [_describe(each, entry, arguments) for entry in described["shards"]]
        except (MissingModuleError, ArgumentValueError):
            raise
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ArgumentValueError(
                f"paths must be folders with an index of MDS (got {path!r}: "
                f"{type(error).__name__}: {error}). Check the folder."
            ) from error
    return shards


def _folders_of(folder: str, storage: Storage) -> list[str]:
    """Return a folder, or those in it that have an index if it has none."""
    index = f"{folder}/{_INDEX}"
    try:
        if is_url(folder):
            storage.info(index)
            return [folder]
        names = [] if os.path.isfile(index) else sorted(os.listdir(folder))
    except (OSError, ValueError):
        try:
            names = storage.names_in(folder, folders=True) if is_url(folder) else []
        except ArgumentValueError:
            names = []
    below = [f"{folder}/{name}" for name in names]
    if not is_url(folder):
        below = [each for each in below if os.path.isfile(f"{each}/{_INDEX}")]
    return below or [folder]


def _describe(folder: str, entry: Mapping[str, Any], arguments: Mapping[str, Any]) -> _Shard:
    if (entry["format"], entry["version"]) != ("mds", 2):
        raise ValueError(f"format and version must be 'mds' and 2, not {entry['format']!r:.40}")
    names, encodings = entry["column_names"], entry["column_encodings"]
    sizes = tuple(size or 0 for size in entry["column_sizes"])
    if not all(type(number) is int and 0 <= number < _LARGEST_SHARD for number in sizes):
        raise ValueError("column_sizes must be numbers from 0 on")
    if not len(names) == len(encodings) == len(sizes):
        raise ValueError("columns must each have a name, an encoding and a size")
    raw, packed = entry["raw_data"], entry["zip_data"]
    num_rows, num_bytes = entry["samples"], raw["bytes"]
    if not all(type(n) is int and 0 <= n < _LARGEST_SHARD for n in (num_rows, num_bytes)):
        raise ValueError("samples and bytes must be numbers of 32 bits")
    # The package leaves decoded shards beside those that it has decoded.
    is_packed = packed and (is_url(folder) or not os.path.isfile(_inside(folder, raw["basename"])))
    read = packed if is_packed else raw
    compression = entry["compression"].partition(":")[0] if is_packed else ""
    if compression:
        check_compression(compression)
    path = _inside(folder, read["basename"])
    hashes = {}
    if arguments["check_hashes"]:
        hashes = {str(name): str(value) for name, value in read["hashes"].items()}
        for name in hashes:
            _hash(name, b"")
        if not hashes:
            raise ArgumentValueError(
                f"check_hashes must be False where the index has no hashes (got {path!r}, without "
                "any). Leave it out."
            )
    columns = tuple(_column(name, names, encodings, path) for name in arguments["columns"])
    return _Shard(path, num_rows, num_bytes, compression, hashes, sizes, columns)


def _column(
    column: str, names: Sequence[str], encodings: Sequence[str], path: str
) -> tuple[int, str, Decode]:
    name, item = (column, None) if column in names else split_item(column)
    if name not in names:
        raise ArgumentValueError(
            f"columns must be those of the shards (got {column!r}, and {path!r} has "
            f"{', '.join(map(repr, names))}). Correct the name."
        )
    number = names.index(name)
    try:
        return number, column, decoder_of(encodings[number], item)
    except ValueError as error:
        raise ArgumentValueError(
            f"columns must have encodings that arrays can have (got {column!r} in {path!r}: "
            f"{error}). Leave the column out."
        ) from error


def _inside(folder: str, name: str) -> str:
    if name.startswith("/") or ".." in name.split("/") or "\0" in name or "://" in name:
        raise ValueError(f"shards must be in the folder of the index ({name!r:.100} is not)")
    return f"{folder}/{name}"


def _hash(name: str, data: bytes) -> str:
    """Return a hash of the data, in hexadecimal.

    Raises
    ------
    MissingModuleError
        If what computes it is not installed.
    """
    import hashlib

    if name in hashlib.algorithms_available and not name.startswith("shake"):
        return hashlib.new(name, data).hexdigest()
    if not name.startswith("xx"):
        raise ValueError(f"there is no hash {name[:40]!r}")
    try:
        import xxhash
    except ImportError as error:
        raise MissingModuleError(
            f"checking hashes of the kind {name!r} needs xxhash (got none: {error}). Install it: "
            "pip install xxhash"
        ) from error
    if name not in xxhash.algorithms_available:
        raise ValueError(f"there is no hash {name[:40]!r}")
    found: str = getattr(xxhash, name)(data).hexdigest()
    return found
