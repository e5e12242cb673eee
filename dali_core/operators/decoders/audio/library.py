"""Finds libsndfile, without importing anything."""

from __future__ import annotations

import ctypes
import importlib.util
from pathlib import Path
from typing import Any

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError

_SYSTEM_LIBRARY = "libsndfile.so.1"


def library_arguments() -> dict[str, Any]:
    """Pass native code the places where libsndfile may be, in the order to try them.

    Returns
    -------
    dict
        ``sound_libraries``: the library that the package soundfile brings, or else the system's.

    Raises
    ------
    MissingModuleError
        If there is none.
    """
    found = _bundled_libraries()
    if not found:
        try:
            ctypes.CDLL(_SYSTEM_LIBRARY)
        except OSError as error:
            raise MissingModuleError(
                f"decoding audio needs libsndfile ({error}). Run {install_command('audio')}.",
                name="soundfile",
            ) from error
    return {"sound_libraries": [*found, _SYSTEM_LIBRARY]}


def _bundled_libraries() -> list[str]:
    """Return the libraries in the data of the package soundfile, which is not imported."""
    spec = importlib.util.find_spec("_soundfile_data")
    folders = spec.submodule_search_locations if spec is not None else None
    return [
        str(path)
        for folder in folders or ()
        for path in sorted(Path(folder).glob("libsndfile*.so*"))
    ]
