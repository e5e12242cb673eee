"""Finds what decodes videos, without importing it."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

from dali_core import _file_cache
from dali_core._extras import install_command
from dali_core.errors import ArgumentValueError, MissingModuleError

CACHE_VARIABLE = "DALI_CORE_VIDEO_CACHE"
"""Environment variable: folder where indices of videos are kept; empty to keep none. By default
``dali_core/video`` in ``XDG_CACHE_HOME``, or in ``~/.cache``."""

SECONDS_VARIABLE = "DALI_CORE_VIDEO_SECONDS"
"""Environment variable: processor time that a request may take, besides what its pixels and bytes
are worth. More ends the process that decodes, and the file is refused."""

WORKER_VARIABLE = "DALI_CORE_VIDEO_WORKER"
"""Environment variable: ``native`` for the program that is built where FFmpeg's development files
are, ``pyav`` for the one that runs in Python. By default the first one that is there."""

FILES_VARIABLE = "DALI_CORE_VIDEO_OPEN_FILES"
"""Environment variable: number of videos that each decoding process keeps open."""

MEMORY_VARIABLE = "DALI_CORE_VIDEO_MEMORY"
"""Environment variable: bytes of decoded frames in flight for each thread, in MiB. A frame that is
larger still has its place."""


def cache_folder() -> str:
    """Return the folder where indices are kept, which may not exist; empty to keep none."""
    return _file_cache.cache_folder(CACHE_VARIABLE, "video")


def video_arguments() -> dict[str, Any]:
    """Return what native code needs to decode videos, for an operator's configuration.

    Returns
    -------
    dict
        ``video_process``, the start of the command that decodes; left out where nothing can, which
        is an error at the first video. ``video_indices``, the command of the helper that has saved
        indices; left out where none are kept. ``video_seconds``, ``video_files``,
        ``video_megabytes``: limits.
    """
    arguments: dict[str, Any] = {
        "video_seconds": seconds_of_request(),
        "video_files": _number(FILES_VARIABLE, 8, "[1-9][0-9]{0,3}", "from 1 to 9999"),
        "video_megabytes": _number(MEMORY_VARIABLE, 64, "[1-9][0-9]{0,4}", "from 1 to 99999"),
    }
    command = worker_command("frames")
    if command:
        arguments["video_process"] = command
        indices = saved_indices_command()
        if indices:
            arguments["video_indices"] = indices
    return arguments


def saved_indices_command() -> list[str]:
    """Return the command of the helper that has saved indices, or nothing where none are kept.

    A frozen program cannot run a Python file: its workers make indices again.
    """
    folder = cache_folder()
    return [*_python_worker(""), "saved", folder] if folder and _has_interpreter() else []


def worker_command(mode: str) -> list[str]:
    """Return the start of the command of a worker, or nothing where there is none.

    The native worker is preferred to PyAV, unless `WORKER_VARIABLE` says which.

    Parameters
    ----------
    mode
        "frames" or "index".

    Raises
    ------
    MissingModuleError
        The chosen worker is not there.
    """
    chosen = os.environ.get(WORKER_VARIABLE, "")
    if chosen not in ("", *_COMMANDS):
        raise ArgumentValueError(
            f"{WORKER_VARIABLE} must be 'native' or 'pyav' (got {chosen!r}). Unset it for the "
            "native worker where it was built, and PyAV elsewhere."
        )
    for name, command in _COMMANDS.items():
        found = command() if chosen in ("", name) else []
        if found:
            return [*found, mode]
    if chosen == "native":
        raise MissingModuleError(
            f"{WORKER_VARIABLE}=native needs a build with FFmpeg (got one without). Install its "
            "development files (Debian, Ubuntu: libavcodec-dev libavformat-dev libavutil-dev "
            "pkg-config) and build again, or unset the variable."
        )
    if chosen == "pyav":
        raise missing_decoder()
    return []


def native_worker() -> Path | None:
    """Return the program that decodes videos without Python, if it was built."""
    program = Path(__file__).with_name("native_worker") / "dali_core_video_worker"
    return program if os.access(program, os.X_OK) else None


def _native_command() -> list[str]:
    program = native_worker()
    return [str(program)] if program else []


def _pyav_command() -> list[str]:
    spec = importlib.util.find_spec("av")
    if spec is None or spec.origin is None or not _has_interpreter():
        return []
    return _python_worker(str(Path(spec.origin).parents[1]))


def _has_interpreter() -> bool:
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _python_worker(av_folder: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(Path(__file__).with_name("worker")), av_folder]


_COMMANDS = {"native": _native_command, "pyav": _pyav_command}


def missing_decoder() -> MissingModuleError:
    """Return the error for videos where no decoder of videos is installed."""
    return MissingModuleError(
        "decoding videos needs PyAV (got none, and no FFmpeg at build time). Install it: "
        f"{install_command('video')}."
    )


def seconds_of_request() -> int:
    """Return the processor time in seconds that a request for nothing may take."""
    return _number(SECONDS_VARIABLE, 10, "[1-9][0-9]{0,4}", "from 1 to 99999")


def _number(variable: str, default: int, pattern: str, allowed: str) -> int:
    wanted = os.environ.get(variable, str(default))
    if not re.fullmatch(pattern, wanted):
        raise ArgumentValueError(
            f"{variable} must be a whole number {allowed} (got {wanted!r}). Unset it for {default}."
        )
    return int(wanted)
