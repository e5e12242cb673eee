"""Makes class folders with files of distinct contents."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def make_folders(root: Path, counts: Sequence[int] = (4, 3, 5)) -> list[bytes]:
    """Write `counts[i]` files to the i-th class folder, and return their contents in order."""
    contents = []
    for label, count in enumerate(counts):
        folder = root / f"class_{label}"
        folder.mkdir(parents=True)
        for number in range(count):
            content = f"{label}/{number}".encode() + b"." * number
            (folder / f"{number:03}.jpg").write_bytes(content)
            contents.append(content)
    return contents
