"""Reads damaged annotations: ``python -m tests.mutated_annotations FIRST COUNT``.

Each depends only on its number: a JSON file, or a folder of preprocessed annotations with a damaged
file. The outcome is an error of this library, or samples whose parts belong together.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from dali_core.errors import DaliCoreError
from tests.operators.readers.coco_files import write_data_set

MEMORY = 1 << 26
"""Limit of what the library allocates: masks of enormous extents are errors."""

MASKS: tuple[dict[str, bool], ...] = ({}, {"polygon_masks": True}, {"pixelwise_masks": True})
_LETTERS = '0123456789-+.eE{}[],:" xn\\'
_NUMBERS = ("1e999", "-1", "0", "NaN", "Infinity", "null", "[]", "{}", '"a"', "99999999999", "2.5")


def outcomes(folder: Path, first: int, count: int) -> Counter[str]:
    """Read damaged annotations, and count the outcomes.

    Raises
    ------
    AssertionError
        If samples do not belong together.
    """
    sound = write_data_set(folder)
    saved = folder / "saved"
    saved.mkdir()
    arguments = {
        "save_preprocessed_annotations": True,
        "save_preprocessed_annotations_dir": str(saved),
    }
    _read({**sound, **arguments})
    text = Path(sound["annotations_file"]).read_text()
    counts: Counter[str] = Counter()
    for number in range(first, first + count):
        chance = random.Random(number)
        masks = MASKS[number % 3]
        if number % 2:
            (folder / "damaged.json").write_text(damaged_text(text, chance))
            given = {**sound, "annotations_file": str(folder / "damaged.json")}
        else:
            damaged = folder / "damaged"
            shutil.copytree(saved, damaged, dirs_exist_ok=True)
            damage_file(chance.choice(sorted(damaged.iterdir())), chance)
            given = {"file_root": str(folder), "preprocessed_annotations": str(damaged)}
        options = {name: bool(chance.randrange(2)) for name in ("image_ids",)}
        if number % 2:
            options |= {name: bool(chance.randrange(2)) for name in ("ratio", "ltrb", "skip_empty")}
        try:
            _read({**given, **masks, **options})
            counts["samples"] += 1
        except DaliCoreError:
            counts["error"] += 1
    return counts


def damaged_text(text: str, chance: random.Random) -> str:
    """Replace letters, or numbers and other values of a JSON file; or cut it."""
    how = chance.randrange(4)
    if how == 0:
        return text[: chance.randrange(len(text))]
    if how == 1:
        letters = list(text)
        for _ in range(chance.randrange(1, 6)):
            letters[chance.randrange(len(letters))] = chance.choice(_LETTERS)
        return "".join(letters)
    data = json.loads(text)
    holder: Any = data
    while True:
        keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
        key = chance.choice(keys)
        below = holder[key]
        if how == 2 and isinstance(holder, dict) and not chance.randrange(4):
            del holder[key]
            return json.dumps(data)
        if not isinstance(below, (dict, list)) or not below or not chance.randrange(6):
            holder[key] = "@"
            return json.dumps(data).replace('"@"', chance.choice(_NUMBERS), 1)
        holder = below


def damage_file(path: Path, chance: random.Random) -> None:
    """Remove a file, cut it, or change some of its bits or numbers."""
    data = bytearray(path.read_bytes())
    how = chance.randrange(4)
    if how == 0:
        path.unlink()
        return
    at = chance.randrange(len(data))
    if how == 1:
        del data[at:]
    elif how == 2:
        data[at] ^= 1 << chance.randrange(8)
    else:
        data[at : at + 4] = chance.choice((b"\xff" * 4, bytes(4), b"\1\0\0\0", b"\0\0\0\x80"))
    path.write_bytes(data)


def _read(arguments: dict[str, Any]) -> None:
    with Pipeline(4, 1, None, prefetch_queue_depth=1) as pipeline:
        pipeline.set_outputs(*fn.readers.coco(**arguments))
    try:
        batch = pipeline.run()
        for sample in range(4):
            _check(arguments, [np.array(output.at(sample)) for output in batch[1:]])
    finally:
        pipeline.close()


def _check(arguments: dict[str, Any], sample: list[np.ndarray]) -> None:
    boxes, labels = sample[:2]
    assert boxes.shape == (len(labels), 4)
    assert np.isfinite(boxes).all()
    if arguments.get("polygon_masks"):
        polygons, vertices = sample[2:4]
        ends = polygons[:, 2]
        assert (polygons[:, 0] < len(labels)).all()
        assert (polygons[:, 1] == np.concatenate([[0], ends[:-1]])[: len(ends)]).all()
        assert (ends[-1] if len(ends) else 0) == len(vertices)
        assert np.isfinite(vertices).all()
    if arguments.get("pixelwise_masks"):
        assert set(np.unique(sample[2])) <= {0, *labels.tolist()}


def main() -> None:
    os.environ["DALI_CORE_MEMORY_LIMIT"] = str(MEMORY)
    first, count = map(int, sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        print(dict(outcomes(Path(folder), first, count)))


if __name__ == "__main__":
    main()
