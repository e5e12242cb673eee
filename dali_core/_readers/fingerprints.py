"""Fingerprints of listings, by which states know their data set."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def fingerprint_of(*parts: Any) -> str:
    """Return a short text that is the same for equal parts only.

    Parameters
    ----------
    *parts : object
        Names, sizes and versions: texts, numbers, None, and lists, tuples and dicts of them.
    """
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]
