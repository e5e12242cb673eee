"""How messages show values that may be anything."""

from __future__ import annotations


def shown(value: object, most: int = 200) -> str:
    """Return a value as text, shortened to `most` characters.

    Python refuses to write integers of very many digits.
    """
    try:
        text = repr(value)
    except ValueError:
        text = f"{type(value).__name__} with a number of too many digits"
    return text if len(text) <= most else f"{text[: most - 3]}..."
