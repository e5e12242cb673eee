"""Finds the libraries that decode, without importing or loading any."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

JPEG_VARIABLE = "DALI_CORE_JPEG"
"""Environment variable that chooses between ``libjpeg`` and ``nvimgcodec`` where both are there."""

# What nvImageCodec calls its codecs that need no GPU; the others complain when they find none.
_HOST_EXTENSIONS = ("jpeg_turbo", "tiff", "nvbmp", "nvpnm", "opencv")


def backend_arguments() -> dict[str, Any]:
    """Give native code the paths of nvImageCodec, if it is installed, and the user's choice.

    Returns
    -------
    dict
        ``jpeg_backend``, empty for the default; ``codec_library`` and ``codec_extensions``, which
        are left out where nvImageCodec is not installed.
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
    return arguments


def _codec_folder() -> Path | None:
    # Looking for `nvidia.nvimgcodec` imports `nvidia`, which is an empty namespace or nothing.
    if importlib.util.find_spec("nvidia") is None:
        return None
    spec = importlib.util.find_spec("nvidia.nvimgcodec")
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
