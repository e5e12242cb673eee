"""`fn.readers.parquet` keeps the contract of readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="not available: pyarrow")
pytest.importorskip("fsspec", reason="not available: fsspec")

from dali_core._readers.formats.parquet import Parquet
from dali_core.testing import ReaderSuite
from tests.operators.readers.parquet.tables import numbered, write


class TestParquet(ReaderSuite):
    format = Parquet()
    num_samples = 11

    def write(self, folder: Path) -> dict[str, Any]:
        paths = [
            write(folder / "a.parquet", numbered(7), 3),
            write(folder / "b.parquet", numbered(4, 7), 2),
        ]
        return {"paths": paths, "columns": ["number", "image"]}

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "b.parquet").write_bytes(b"")
        return {n: f"b.parquet', row group {(n - 3) // 2 - 2}" for n in range(7, 11)}
