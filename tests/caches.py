"""Faults of caches: planted files, damage, and the warnings about them."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

OTHER_USER = 65534


@contextlib.contextmanager
def warned_of_cache(reason: str, is_expected: bool = True) -> Iterator[None]:
    """Check that there is one warning about a cache, with a reason, or none."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield
    messages = [str(one.message) for one in found]
    assert len(messages) == is_expected, messages
    assert all(reason in message and "must be a folder" in message for message in messages)


@contextlib.contextmanager
def without_privileges(folder: Path) -> Iterator[None]:
    """Let the permissions of files in a folder count, for root too: another user runs the program.

    That user may look for the folder in the folders above it.
    """
    if os.geteuid() != 0:
        yield
        return
    modes = {path: path.stat().st_mode for path in folder.parents}
    closed = {path: mode for path, mode in modes.items() if not mode & 0o001}
    for path, mode in closed.items():
        path.chmod(mode | 0o001)
    os.setegid(OTHER_USER)
    os.seteuid(OTHER_USER)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        for path, mode in closed.items():
            path.chmod(mode)


def give_to_other_user(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file belong to another user than the one that runs the program."""
    if os.geteuid() == 0:
        os.chown(path, OTHER_USER, OTHER_USER, follow_symlinks=False)
        return
    # Only root may give files away: the program takes itself for another user instead.
    own = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: own + 1)
