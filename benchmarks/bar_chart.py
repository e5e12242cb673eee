"""A chart of bars for web pages: SVG that follows the light or dark theme of its reader."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

_WIDTH = 760
_LETTER = 7.6
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


def bar_chart(
    groups: Mapping[str, Mapping[str, float]], title: str, unit: str, *, emphasized: bool = True
) -> str:
    """Draw groups of horizontal bars.

    Parameters
    ----------
    groups : mapping of mappings
        For each group, by its heading, a positive value for each name.
    title : str
        What assistive technology reads.
    unit : str
        Printed after the first value.
    emphasized : bool
        Whether the first bar of each group has another color.

    Returns
    -------
    str
        A document in SVG, without references to anything outside of it.
    """
    longest = max(value for group in groups.values() for value in group.values())
    names = [name for group in groups.values() for name in group]
    labels = 34 + min(330, round(_LETTER * max(map(len, names))))
    scale = (_WIDTH - labels - 80 - _LETTER * len(unit)) / longest
    lines, top = [], 14
    for heading, group in groups.items():
        lines.append(f'<text class="heading" x="20" y="{top + 18}">{escape(heading)}</text>')
        top += _HEADING
        for number, (name, value) in enumerate(group.items()):
            kind = "other" if number and emphasized else "first"
            length, middle = value * scale, top + _BAR // 2 + 5
            lines += [
                f'<text x="{labels - 10}" y="{middle}" text-anchor="end">'
                f"{escape(_short(name))}</text>",
                f'<rect class="{kind}" x="{labels}" y="{top}" width="{length:.0f}" '
                f'height="{_BAR}" rx="3"/>',
                f'<text x="{labels + length + 8:.0f}" y="{middle}">{_number(value)}'
                f"{'' if number or not unit else f' {escape(unit)}'}</text>",
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


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _short(name: str, most: int = 43) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"
