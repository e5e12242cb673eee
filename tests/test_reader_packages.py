"""Readers of other packages: scaffolded, found by name, refused if they do not fit."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, readers
from dali_core.errors import ArgumentValueError, OperatorPackageError, StateMismatchError
from dali_core.scaffold import create_reader
from dali_core.scaffold.command import main
from tests.test_operator_packages import ROOT, python, register
from tests.test_scaffold import BAD_NAMES

USE = """
import sys
import numpy as np
import dali_core
from dali_core import Pipeline, fn, ops
from dali_core.errors import ArgumentTypeError, ArgumentValueError

assert "my_format" not in sys.modules, "packages are imported when they are used"
np.arange(12, dtype="<f4").tofile("a.rows")
with Pipeline(2, 2, None) as pipeline:
    function = fn.readers.my_format(paths=["a.rows"], columns=3, random_shuffle=True, seed=1)
    made = ops.readers.MyFormat(paths=["a.rows"], columns=3, random_shuffle=True, seed=1)
    pipeline.set_outputs(function, made())
for each in (pipeline, Pipeline.deserialize(pipeline.serialize())):
    first, second = each.run()
    assert first.as_array().tolist() == second.as_array().tolist()
    print(int(first.as_array()[:, 0].sum()))
for wrong in ({"column": 1}, {"columns": 0, "paths": ["a"]}, {"columns": 3, "paths": ["none"]}):
    try:
        with Pipeline(1, 1, None) as pipeline:
            pipeline.set_outputs(fn.readers.my_format(**wrong))
        pipeline.build()
    except (ArgumentTypeError, ArgumentValueError) as error:
        print(type(error).__name__, str(error).partition(": ")[0].partition(" at ")[0])
print("\\ncolumns : int" in fn.readers.my_format.__doc__, fn.readers.my_format.__module__)
"""


class Numbers(readers.Format):
    """Numbers up to a limit, for tests of listings."""

    name = "readers.numbers_for_tests"
    doc = "Give numbers."
    args = (readers.Arg("count", int, "How many."), readers.Arg("version", str, "Of the data."))

    def open(self, arguments: Any, storage: readers.Storage) -> readers.DataSource:
        return _Numbers(arguments["count"], arguments["version"])


class _Numbers(readers.FetchedSource):
    def __init__(self, count: int, version: str) -> None:
        self._count, self._version = count, version

    def __len__(self) -> int:
        return self._count

    @property
    def fingerprint(self) -> str:
        return readers.fingerprint_of(self._version)

    def fetch(self, index: int) -> Any:
        return np.int64(index)


def made(version: str, count: int = 10) -> Pipeline:
    readers.register(Numbers)
    with Pipeline(2, 1, None) as pipeline:
        pipeline.set_outputs(fn.readers.numbers_for_tests(count=count, version=version))
    return pipeline


def describe(folder: Path, package: str, text: str) -> None:
    (folder / f"{package}.py").write_text(text)
    register(folder, package)
    points = folder / f"{package}-0.1.0.dist-info" / "entry_points.txt"
    points.write_text(f"[dali_core.readers]\n{package} = {package}:form\n")


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a scaffolded package; return the folder that Python finds it in."""
    root = tmp_path_factory.mktemp("package")
    create_reader("my_format", root)
    folder = root / "my_format"
    register(folder, "my_format")
    points = folder / "my_format-0.1.0.dist-info" / "entry_points.txt"
    said = (folder / "pyproject.toml").read_text("utf-8")
    (line,) = re.findall(r'"dali_core.readers"\]\n(my_format = ".*")\n', said)
    points.write_text(f"[dali_core.readers]\n{line.replace(chr(34), '')}\n")
    return folder


def test_package_reader_is_found_by_name(package: Path) -> None:
    done = python(package, "-c", USE)
    assert done.returncode == 0, done.stderr
    first, second, *rest = done.stdout.splitlines()
    assert first == second
    assert rest == [
        "ArgumentKeyError fn.readers.my_format",
        "ArgumentValueError fn.readers.my_format",
        "ArgumentValueError fn.readers.my_format",
        "True dali_core.fn.readers",
    ]


