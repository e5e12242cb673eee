"""The format of `fn.readers.zarr`: rows and crops of Zarr arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from dali_core._readers.chunked_arrays import (
    CROP_ARGS,
    Reading,
    RecentlyUsed,
    Samples,
    check_crops,
    samples_of,
)
from dali_core._readers.formats.zarr_chunks import ArrayFiles
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, join_path
from dali_core.errors import ArgumentValueError

_INDEX_BYTES = 64 << 20  # of shards, that are kept

_LISTING_ARGS = (
    Arg("paths", list[str], "Paths or URLs of groups or arrays, whose samples come in this order."),
    Arg(
        "arrays",
        list[str],
        "Paths of the arrays in the groups; there is an output for each. By default each of the "
        "`paths` is an array itself, or a pyramid of OME-Zarr, whose finest level is read; other "
        'levels have names, such as ``"1"``.',
        UNSET,
        length=Range(1, 4096),
    ),
    *CROP_ARGS,
    *STORAGE_ARGS,
)


class Zarr(Format):
    """Rows or crops of arrays."""

    name = "readers.zarr"
    doc = """Read rows or crops of Zarr arrays, of versions 2 and 3, also sharded ones.

A sample is a row of each of the arrays, along the first axis; arrays in one group have equally many
rows. With `crop` it is a part of each of them, at the same place, which is known before anything is
read. Only chunks with such elements are read, or of shards their parts, and decoded in threads.
Chunks that are absent have the fill value; what cannot be read is an error.

Elements are integers, booleans, and floating-point numbers to 64 bits, in the byte order of the
machine. Errors name the file.

Returns
-------
DataNode or list of DataNode
    The arrays in the order of `arrays`; a list if there are several."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "max_cached_bytes",
            int,
            "How many bytes of decoded chunks are kept in memory; those that were not used for "
            "longest are dropped.",
            256 << 20,
            range=Range(0),
        ),
    )
    listing_args = _LISTING_ARGS

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse arguments of crops where samples are rows."""
        check_crops(arguments)

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List rows or crops of all paths."""
        self.check(arguments)
        if not arguments["paths"]:
            raise ArgumentValueError("paths must name at least one array (got none). Pass paths.")
        names = arguments.get("arrays", [""])
        paths = storage.checked(arguments["paths"])
        indices = RecentlyUsed(_INDEX_BYTES)

        def open_arrays(path: str) -> list[ArrayFiles]:
            return [ArrayFiles(_join(path, name), storage, indices) for name in names]

        try:
            arrays = _each(open_arrays, paths, storage)
        except ValueError as error:
            if isinstance(error, ArgumentValueError):
                raise
            raise ArgumentValueError(
                f"paths must be Zarr groups with all arrays (got {error}). Check paths and arrays."
            ) from error
        return samples_of(paths, arrays, arguments, storage)

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of arrays."""
        return len(arguments.get("arrays", [""]))

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read chunks, and keep what was decoded."""
        assert isinstance(source, Samples)
        return Reading(source, arguments["max_cached_bytes"])


def _join(path: str, name: str) -> str:
    path, name = path.rstrip("/") or "/", name.strip("/")
    return join_path(path, name) if name else path


def _each(
    function: Callable[[str], list[ArrayFiles]], paths: Sequence[str], storage: Storage
) -> list[list[ArrayFiles]]:
    """Open the arrays of all paths; of objects in threads, to hide latency."""
    if not storage.is_used or len(paths) < 2:
        return list(map(function, paths))
    num_threads = min(storage.options.max_in_flight, len(paths))
    return list(map_in_threads(function, paths, num_threads))
