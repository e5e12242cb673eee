"""What Sphinx and its theme leave out of pages that everybody can use."""

from __future__ import annotations

import re

# Captions of the navigation say that they are headings, and not of which level.
_CAPTION = re.compile(r'<p class="caption" role="heading">')
# What scrolls has to be reached by the keyboard.
_SCROLLS = re.compile(r'<(pre|div class="table-wrapper[^"]*")(?=[ >])(?! tabindex)')
# Arguments below each other are a list, but not one of terms and definitions.
_ARGUMENTS = re.compile(r'<dl>\s*<dd><em class="sig-param">.*?</dl>', re.DOTALL)


def accessible(page: str) -> str:
    """Return a page in HTML with the attributes that assistive technology needs."""
    page = _CAPTION.sub('<p class="caption" role="heading" aria-level="2">', page)
    page = _SCROLLS.sub(r'<\1 tabindex="0"', page)
    return _ARGUMENTS.sub(_as_list, page)


def _as_list(found: re.Match[str]) -> str:
    return found[0].replace("<dl>", '<dl role="list">').replace("<dd>", '<dd role="listitem">')
