"""Names with a ``*`` in them, each match of which is a sample."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from dali_core.errors import ArgumentValueError


def has_pattern(names: Sequence[str]) -> bool:
    """Return whether there is a ``*`` in any of the names."""
    return any("*" in name for name in names)


def matches_of(patterns: Sequence[str], names: Iterable[str]) -> list[list[str]]:
    """Find the names that patterns match, a list with one for each pattern for every match.

    Parameters
    ----------
    patterns : sequence of str
        Each has one ``*``, which stands for any text without a slash. The text is the same for all
        patterns of a match: ``"latent_*"`` and ``"text_*"`` find ``latent_7`` and ``text_7``.
    names : iterable of str
        The names that there are.

    Returns
    -------
    list of list of str
        In natural order: ``a_2`` before ``a_10``.

    Raises
    ------
    ArgumentValueError
        If a pattern has no ``*`` or more than one.
    ValueError
        If one pattern matches what another does not.
    """
    for pattern in patterns:
        if pattern.count("*") != 1:
            raise ArgumentValueError(
                f"patterns must each have one '*' if one of them has (got {pattern!r}). Use one "
                "wildcard, the same part of all names."
            )
    present = list(names)
    found: list[dict[str, str]] = []
    for pattern in patterns:
        before, after = map(re.escape, pattern.split("*"))
        compiled = re.compile(f"{before}([^/]*){after}", re.DOTALL)
        matches = ((compiled.fullmatch(name), name) for name in present)
        found.append({match[1]: name for match, name in matches if match})
    texts = sorted(found[0], key=natural_key)
    for pattern, by_text in zip(patterns, found, strict=True):
        if by_text.keys() != found[0].keys():
            differing = sorted(by_text.keys() ^ found[0].keys())[0]
            raise ValueError(
                f"{pattern!r} must match for the same texts as {patterns[0]!r} (only one does for "
                f"{differing!r})"
            )
    return [[by_text[text] for by_text in found] for text in texts]


def natural_key(text: str) -> list[tuple[int, str]]:
    """Return a key that sorts numbers within texts by their values."""
    parts = re.split(r"([0-9]+)", text)
    # A number before it, its length says which is larger, without making an integer of it.
    return [
        (len(part.lstrip("0")) if number % 2 else 0, part.lstrip("0") if number % 2 else part)
        for number, part in enumerate(parts)
    ] + [(0, text)]
