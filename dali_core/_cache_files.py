"""Opens files of caches, which may be in folders that others write to.

Others may have put there what is no entry: links to other files, pipes, files of their own. No link
is followed and nothing waited for, and only regular files of this user or of root count. A cache is
never needed, so what is wrong with it is a warning, given once.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
import stat
import time
import warnings
from collections.abc import Iterator

LOCK_SECONDS = 1.0
"""To wait for another program that holds a lock, before doing without."""

_POLL_SECONDS = 0.002
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_warned: set[tuple[str, str]] = set()

_Path = str | os.PathLike[str]


class UntrustedFileError(OSError):
    """In the place of a file or folder is something else, or one of another user."""


def warn_once(name: str, folder: _Path, reason: str) -> None:
    """Warn that a cache is not used as it should be, unless that was done before.

    Parameters
    ----------
    name : str
        What says where the cache is: an argument or an environment variable.
    folder : path
        Where it is.
    reason : str
        What is wrong with it.
    """
    place = (name, os.fspath(folder))
    if place in _warned:
        return
    _warned.add(place)
    warnings.warn(
        f"{name} must be a folder in which this user's files are kept as they were written (got "
        f"{place[1]!r}: {reason}). It is done without them, which may take longer. Change the "
        "folder, or remove what is damaged.",
        UserWarning,
        stacklevel=2,
    )


def reason_of(error: BaseException) -> str:
    """Return what is wrong, in words, without the path."""
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def make_folder(path: _Path) -> None:
    """Make a folder for this user only, and those above it, unless it exists.

    Raises
    ------
    OSError
        If that does not work.
    """
    try:
        os.makedirs(path, 0o700, exist_ok=True)
    except RecursionError as error:
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG)) from error


@contextlib.contextmanager
def opened_folder(path: _Path, parent: int | None = None, *, make: bool = False) -> Iterator[int]:
    """Open a folder for a while, which must be one of this user or of root, and no link.

    Parameters
    ----------
    path : path
        The folder.
    parent : int, optional
        Descriptor of the folder to which a relative path relates.
    make : bool
        Whether to make it, for this user only, if there is none.

    Raises
    ------
    OSError
        If it cannot be opened.
    """
    descriptor = -1
    try:
        descriptor = _open(path, os.O_DIRECTORY, parent)
    except FileNotFoundError:
        if not make:
            raise
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700, dir_fd=parent)
        descriptor = _open(path, os.O_DIRECTORY, parent)
    try:
        _require_owner(os.fstat(descriptor))
        yield descriptor
    finally:
        os.close(descriptor)


def open_file(name: _Path, folder: int | None = None, flags: int = os.O_RDONLY) -> int:
    """Open a file of a cache, without waiting and without following a link.

    Parameters
    ----------
    name : path
        The file, in the folder with the descriptor `folder` if that is given.
    folder : int, optional
        See above.
    flags : int
        As of `os.open`. With `os.O_CREAT` the file is for this user only.

    Returns
    -------
    int
        Its descriptor, which the caller closes.

    Raises
    ------
    UntrustedFileError
        If it is no regular file of this user or of root, or is to be written to and has other
        names.
    OSError
        If it cannot be opened.
    """
    descriptor = _open(name, flags, folder)
    try:
        status = os.fstat(descriptor)
        _require_regular(status)
        _require_owner(status)
        if flags & os.O_ACCMODE != os.O_RDONLY and status.st_nlink > 1:
            raise UntrustedFileError(errno.EMLINK, "it is a file of another name, too")
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def has_private_file(folder: int, name: str) -> bool:
    """Return whether there is a file, which other code may then open by its name.

    Parameters
    ----------
    folder : int
        Descriptor of the folder.
    name : str
        The file.

    Raises
    ------
    UntrustedFileError
        If every user may write to the folder, or what is there is no regular file of this user or
        of root.
    """
    if os.fstat(folder).st_mode & stat.S_IWOTH:
        raise UntrustedFileError(errno.EPERM, "every user may write to it")
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    _require_regular(status)
    _require_owner(status)
    return True


def own_file(name: str, folder: int) -> int:
    """Open a file to read and write, made if there is none; what else has its name is removed.

    Raises
    ------
    OSError
        If that does not work.
    """
    flags = os.O_RDWR | os.O_CREAT
    try:
        return open_file(name, folder, flags)
    except UntrustedFileError:
        os.unlink(name, dir_fd=folder)
        return open_file(name, folder, flags | os.O_EXCL)


def new_file(prefix: str, folder: int) -> tuple[int, str]:
    """Make a file whose name cannot be guessed; return its descriptor, for writing, and the name.

    Raises
    ------
    OSError
        If that does not work.
    """
    name = f"{prefix}{secrets.token_hex(8)}"
    return _open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, folder), name


def lock_within(descriptor: int, seconds: float) -> bool:
    """Lock a file, unless others hold its lock for longer; return whether it is locked."""
    # Tries are counted: on a busy machine a second may pass without any.
    for number in range(1 + round(seconds / _POLL_SECONDS)):
        if number:
            time.sleep(_POLL_SECONDS)
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
    return False


def is_abandoned(name: str, folder: int) -> bool:
    """Return whether there is a file on which no process holds a lock, or none of this user's."""
    try:
        descriptor = open_file(name, folder)
    except UntrustedFileError:
        return True
    except OSError:
        return False
    try:
        return lock_within(descriptor, 0.0)
    finally:
        os.close(descriptor)


def _open(name: _Path, flags: int, folder: int | None) -> int:
    try:
        return os.open(name, flags | _SAFELY, 0o600, dir_fd=folder)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UntrustedFileError(errno.ELOOP, "it is a link") from error
        if error.errno == errno.ENXIO:
            raise UntrustedFileError(errno.ENXIO, "it is no regular file") from error
        raise


def _require_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise UntrustedFileError(errno.EINVAL, "it is no regular file")


def _require_owner(status: os.stat_result) -> None:
    if status.st_uid not in (os.geteuid(), 0):
        raise UntrustedFileError(errno.EPERM, f"it belongs to another user, {status.st_uid}")
