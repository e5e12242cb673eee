"""A type checker knows what the batches of loaders are."""

from __future__ import annotations

import re
from pathlib import Path

from mypy import api

PROGRAM = """
import dali_core
from dali_core import Loader as NumPyLoader, Pipeline
from dali_core.pytorch import Loader, audio_folder, csv_folder, image_folder


def known(pipeline: Pipeline) -> None:
    images, labels = next(iter(Loader(pipeline)))
    reveal_type(images)
    reveal_type(next(iter(Loader(pipeline, ("a", "b"), as_dict=True, last_batch="drop"))))
    reveal_type(next(iter(NumPyLoader([pipeline], device=None))))
    reveal_type(next(iter(NumPyLoader(pipeline, as_dict=True, labels=()))))
    loader = Loader(pipeline, channels_last=True)
    reveal_type(loader.classes)
    reveal_type(len(loader))


def folders() -> None:
    reveal_type(next(iter(image_folder("a", size=64, batch_size=8))))
    reveal_type(next(iter(image_folder("a", as_dict=True))))
    images, labels, names = next(iter(image_folder("a", file_names=True)))
    reveal_type(names)
    image, *columns, names = next(iter(csv_folder("a.csv", file_names=True)))
    reveal_type(names)
    reveal_type(next(iter(audio_folder("a", file_names=True))))


def train(loader: Loader) -> None:
    for batch in loader:
        reveal_type(batch)


def evaluate(loader: Loader[dict[str, str]]) -> None:
    for batch in loader:
        reveal_type(batch["a"])


def wrong(pipeline: Pipeline) -> None:
    Loader(pipeline, last_batch="some")
    Loader(pipeline, last="drop")
    Loader(pipeline, steps_per_epoch="3")
    train(Loader(pipeline, as_dict=True))
    dali_core.Loadr
    image_folder("a", sizes=64)
"""

KNOWN = [
    "torch._tensor.Tensor",
    "dict[str, torch._tensor.Tensor]",
    "tuple[numpy.ndarray, ...]",
    "dict[str, numpy.ndarray]",
    "list[str]",
    "int",
    "tuple[torch._tensor.Tensor, ...]",
    "dict[str, torch._tensor.Tensor]",
    "list[str]",
    "list[str]",
    "tuple[torch._tensor.Tensor, torch._tensor.Tensor, list[str]]",
    "tuple[torch._tensor.Tensor, ...]",
    "str",
]


def test_batches_have_types(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, "utf-8")
    output, errors, _ = api.run(["--strict", "--hide-error-context", str(path)])
    assert errors == ""
    found = re.findall(r'note: Revealed type is "(.*)"', output)
    assert [_short(kind) for kind in found] == KNOWN
    wrong = re.findall(r"program.py:(\d+): error:", output)
    first = 2 + PROGRAM[: PROGRAM.index("def wrong")].count("\n")
    assert sorted(set(map(int, wrong))) == list(range(first, first + 6)), output


def _short(kind: str) -> str:
    """Return a type without the modules and parameters whose text depends on versions."""
    kind = kind.replace("builtins.", "").replace("typing.", "")
    return re.sub(r"ndarray\[.*\](?=[,\]])", "ndarray", kind)
