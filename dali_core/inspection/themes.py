"""Styles of pages and of what notebooks show, whose themes are dark or light."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_TEMPLATES = Path(__file__).with_name("templates")


@cache
def style_sheet() -> str:
    """Return the style of all elements."""
    return _TEMPLATES.joinpath("style.css").read_text("utf-8")


@cache
def notebook_style() -> str:
    """Return the style within notebooks, which takes the colors of their theme."""
    return style_sheet() + _TEMPLATES.joinpath("notebook.css").read_text("utf-8")


def in_notebook(markup: str) -> str:
    """Put an element into the style of notebooks."""
    style = f"<style>{notebook_style()}</style>"
    return f'{style}<div class="dali-core notebook"><div class="scroll">{markup}</div></div>'
