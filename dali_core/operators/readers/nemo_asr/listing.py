"""Finds the entries of manifests."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.protocol import DataSource
from dali_core._storage import Storage
from dali_core._texts import is_system_text
from dali_core.errors import ArgumentValueError


@dataclass(frozen=True)
class SpeechListing(DataSource):
    """Entries in their order.

    Attributes
    ----------
    files : list of str
        Paths.
    offsets, durations : list of float
        The part of each file in seconds; a negative duration reaches to its end.
    texts : list of str
        Transcripts.
    indices : list of int
        Index of each entry among those of its manifest that are read.
    """

    files: list[str] = field(default_factory=list)
    offsets: list[float] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    indices: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.files)

    @cached_property
    def lengths(self) -> NDArray[np.int64] | None:
        """The durations in whole milliseconds; None if an entry has none."""
        if min(self.durations) < 0:
            return None
        seconds = np.minimum(np.array(self.durations), 2.0**40)
        found: NDArray[np.int64] = np.rint(1000 * seconds).astype(np.int64)
        return found

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read an entry by its index."""
        return {
            "files": self.files,
            "offsets": self.offsets,
            "durations": self.durations,
            "texts": self.texts,
            "indices": self.indices,
        }


def open_manifests(arguments: dict[str, Any], storage: Storage) -> SpeechListing:
    """List what the arguments of `fn.readers.nemo_asr` ask for.

    Raises
    ------
    ArgumentValueError
        If a manifest cannot be read, or nothing is left of them.
    """
    listing = SpeechListing()
    shortest, longest = arguments["min_duration"], arguments["max_duration"]
    for path in storage.checked(arguments["manifest_filepaths"]):
        with _opened(path, storage) as lines:
            _read_manifest(path, lines, shortest, longest, listing)
        listing.indices.extend(range(len(listing) - len(listing.indices)))
    listing.files[:] = storage.checked(listing.files)
    if not listing.files:
        raise ArgumentValueError(
            "manifest_filepaths must have at least one entry to read (got none). Check "
            "min_duration and max_duration."
        )
    return listing


def _opened(path: str, storage: Storage) -> TextIO:
    try:
        return storage.open_text(path, "strict")
    except OSError as error:
        raise ArgumentValueError(
            f"manifest_filepaths must be readable files (got {path!r}: {error.strerror})."
        ) from error


def _read_manifest(
    path: str, lines: TextIO, shortest: float, longest: float, listing: SpeechListing
) -> None:
    try:
        for number, line in enumerate(lines, 1):
            if line.strip():
                _read_entry(line, f"{path!r}, line {number}", shortest, longest, listing)
    except OSError as error:
        raise ArgumentValueError(
            f"manifest_filepaths must be readable files (got {path!r}: {error.strerror})."
        ) from error
    except UnicodeDecodeError as error:
        raise ArgumentValueError(
            f"manifest {path!r} must be text in UTF-8 ({error.reason} at byte {error.start}). "
            "Convert it."
        ) from error


def _read_entry(
    line: str, where: str, shortest: float, longest: float, listing: SpeechListing
) -> None:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise ArgumentValueError(
            f"manifest {where}: must be a JSON object on one line ({error}). Fix the line."
        ) from error
    file = entry.get("audio_filepath") if isinstance(entry, dict) else None
    if not isinstance(file, str) or not file or not is_system_text(file):
        raise ArgumentValueError(
            f"manifest {where}: must have audio_filepath, a path without NUL characters and lone "
            f"surrogates (got {file!r}). Fix the line."
        )
    offset, duration = _seconds(entry, "offset", 0.0, where), _seconds(entry, "duration", -1, where)
    text = entry.get("text", "")
    if not isinstance(text, str) or not is_system_text(text.replace("\0", "")):
        raise ArgumentValueError(
            f"manifest {where}: text must be a string without lone surrogates (got {text!r}). Fix "
            "the line."
        )
    if (shortest > 0 and duration < shortest) or (longest > 0 and duration > longest):
        return
    listing.files.append(file)
    listing.offsets.append(max(offset, 0.0))
    listing.durations.append(duration)
    listing.texts.append(text)


def _seconds(entry: dict[str, Any], name: str, default: float, where: str) -> float:
    value = entry.get(name, default)
    try:
        seconds = float(value) if isinstance(value, (int, float)) else math.nan
    except OverflowError:
        seconds = math.inf
    if not math.isfinite(seconds):
        raise ArgumentValueError(
            f"manifest {where}: {name} must be a number of seconds (got {value!r}). Fix the line."
        )
    return seconds
