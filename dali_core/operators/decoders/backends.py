"""Finds the libraries that decode, without importing or loading any."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from pathlib import Path
from typing import Any

from dali_core.errors import ArgumentValueError

JPEG_VARIABLE = "DALI_CORE_JPEG"
"""Environment variable that chooses what decodes JPEG: ``own``, ``libjpeg`` or ``nvimgcodec``. By
default our own decoder does, and libjpeg-turbo, or else nvImageCodec, where it does not."""

PROCESS_VARIABLE = "DALI_CORE_CODEC_PROCESS"
"""Environment variable: ``0`` runs nvImageCodec in this process, where hostile files may crash."""

SECONDS_VARIABLE = "DALI_CORE_CODEC_SECONDS"
"""Environment variable: processor time that nvImageCodec may take for an image, besides one second
for each 2**20 pixels and for each 2**20 bytes. More ends its process, and the file is refused."""

# nvImageCodec's names of its codecs that need no GPU; the others report errors without one.
_HOST_EXTENSIONS = ("jpeg_turbo", "tiff", "nvbmp", "nvpnm", "opencv")


def backend_arguments() -> dict[str, Any]:
    """Pass native code the paths of nvImageCodec, if it is installed, and the user's choice.

    Returns
    -------
    dict
        ``jpeg_backend``, empty for the default; ``codec_library`` and ``codec_extensions``, which
        are left out where nvImageCodec is not installed; ``codec_process``, which is left out
        where it runs in this process, and ``codec_seconds``, how long that may take.
    """
    arguments: dict[str, Any] = {"jpeg_backend": os.environ.get(JPEG_VARIABLE, "")}
    folder = _codec_folder()
    if folder is None:
        return arguments
    libraries = sorted(folder.glob("libnvimgcodec.so*"))
    extensions = [
        str(path)
        for name in _HOST_EXTENSIONS
        for path in sorted(folder.glob(f"extensions/lib{name}_ext.so*"))
    ]
    if libraries and extensions:
        arguments |= {"codec_library": str(libraries[0]), "codec_extensions": extensions}
        if process := _process():
            arguments |= {"codec_process": process, "codec_seconds": _seconds()}
    return arguments


def _process() -> list[str]:
    """Start of the command that runs nvImageCodec; empty to run it in this process."""
    wanted = os.environ.get(PROCESS_VARIABLE, "1")
    if wanted not in ("0", "1"):
        raise ArgumentValueError(
            f"{PROCESS_VARIABLE} must be 0 or 1 (got {wanted!r}). Unset it to stay safe."
        )
    # A frozen program or one that embeds Python has no interpreter to start.
    if wanted == "0" or not sys.executable or getattr(sys, "frozen", False):
        return []
    native = importlib.util.find_spec("dali_core._runtime.executor")
    if native is None or native.origin is None:
        return []
    program = str(Path(__file__).with_name("codec_process.py"))
    return [sys.executable, "-I", "-S", program, native.origin]


def _seconds() -> int:
    wanted = os.environ.get(SECONDS_VARIABLE, "10")
    if not re.fullmatch("[1-9][0-9]{0,4}", wanted):
        raise ArgumentValueError(
            f"{SECONDS_VARIABLE} must be a whole number of seconds from 1 to 99999 (got "
            f"{wanted!r}). Unset it for 10."
        )
    return int(wanted)


def _codec_folder() -> Path | None:
    # Looking for `nvidia.nvimgcodec` imports `nvidia`, which is an empty namespace or nothing.
    if importlib.util.find_spec("nvidia") is None:
        return None
    spec = importlib.util.find_spec("nvidia.nvimgcodec")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
