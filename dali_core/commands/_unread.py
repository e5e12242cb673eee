"""Files of a data set that readers leave out: because of their names, or of their content."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from dali_core.commands._checking import Checked
from dali_core.commands._contents import advice_for
from dali_core.commands._media import MediaFile
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS

_MOST_SHOWN = 5
_MOST_PATTERNS = 8


@dataclass(frozen=True)
class UnreadFiles:
    """Files that are left out for the same reason.

    Attributes
    ----------
    content : str
        What they are: a kind of files that are decoded, or a content such as "GIF image".
    reason : {"name", "content"}
        Whether they would be read if they had other names.
    names : list of str
        Their names as they are shown.
    """

    content: str
    reason: str
    names: list[str]

    def line(self) -> str:
        """Return what is said about them."""
        cause = "no decoder takes"
        if self.reason == "name":
            cause = "skipped by readers because of their names"
        shown = [*map(repr, self.names[:_MOST_SHOWN])]
        if len(self.names) > _MOST_SHOWN:
            shown.append("...")
        counted = f"{cause}: {self.content} {len(self.names)} ({', '.join(shown)})"
        return ". ".join(filter(None, [counted, self._advice()]))

    def _advice(self) -> str:
        if self.reason == "content":
            return advice_for(self.content)
        patterns = sorted({_pattern(name) for name in self.names})
        if "" in patterns or len(patterns) > _MOST_PATTERNS:
            return "Read a list of files, which may have any names: fn.readers.file(file_list=)."
        written = ", ".join(f'"{pattern}"' for pattern in patterns)
        return f"Pass file_filters=[{written}] to fn.readers.file, with those of other files."


def unread_files(
    source: str, results: Sequence[tuple[MediaFile, Checked]], others: Sequence[MediaFile]
) -> list[UnreadFiles]:
    """Return the files that readers leave out.

    Parameters
    ----------
    source : str
        The folder or the list. Files of lists are read whatever their names are.
    results : sequence of (MediaFile, Checked)
        Files that are images, sounds or videos.
    others : sequence of MediaFile
        Other files. Of members of archives only images count, since all else may belong to samples.
    """
    found: dict[tuple[str, str], list[str]] = {}
    for file, checked in results if os.path.isdir(source) else ():
        if file.place is None and not checked.reason and not _is_read(file):
            found.setdefault((file.kind, "name"), []).append(file.name)
    for file in others:
        content = file.content()
        if file.place is None or content.endswith(" image"):
            found.setdefault((content, "content"), []).append(file.name)
    return [
        UnreadFiles(content, reason, names)
        for (content, reason), names in sorted(found.items(), key=lambda entry: -len(entry[1]))
    ]


def _is_read(file: MediaFile) -> bool:
    """Return whether readers take a file of this name by default, as those of videos always do."""
    name = os.path.basename(file.name).lower()
    return file.kind == "video" or any(map(functools.partial(fnmatchcase, name), KNOWN_EXTENSIONS))


def _pattern(name: str) -> str:
    """Return the pattern of names with the same extension; empty without one."""
    extension = os.path.splitext(name)[1]
    return f"*{extension.lower()}" if extension and not set(extension) & set('*?["\\') else ""
