"""HTML for notebooks, in the colors of their theme, dark or light."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from dali_core._messages import printable

_BAR = "#3d85c6"  # visible on both white and black
_LINE = "rgba(128,128,128,.45)"
_TRACK = "rgba(128,128,128,.25)"


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: object) -> Markup:
    """Return a value as HTML: escaped, and with invisible characters written out."""
    if isinstance(value, Markup):
        return value
    return Markup(escape(printable(str(value), keeps_lines=True)))


def block(*parts: object) -> str:
    """Put parts below each other; colors are those of the text around them."""
    inner = "".join(part if isinstance(part, Markup) else f"<p>{text(part)}</p>" for part in parts)
    return f'<div style="color:inherit;overflow-x:auto">{inner}</div>'


def table(
    header: Sequence[object], rows: Iterable[Sequence[object]], *, caption: object = ""
) -> Markup:
    """Return a table, whose first column has the names of the rows.

    Parameters
    ----------
    header : sequence
        Names of the columns; empty for none.
    rows : iterable of sequence
        The cells.
    caption : object
        A text above the table.
    """
    cell = f"border-bottom:1px solid {_LINE};padding:2px 10px;vertical-align:top"
    titles = "".join(f'<th scope="col" style="{cell}">{text(title)}</th>' for title in header)
    lines = [
        "".join(
            f'<th scope="row" style="{cell};text-align:left">{text(value)}</th>'
            if number == 0
            else f'<td style="{cell};text-align:left">{text(value)}</td>'
            for number, value in enumerate(row)
        )
        for row in rows
    ]
    return Markup(
        '<table style="border-collapse:collapse;color:inherit;background:transparent">'
        + (f'<caption style="text-align:left">{text(caption)}</caption>' if caption else "")
        + (f"<thead><tr>{titles}</tr></thead>" if titles else "")
        + "<tbody>"
        + "".join(f'<tr style="background:transparent">{line}</tr>' for line in lines)
        + "</tbody></table>"
    )


def bar(share: float) -> Markup:
    """Return a bar whose length is a share, with the share in percent."""
    width = 100 * min(1.0, max(0.0, share))
    return Markup(
        '<span style="white-space:nowrap">'
        f'<span style="background:{_TRACK};display:inline-block;height:9px;width:80px">'
        f'<span style="background:{_BAR};display:block;height:9px;width:{width:.1f}%"></span>'
        f"</span> {100 * share:.0f} %</span>"
    )


def image(url: str, width: int, height: int, label: str) -> Markup:
    """Return a picture."""
    return Markup(
        f'<img src="{escape(url)}" width="{width}" height="{height}" alt="{text(label)}" '
        'style="display:inline-block;image-rendering:pixelated;margin:2px">'
    )
