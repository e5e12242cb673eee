"""Damages plain data, the same way for the same seed, like malicious documents."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

NUMBERS = (
    *(0, 1, -1, 2, 255, 2**31 - 1, 2**31, -(2**31) - 1, 2**32 + 1, 2**53, 2**61 + 1, 2**62 + 1),
    *(2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**400, -(10**400)),
    *(0.5, -0.5, -0.0, 1e-320, 1e39, -1e39, 1e300, 2.0**70),
)
TEXTS = ("", "x", "HWC", "cpu", "gpu", "name", "\0", "\ud800", "é" * 40, "../..", "1", "NaN")
OBJECTS: tuple[Any, ...] = (
    {},
    {"float": "nan"},
    {"float": "inf"},
    {"enum": "DALIDataType.FLOAT"},
    {"enum": "DALIInterpType.INTERP_GAUSSIAN"},
    {"bytes": "AAE="},
    {"array": {"dtype": "float32", "shape": [2], "data": "AACAPwAAAEA="}},
    {"array": {"dtype": "int64", "shape": [2**62, 4], "data": ""}},
    {"dict": {"cpu_size": 2**70, "gpu_size": 1}},
)
STRANGE: tuple[Any, ...] = (None, True, False, *NUMBERS, *TEXTS, [], [[]], [None], *OBJECTS)

_Place = tuple[Any, Any]  # a list or dict, and an index or key of it


def places(value: Any, weight: int = 1) -> list[_Place]:
    """Return all positions in plain data; arguments of operators several times."""
    found: list[_Place] = []
    steps = value.items() if isinstance(value, dict) else ()
    for key, inner in enumerate(value) if isinstance(value, list) else steps:
        found += [(value, key)] * weight
        found += places(inner, 8 if key == "arguments" else weight)
    return found


def mutated(value: Any, seed: int) -> Any:
    """Return a copy of plain data that differs in one to three positions."""
    draw = random.Random(seed)
    changed = copy.deepcopy(value)
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        found = places(changed)
        if not found:
            break
        owner, key = draw.choice(found)
        kind = draw.random()
        if kind < 0.1:
            del owner[key]
        elif kind < 0.2:  # a value of another position
            other, name = draw.choice(found)
            owner[key] = copy.deepcopy(other[name])
        elif kind < 0.25 and isinstance(owner, dict):
            owner[draw.choice((*TEXTS, str(key) + "x"))] = owner.pop(key)
        elif kind < 0.3 and isinstance(owner, list):
            owner.insert(key, copy.deepcopy(draw.choice(STRANGE)))
        elif kind < 0.45 and type(owner[key]) in (int, float):
            owner[key] = owner[key] + draw.choice(NUMBERS[:14])
        elif kind < 0.5:
            owner[key] = [owner[key]]
        else:
            owner[key] = copy.deepcopy(draw.choice(STRANGE))
    return changed


def mutated_text(value: Any, seed: int) -> bytes:
    """Return plain data as damaged JSON; one in ten also has damaged bytes."""
    draw = random.Random(seed)
    text = bytearray(json.dumps(mutated(value, seed)).encode())
    if draw.random() < 0.1:
        for _ in range(draw.randint(1, 4)):
            text[draw.randrange(len(text))] = draw.randrange(256)
    return bytes(text)
