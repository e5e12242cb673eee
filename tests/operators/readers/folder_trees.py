"""What readers of files list, and what they must list."""

from __future__ import annotations

import fnmatch
import os
import re

from dali_core._storage import stored
from dali_core.operators.readers.file.listing import open_files

LIST = stored(open_files)


def expected_files(
    root: str, files: list[str], folders: list[str] | None, case_sensitive: bool
) -> list[tuple[str, int]]:
    """List in Python what `readers.file` promises."""

    def matches(name: str, patterns: list[str]) -> bool:
        expressions = "|".join(map(fnmatch.translate, patterns))
        return bool(re.match(expressions, name, 0 if case_sensitive else re.IGNORECASE))

    def names(folder: str, want_folders: bool) -> list[str]:
        entries = os.scandir(folder)
        found = [entry.name for entry in entries if entry.is_dir() == want_folders]
        return sorted(found, key=os.fsencode)

    used = [name for name in names(root, True) if folders is None or matches(name, folders)]
    return [
        (f"{folder}/{name}", label)
        for label, folder in enumerate(used)
        for name in names(os.path.join(root, folder), False)
        if matches(name, files)
    ]
