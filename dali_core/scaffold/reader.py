"""Starts a package of its own with a reader of a format."""

from __future__ import annotations

from pathlib import Path
from string import Template

from dali_core.errors import ArgumentValueError
from dali_core.scaffold.operator import checked_name, cpp_class

_PROJECT = Template("""\
[build-system]
requires = ["setuptools>=80"]
build-backend = "setuptools.build_meta"

[project]
name = "$name"
version = "0.1.0"
description = "A reader for dali_core."
requires-python = ">=3.10"
dependencies = ["dali_core"]

[project.entry-points."dali_core.readers"]
$name = "$name:$class_name"

[tool.setuptools]
packages = ["$name"]

[tool.setuptools.package-data]
$name = ["py.typed", "*.pyi"]
""")

_FORMAT = Template('''\
"""A reader for dali_core: `fn.readers.$name`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from dali_core.readers import (
    STORAGE_ARGS,
    Arg,
    ByteRanges,
    DataSource,
    FetchedSource,
    Format,
    Range,
    Storage,
    fingerprint_of,
)
from numpy.typing import NDArray


class $class_name(Format):
    """Rows of float32, one after the other."""

    name = "readers.$name"
    doc = """Read rows of float32 from files that have nothing else.

Returns
-------
DataNode
    The rows, 1-D."""
    args = (
        Arg("paths", list[str], "Paths or URLs of the files, whose rows come in this order."),
        Arg("columns", int, "How many numbers a row has.", range=Range(1, 1 << 20)),
        *STORAGE_ARGS,
    )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the rows."""
        return _Rows(ByteRanges(arguments["paths"], storage), arguments["columns"])


class _Rows(FetchedSource):
    def __init__(self, files: ByteRanges, columns: int) -> None:
        self._files = files
        self._num_bytes = 4 * columns
        counts = [size // self._num_bytes for size in files.sizes]
        self._ends: NDArray[np.int64] = np.cumsum(counts)

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def fingerprint(self) -> str:
        """Names and sizes of the files."""
        return fingerprint_of(self._files.names, self._files.sizes)

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Read some rows; an exception makes bad samples."""
        files = np.searchsorted(self._ends, indices, side="right")
        rows = []
        for file, index in zip(files.tolist(), indices, strict=True):
            row = index - (int(self._ends[file - 1]) if file else 0)
            data = self._files.read(file, row * self._num_bytes, self._num_bytes)
            rows.append(np.frombuffer(data, "<f4"))
        return rows
''')

_FUNCTIONS = Template('''\
"""The reader of this package as a function: that of `dali_core.fn`, for type checkers."""

from __future__ import annotations

from dali_core import fn as _fn

$name = _fn.readers.$name
''')

_TEST = Template('''\
"""Rows of float32."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from dali_core import Pipeline, fn
from dali_core.testing import ReaderSuite

from $name import $class_name


class Test$class_name(ReaderSuite):
    format = $class_name()
    num_samples = 10

    def write(self, folder: Path) -> dict[str, Any]:
        np.arange(28, dtype="<f4").tofile(folder / "a.rows")
        np.arange(28, 40, dtype="<f4").tofile(folder / "b.rows")
        return {"paths": [str(folder / name) for name in ("a.rows", "b.rows")], "columns": 4}

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "b.rows").write_bytes(b"")
        return dict.fromkeys(range(7, 10), "b.rows': the file must be as long")


def test_rows(tmp_path: Path) -> None:
    np.arange(6, dtype="<f4").tofile(tmp_path / "a.rows")
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.readers.$name(paths=[str(tmp_path / "a.rows")], columns=3))
    (rows,) = pipeline.run()
    assert rows.as_array().tolist() == [[0, 1, 2], [3, 4, 5]]
''')


def create_reader(name: str, root: Path) -> list[Path]:
    """Write the files of a package with one reader.

    Parameters
    ----------
    name : str
        Name of the package, of its folder, and of its function below `fn.readers`.
    root : Path
        Where its folder is put.

    Returns
    -------
    list of Path
        What was written.

    Raises
    ------
    ArgumentValueError
        If the name is bad, or there is such a folder. Nothing is written then.
    """
    if len(checked_name(name)) != 1:
        raise ArgumentValueError(
            f"scaffold: a reader's name must have no dots (got {name!r}). Leave them out."
        )
    folder = root / name
    if folder.exists():
        raise ArgumentValueError(
            f"scaffold: {name!r} must be a new folder ({folder} exists). Choose another name."
        )
    words = {"name": name, "class_name": cpp_class([name]).removesuffix("Operator")}
    templates = {
        "pyproject.toml": _PROJECT,
        f"{name}/__init__.py": _FORMAT,
        f"{name}/fn.py": _FUNCTIONS,
        f"{name}/py.typed": Template(""),
        f"tests/test_{name}.py": _TEST,
    }
    for file, template in templates.items():
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text(template.substitute(words), "utf-8")
    return [folder / file for file in templates]
