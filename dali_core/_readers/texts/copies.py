"""Keeps decompressed texts as files of a cache, so that any line in them can be read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, BinaryIO

from dali_core._cache_files import make_folder, open_file, opened_folder, reason_of, warn_once
from dali_core._file_cache import FileKey
from dali_core._runtime.finalizer import Finalizer
from dali_core._storage.checked_copies import SummedFile, is_sound, keep_check
from dali_core._storage.object_copies import locked_file

_WRITING = "writing-"

Decompress = Callable[[], Iterable[bytes]]
"""Gives the pieces of a text."""


class TextCopies:
    """Decompressed texts in a folder that processes share, or in nameless files of this process.

    Parameters
    ----------
    folder : str
        Where the copies are; without it, or where it cannot be written to, they are nameless.
    variable : str
        Environment variable that warnings name.
    """

    def __init__(self, folder: str, variable: str) -> None:
        self._folder = os.path.join(folder, "texts-1") if folder else ""
        self._warn = partial(warn_once, variable, folder)
        self._nameless: dict[FileKey, int] = {}

    def open(self, key: FileKey, decompress: Decompress) -> int:
        """Return the descriptor of a copy, which is made if there is none; the caller closes it.

        Parameters
        ----------
        key : FileKey
            What is decompressed, in its present version.
        decompress : callable
            Gives the text.

        Raises
        ------
        OSError
            If no copy can be written.
        Exception
            Whatever `decompress` raises.
        """
        if self._folder and key not in self._nameless:
            try:
                return self._open_kept(key, decompress)
            except _NotKeptError as error:
                self._warn(reason_of(error.__cause__ or error))
        if key not in self._nameless:
            self._nameless[key] = descriptor = _nameless_file()
            Finalizer(self, os.close, descriptor)
            try:
                with open(descriptor, "wb", closefd=False) as file:
                    _write(file, decompress())
            except BaseException:
                del self._nameless[key]
                raise
        return os.dup(self._nameless[key])

    def _open_kept(self, key: FileKey, decompress: Decompress) -> int:
        name = hashlib.sha256(repr(key).encode()).hexdigest()
        pieces = _Pieces(decompress)
        try:
            make_folder(os.path.dirname(self._folder))
            with opened_folder(self._folder, make=True) as folder:
                if not self._has(name, folder):
                    with locked_file(f"{_WRITING}{name}", folder) as file:
                        # Another process may have been at it.
                        if not self._has(name, folder):
                            _write_kept(file, name, folder, pieces)
                return open_file(name, folder)
        except OSError as error:
            if error is pieces.error:
                raise
            raise _NotKeptError from error

    def _has(self, name: str, folder: int) -> bool:
        try:
            size = os.stat(name, dir_fd=folder, follow_symlinks=False).st_size
        except FileNotFoundError:
            return False
        return is_sound(folder, name, size, self._warn)


class _NotKeptError(Exception):
    """The folder cannot be used."""


class _Pieces:
    """The pieces of a text, with the error that giving them has raised."""

    def __init__(self, decompress: Decompress) -> None:
        self._decompress = decompress
        self.error: BaseException | None = None

    def __iter__(self) -> Any:
        try:
            yield from self._decompress()
        except BaseException as error:
            self.error = error
            raise


def _write_kept(file: BinaryIO, name: str, folder: int, pieces: Iterable[bytes]) -> None:
    writing = f"{_WRITING}{name}"
    try:
        file.truncate()
        summed = SummedFile(file)
        _write(summed, pieces)
        file.flush()
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(writing, dir_fd=folder)
        raise
    os.replace(writing, name, src_dir_fd=folder, dst_dir_fd=folder)
    keep_check(folder, name, os.fstat(file.fileno()), summed.checksum)


def _nameless_file() -> int:
    descriptor, path = tempfile.mkstemp()
    os.unlink(path)
    return descriptor


def _write(file: Any, pieces: Iterable[bytes]) -> None:
    for piece in pieces:
        file.write(piece)
