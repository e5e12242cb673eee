"""`Outline`: a text of several lines, which notebooks show as a table."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dali_core._display.html import Markup, block, table, text

_NAMED = re.compile(r"(\w+ \d+): (.*)")


class Outline(str):
    """A text whose lines are ``name number: text``, or belong to the line above them.

    It is a `str` in every way; only notebooks show it as a table.
    """

    __slots__ = ()

    def _repr_html_(self) -> str:
        return block(table((), self._rows()))

    def _rows(self) -> Iterator[tuple[object, object]]:
        for line in self.split("\n"):
            found = _NAMED.fullmatch(line)
            if found is not None:
                yield found[1], found[2]
            else:
                depth = len(line) - len(line.lstrip())
                yield "", Markup(f'<span style="padding-left:{depth / 2}em">{text(line)}</span>')
