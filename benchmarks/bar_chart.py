"""A chart of bars for web pages: SVG that follows the light or dark theme of its reader."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_WIDTH = 760
_LABELS = 215
_BAR, _GAP, _HEADING = 24, 6, 34
_STYLE = """\
.card { fill: #ffffff; stroke: #d0d7de; }
text { font: 14px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
.heading { font-weight: 600; }
.first { fill: #1b6ca8; }
.other { fill: #8c959f; }
@media (prefers-color-scheme: dark) {
  .card { fill: #0d1117; stroke: #3d444d; }
  text { fill: #e6edf3; }
  .first { fill: #4aa3df; }
  .other { fill: #6e7681; }
}"""


def bar_chart(groups: Mapping[str, Mapping[str, float]], title: str, unit: str) -> str:
    """Draw groups of horizontal bars, of which the first of each is emphasized.

    Parameters
    ----------
    groups : mapping of mappings
        For each group, by its heading, a positive value for each name.
    title : str
        What assistive technology reads.
    unit : str
        Printed after the first value.

    Returns
    -------
    str
        A document in SVG, without references to anything outside of it.
    """
    longest = max(value for group in groups.values() for value in group.values())
    scale = (_WIDTH - _LABELS - 190) / longest
    lines, top = [], 14
    for heading, group in groups.items():
        lines.append(f'<text class="heading" x="20" y="{top + 18}">{escape(heading)}</text>')
        top += _HEADING
        for number, (name, value) in enumerate(group.items()):
            kind = "other" if number else "first"
            length, middle = value * scale, top + _BAR // 2 + 5
            lines += [
                f'<text x="{_LABELS - 10}" y="{middle}" text-anchor="end">{escape(name)}</text>',
                f'<rect class="{kind}" x="{_LABELS}" y="{top}" width="{length:.0f}" '
                f'height="{_BAR}" rx="3"/>',
                f'<text x="{_LABELS + length + 8:.0f}" y="{middle}">{value:,.0f}'
                f"{'' if number else f' {escape(unit)}'}</text>",
            ]
            top += _BAR + _GAP
        top += 8
    height = top + 6
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
            f'width="{_WIDTH}" height="{height}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{_STYLE}\n</style>",
            f'<rect class="card" x="0.5" y="0.5" width="{_WIDTH - 1}" height="{height - 1}" '
            'rx="8"/>',
            *lines,
            "</svg>\n",
        ]
    )
