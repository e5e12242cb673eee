"""Chunks of Zarr arrays: where they are, and how they are read."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.chunked_arrays import RecentlyUsed
from dali_core._readers.formats.zarr_codecs import Sharding
from dali_core._readers.formats.zarr_metadata import (
    ArrayMetadata,
    first_level,
    parse_json,
    parse_v2,
    parse_v3,
)
from dali_core._storage import Storage, is_url, join_path
from dali_core._storage.failures import problem_of
from dali_core.errors import ArgumentValueError

_MOST_METADATA_BYTES = 1 << 26


class AbsentError(ValueError):
    """There is no such file or object."""


class ArrayFiles:
    """The files of one array.

    Parameters
    ----------
    path : str
        Path or URL of the array.
    storage : Storage
        What reads URLs.
    indices : RecentlyUsed
        Where indices of shards are kept.

    Attributes
    ----------
    path : str
        The path; of a group, that of the finest array of its OME pyramid.
    metadata : ArrayMetadata
        Of the array.

    Raises
    ------
    ValueError
        If there is no array that can be read. The message names the file.
    """

    def __init__(self, path: str, storage: Storage, indices: RecentlyUsed) -> None:
        self._storage = storage
        self._indices = indices
        self.path = path
        found, name = self._node(path)
        if isinstance(found, dict):
            level = first_level(found)
            if level is None:
                raise ValueError(
                    f"{path!r}: it must be an array (it is a group). Name an array in it."
                )
            self.path = join_path(path, level)
            found, name = self._node(self.path)
        if not isinstance(found, ArrayMetadata):
            raise ValueError(f"{self.path!r}: a level of a pyramid must be an array")
        self.metadata = found
        self._metadata_file = join_path(self.path, name)
        self._known_sizes: dict[str, int] = {}

    def _node(self, path: str) -> tuple[ArrayMetadata | dict[str, Any], str]:
        """Return the metadata of an array, or the attributes of a group, and the file's name."""
        if not is_url(path) and os.path.isfile(path):
            raise ValueError(f"{path!r}: it must be a folder. Unpack archives.")
        for name in ("zarr.json", ".zarray", ".zgroup"):
            file = join_path(path, name)
            data = self._metadata(file)
            if data is None:
                continue
            try:
                if name == ".zarray":
                    return parse_v2(data), name
                if name == ".zgroup":
                    attributes = self._metadata(join_path(path, ".zattrs"))
                    return parse_json(attributes) if attributes else {}, name
                found = parse_json(data)
                if found.get("node_type") == "group":
                    described = found.get("attributes")
                    return described if isinstance(described, dict) else {}, name
                return parse_v3(found), name
            except ValueError as error:
                raise ValueError(f"{file!r}: {error}") from error
            except (KeyError, TypeError, AttributeError, OverflowError) as error:
                raise ValueError(f"{file!r}: it must be metadata of Zarr ({error})") from error
        raise ValueError(f"{path!r}: it must have zarr.json, .zarray or .zgroup in it")

    def _metadata(self, file: str) -> bytes | None:
        try:
            return self.read(file, most=_MOST_METADATA_BYTES)
        except AbsentError:
            return None

    @property
    def block_shape(self) -> tuple[int, ...]:
        """The shape of what is decoded as a whole: a chunk, or a chunk of a shard."""
        sharding = self._sharding
        return self.metadata.codec.shape if sharding is None else sharding.codec.shape

    @property
    def _sharding(self) -> Sharding | None:
        """How shards are read in parts; None if they are decoded as a whole."""
        codec = self.metadata.codec
        return codec.sharding if codec.axes is None and not codec.unpackers else None

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.metadata.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its elements, in the byte order of the machine."""
        return self.metadata.dtype

    @property
    def fill(self) -> NDArray[Any]:
        """The value of blocks that are absent."""
        return self.metadata.fill

    def block(self, numbers: tuple[int, ...]) -> NDArray[Any] | None:
        """Read a block; None if it was never written.

        Parameters
        ----------
        numbers : tuple of int
            The number of the block along each axis.

        Raises
        ------
        ValueError
            If it is damaged, or cannot be read. The message names the file.
        """
        codec, sharding = self.metadata.codec, self._sharding
        grid = (1,) * len(numbers) if sharding is None else sharding.grid
        chunk = tuple(n // count for n, count in zip(numbers, grid, strict=True))
        file = join_path(self.path, self.metadata.key(chunk))
        try:
            try:
                if sharding is None:
                    data = self.read(file, most=codec.most_stored_bytes)
                    return codec.decode(data, self.metadata.fill)
                inner = tuple(n % count for n, count in zip(numbers, grid, strict=True))
                return self._inner(sharding, file, inner)
            except AbsentError:
                return None
        except Exception as error:  # of codecs, of many kinds
            message = str(error)
            named = message if file in message else f"{file!r}: {message}"
            raise ValueError(named) from error

    def _inner(self, sharding: Sharding, file: str, chunk: tuple[int, ...]) -> NDArray[Any] | None:
        kept = self._indices.get(file)
        if kept is None:
            size = self._size(file)
            count = sharding.index_bytes
            if count > size:
                raise ValueError(f"a shard must have an index of {count} bytes (it has {size})")
            offset = size - count if sharding.is_at_end else 0
            index = sharding.parse_index(self.read(file, offset, count))
            kept = (index, size)
            self._indices.put(file, kept, index.nbytes)
        index, size = kept
        place = sharding.place(index, chunk, size)
        if place is None:
            return None
        if place[1] > sharding.codec.most_stored_bytes:
            raise ValueError(f"chunk {chunk} must not have {place[1]} bytes")
        return sharding.codec.decode(self.read(file, *place), self.metadata.fill)

    def check_present(self) -> None:
        """Check that the array itself is there, when a chunk is absent.

        Raises
        ------
        ValueError
            If it is not, or is no longer.
        """
        try:
            self._size(self._metadata_file)
        except AbsentError as error:
            raise ValueError(
                f"{self._metadata_file!r}: the array must be there as long as it is read. Check "
                "where it is."
            ) from error

    def _size(self, file: str) -> int:
        try:
            return ByteRanges([file], self._storage).size(0)
        except ArgumentValueError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise AbsentError(f"{file!r}: {error}") from error
            raise ValueError(f"{file!r}: {error}") from error

    def read(self, file: str, offset: int = 0, size: int = -1, most: int = -1) -> bytes:
        """Return bytes of a file; all for a size of -1, of at most so many.

        Raises
        ------
        AbsentError
            If there is no such file.
        ValueError
            If it cannot be read.
        """
        if is_url(file):
            try:
                data = bytes(self._storage.read(file, offset, size))
            except FileNotFoundError as error:
                raise AbsentError(f"{file!r}: {error}") from error
            except Exception as error:
                raise ValueError(problem_of(file, error)) from error
            if 0 <= size != len(data):
                raise ValueError(f"{file!r}: bytes {offset} to {offset + size} must be there")
            return data
        found = self._size(file) if size < 0 else size
        if most >= 0 and found > most:
            raise ValueError(f"{file!r}: it must have at most {most} bytes (it has {found})")
        return ByteRanges([file], self._storage).read(0, offset, size)
