"""Sources that are compiled at once, since what they have in common takes most of the time."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

# Types of an anonymous namespace are suspect to GCC in what is included.
KEEP_LOCAL_TYPES = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""


def write_unit(path: Path, sources: Iterable[Path]) -> None:
    """Write a source that includes others, unless it is there."""
    includes = [f'#include "{source.as_posix()}"\n' for source in sources]
    text = "".join([KEEP_LOCAL_TYPES, *includes])
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
