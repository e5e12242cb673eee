"""Hashes of the native code that a benchmark runs, by which old results are recognized.

Only code counts: comments, blank space and line breaks do not change a hash, and neither do files
that do not determine the result, such as device code and operators of other pipelines.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

from .command import ROOT

PHOTO_PIPELINES = (
    "dali_core/_runtime/fusion",
    "dali_core/kernels/image_chain",
    "dali_core/kernels/jpeg",
    "dali_core/kernels/resample",
    "dali_core/kernels/resize",
)
"""Folders with the code that takes nearly all of the time of pipelines of photos: decoding of JPEG
files, resizing, and the fused chain. The rest of the engine takes about 30 us of a batch of 64,
which is 0.1 % of its time."""

# String literals are kept as they are; of the rest, comments and space are left out.
_TOKENS = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\s+', re.DOTALL)


def hashes(folders: Sequence[str] = PHOTO_PIPELINES, root: Path = ROOT) -> dict[str, str]:
    """Return a hash of the code of each C++ file of some folders that runs on the host."""
    return {
        path.relative_to(root).as_posix(): code_hash(path.read_text("utf-8"))
        for folder in folders
        for path in sorted((root / folder).rglob("*.[ch]pp"))
        if "device" not in path.stem
    }


def code_hash(text: str) -> str:
    """Return a hash of C++ source that does not depend on its comments and its space."""
    code = _TOKENS.sub(lambda token: token[0] if token[0].startswith('"') else " ", text)
    return hashlib.sha256(" ".join(code.split()).encode()).hexdigest()[:12]


def changed(
    recorded: dict[str, str], folders: Sequence[str] = PHOTO_PIPELINES, root: Path = ROOT
) -> list[str]:
    """Return the files whose code is not the recorded one, or that were added or removed."""
    found = hashes(folders, root)
    return sorted(
        path for path in found.keys() | recorded.keys() if found.get(path) != recorded.get(path)
    )
