"""Output of the live view: a block of lines that is redrawn on a terminal, lines elsewhere."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import TextIO

from dali_core.monitoring.snapshot import Snapshot
from dali_core.monitoring.view import view_line, view_lines


class Screen:
    """Shows states of pipelines.

    Parameters
    ----------
    file : text file
        Where to write.

    Attributes
    ----------
    is_terminal : bool
        Whether lines are redrawn.
    """

    def __init__(self, file: TextIO) -> None:
        self._file = file
        self.is_terminal = file.isatty()
        self._drawn: list[str] = []

    def show(self, states: Sequence[Snapshot], before: Sequence[Snapshot | None]) -> None:
        """Draw pipelines in the place of what was drawn last; `before` are their earlier states."""
        pairs = list(zip(states, before, strict=True))
        if not self.is_terminal:
            self._write("".join(f"{view_line(now, earlier)}\n" for now, earlier in pairs))
            return
        erased = self._erased()
        width = shutil.get_terminal_size().columns - 1  # a full line would wrap
        is_unicode = (self._file.encoding or "").lower().startswith("utf")
        self._drawn = [
            line
            for now, earlier in pairs
            for line in view_lines(now, earlier, width, is_unicode=is_unicode)
        ]
        self._write(erased + self._block())

    def print_above(self, text: str) -> None:
        """Print a text above what is drawn."""
        self._write(f"{self._erased()}{text}\n{self._block()}")

    def keep(self) -> None:
        """Leave what is drawn as it is."""
        self._drawn = []

    def _erased(self) -> str:
        """Return what moves the cursor to the first line that was drawn, and clears the rest."""
        return f"\x1b[{len(self._drawn)}F\x1b[J" if self._drawn else ""

    def _block(self) -> str:
        return "".join(f"{line}\n" for line in self._drawn)

    def _write(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()