def test_tests_of_the_package_pass(package: Path) -> None:
    done = python(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout


def test_stub_and_style(package: Path) -> None:
    assert python(package, "-m", "dali_core._stubs", "--package", "my_format").returncode == 0
    text = (package / "my_format" / "fn.pyi").read_text()
    assert "def my_format(" in text
    assert "columns: Int," in text
    assert "paths: Strs," in text
    done = python(package, "-c", "from my_format.fn import my_format; print(my_format.__name__)")
    assert done.stdout.strip() == "my_format", done.stderr
    lengths = [len(file.read_text("utf-8").splitlines()) for file in package.glob("*/*.py")]
    assert sum(lengths) <= 150


def test_readers_that_cannot_be_loaded(tmp_path: Path) -> None:
    describe(tmp_path, "first", "import nothing_like_this")
    describe(
        tmp_path,
        "second",
        "import numpy as np\n"
        "from dali_core.readers import *\n"
        "class Zeros(FetchedSource):\n"
        "    def __len__(self): return 4\n"
        "    def fetch_many(self, indices): return [np.zeros(2)] * len(indices)\n"
        "class form(Format):\n"
        "    name, doc, args = 'readers.zeros', 'Give zeros.', ()\n"
        "    def open(self, arguments, storage): return Zeros()\n",
    )
    program = (
        "import sys; from dali_core import Pipeline, fn; fn.readers.file\n"
        "print('second' in sys.modules)\n"
        "with Pipeline(4, 1, None) as pipeline: pipeline.set_outputs(fn.readers.zeros())\n"
        "print(pipeline.run()[0].as_array().shape, hasattr(fn.readers, 'others'))\n"
        "fn.readers.others"
    )
    done = python(tmp_path, "-c", program)
    assert done.stdout.splitlines() == ["False", "(4, 2) False"], done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert "'dali_core.fn.readers' has no attribute 'others', and a package" in last
    assert "(dali_core.readers: first = 'first:form'; got ModuleNotFoundError" in last


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (3, r"must be a class derived from dali_core\.readers\.Format, or an object .*got 3"),
        (int, "must be a class derived from"),
        (type("Wrong", (Numbers,), {"name": "numbers"}), "must be 'readers.' and a word in lower"),
        (type("Wrong", (Numbers,), {"name": "readers.A"}), "Wrong.name must be 'readers.'"),
        (type("Taken", (Numbers,), {"name": "readers.parquet"}), "must have a name of its own"),
    ],
)
def test_wrong_readers_are_refused(given: Any, message: str) -> None:
    with pytest.raises(OperatorPackageError, match=message):
        readers.register(given)


def test_states_know_the_data_set_by_its_fingerprint() -> None:
    pipeline = made("1")
    expected = [pipeline.run()[0].as_array().tolist() for _ in range(2)]
    state = json.loads(json.dumps(pipeline.state_dict()))
    after = pipeline.run()[0].as_array().tolist()
    assert after not in expected
    again = made("1")
    again.load_state_dict(state)
    assert again.run()[0].as_array().tolist() == after
    message = "the files of fn.readers.numbers_for_tests.* must be as in the state .got"
    with pytest.raises(StateMismatchError, match=message):
        made("2").load_state_dict(state)
    # Of a version of the library that knew none.
    del state["readers"][0]["fingerprint"]
    made("2").load_state_dict(state)


@pytest.mark.parametrize("name", [*BAD_NAMES, "a.b"])
def test_bad_names_raise(name: str, tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match=r"must consist of words|must have no dots"):
        create_reader(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_command_prints_the_next_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reader", "my_format", "--root", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert "my_format/tests/test_my_format.py" in output
    assert "pip install" in output
    assert main(["reader", "my_format", "--root", str(tmp_path)]) == 2
    assert "must be a new folder" in capsys.readouterr().err


def test_import_loads_no_entry_point() -> None:
    program = "import sys, dali_core, dali_core.readers; print('importlib.metadata' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
