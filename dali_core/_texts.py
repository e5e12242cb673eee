"""Texts that the system and native code take, such as paths."""

from __future__ import annotations


def is_system_text(text: str) -> bool:
    """Return whether a text has no NUL character, and nothing that bytes cannot express.

    The system would take the part in front of a NUL for a path. Half of a pair of surrogates is no
    character; those that stand for bytes that are not UTF-8 are, as in `os.fsdecode`.
    """
    if "\0" in text:
        return False
    if text.isascii():
        return True
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True
