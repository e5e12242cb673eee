"""Records of ArrayRecord files as a data set for `fn.readers.python`.

The package array_record reads them; it needs Python 3.11.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import refuse_urls
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

__all__ = ["ArrayRecordSource"]


class ArrayRecordSource:
    """The records of some files, one file after the other: a sample is the bytes of a record.

    Samples are 1-D arrays of uint8. Records that cannot be read are bad samples.

    Parameters
    ----------
    paths : path or sequence of paths
        The files.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If a path is none, or a file is not one of ArrayRecord.
    MissingModuleError
        If array_record is not installed.
    """

    def __init__(self, paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> None:
        given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
        try:
            names = [os.fspath(path) for path in given]
        except TypeError as error:
            raise ArgumentTypeError(
                f"paths must be those of ArrayRecord files (got {paths!r:.100}). Pass a list of "
                "them."
            ) from error
        refuse_urls("paths", names, "Copy the files to this machine.")
        try:
            from array_record.python.array_record_data_source import ArrayRecordDataSource
        except ImportError as error:
            raise MissingModuleError(
                f"ArrayRecordSource needs array_record (got none: {error}). Install it: "
                "pip install array_record"
            ) from error
        try:
            self._records: Any = ArrayRecordDataSource(names)
            self._num_records = len(self._records)
        except (RuntimeError, ValueError) as error:
            raise ArgumentValueError(
                f"paths must be those of ArrayRecord files, at least one (got {names!r:.200}: "
                f"{error}). Check the paths."
            ) from error

    def __len__(self) -> int:
        return self._num_records

    def fetch_many(self, indices: Sequence[int]) -> list[NDArray[np.uint8]]:
        """Return the records of some numbers."""
        records = self._records.__getitems__(list(indices))
        return [np.frombuffer(record, np.uint8) for record in records]
