"""A small format that is read in Python: files of records of a fixed length."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dali_core._readers.block_cache import Block, BlockCache, BlockSource
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format, python_reader
from dali_core._spec import Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage, is_url


class FixedRecords(Format):
    """Records of `record_bytes` bytes each; the label of a record is the number of its file."""

    name = "test.fixed_records"
    doc = "Read records of a fixed length."
    args = (
        Arg("paths", list[str], "Paths or URLs of the files."),
        Arg("record_bytes", int, "Bytes of a record.", range=Range(1)),
        *STORAGE_ARGS,
    )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the files."""
        return _Files(storage.checked(arguments["paths"]), arguments["record_bytes"], storage)

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Keep the files that were read last in memory."""
        assert isinstance(source, _Files)
        return BlockCache(source, 1 << 20)


class _Files(BlockSource):
    def __init__(self, paths: Sequence[str], record_bytes: int, storage: Storage) -> None:
        self._paths, self._record_bytes, self._storage = paths, record_bytes, storage
        sizes = [storage.info(p).size if is_url(p) else os.path.getsize(p) for p in paths]
        self._blocks = [size // record_bytes for size in sizes]

    @property
    def blocks(self) -> Sequence[int]:
        return self._blocks

    @property
    def labels(self) -> Sequence[int]:
        labels: list[int] = np.repeat(np.arange(len(self._paths)), self._blocks).tolist()
        return labels

    def block_name(self, block: int) -> str:
        return repr(self._paths[block])

    def read_block(self, block: int) -> Block:
        data = np.frombuffer(self._storage.read_whole(self._paths[block]), np.uint8)
        if data.size != self._blocks[block] * self._record_bytes:
            raise ValueError(f"{self.block_name(block)} must have whole records. Write it again.")
        records = data.reshape(-1, self._record_bytes)
        return Block(lambda places: [records[place] for place in places], data.nbytes)


SPECS = python_reader(FixedRecords())
