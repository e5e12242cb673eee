"""Finds sequences of images in folders."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

from dali_core._readers.protocol import DataSource
from dali_core._runtime.path_list import PathList
from dali_core._storage import Storage, join_path
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.folders import names_in


@dataclass
class SequenceListing(DataSource):
    """Sequences of images, numbered through, folder after folder.

    Attributes
    ----------
    root : str
        Folder that paths relate to.
    files : PathList
        All frames, folder after folder.
    first_frames, first_sequences : list of int
        For each folder that has sequences: the numbers of its first frame and of its first
        sequence.
    step : int
        Distance between the first frames of two sequences.
    num_sequences : int
        Number of sequences.
    """

    root: str
    step: int
    files: PathList = field(default_factory=PathList)
    first_frames: list[int] = field(default_factory=list)
    first_sequences: list[int] = field(default_factory=list)
    num_sequences: int = 0

    def __len__(self) -> int:
        return self.num_sequences

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read a sequence by its number."""
        return {
            "paths": self.files.address,
            "first_frames": self.first_frames,
            "first_sequences": self.first_sequences,
        }


def open_sequences(arguments: dict[str, Any], storage: Storage) -> SequenceListing:
    """List the sequences that the arguments of `fn.readers.sequence` ask for.

    Raises
    ------
    ArgumentValueError
        If the folder cannot be listed, or has no sequence.
    """
    root, length = storage.checked_path(arguments["file_root"]), arguments["sequence_length"]
    span = 1 + (length - 1) * arguments["stride"]
    listing = SequenceListing(root, arguments["step"])
    folders = names_in(root, storage, folders=True)
    longest = 0
    for folder in folders:
        names = names_in(join_path(root, folder), storage, folders=False)
        longest = max(longest, len(names))
        count = max(len(names) - span + listing.step, 0) // listing.step
        if count:
            listing.first_frames.append(len(listing.files))
            listing.first_sequences.append(listing.num_sequences)
            listing.files.extend(
                (f"{folder}/{name}" for name in names), itertools.repeat(0, len(names))
            )
            listing.num_sequences += count
    listing.files.finish()
    if not listing.num_sequences:
        raise ArgumentValueError(
            f"file_root {root!r} must have a folder with at least {span} images, for a sequence of "
            f"{length} (found {len(folders)} folders, and at most {longest} files in one)."
        )
    return listing
