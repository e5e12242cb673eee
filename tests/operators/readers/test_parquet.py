"""Examples of `fn.readers.parquet`, which needs pyarrow only when they are made."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.operators.suite import Example


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    """Write two files, and return arguments that read them."""
    pytest.importorskip("pyarrow", reason="not available: pyarrow")
    from tests.operators.readers.parquet.tables import numbered, write

    paths = [
        write(folder / "a.parquet", numbered(7), 3),
        write(folder / "b.parquet", numbered(4, 7), 2),
    ]
    return {"paths": paths, "columns": ["number", "image"], **arguments}


EXAMPLES = [
    Example("pairs", (), partial(example, random_shuffle=True)),
    Example("single", (), partial(example, columns="points")),
    Example("rows", (), partial(example, sampler=[7, 2, 10, 2, 0])),
]


def test_examples_name_columns(tmp_path: Path) -> None:
    for one in EXAMPLES:
        assert callable(one.arguments)
        assert one.arguments(tmp_path)["columns"]
