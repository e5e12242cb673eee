"""Operators of other packages: built by themselves, found by name, refused if they do not fit."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dali_core import fn, plugin_manager
from dali_core._registry.packages import Packages
from dali_core.errors import OperatorPackageError
from dali_core.operator_packages import Native, OperatorPackage, OpSpec
from dali_core.scaffold import create_package
from dali_core.scaffold.command import main
from tests.compiled_programs import compiler, require_compiler
from tests.test_scaffold import BAD_NAMES

ROOT = Path(__file__).parents[1]
INCLUDE = ROOT / "dali_core" / "include"
HASHES = Path(__file__).with_name("operator_abi.json")

USE = """
import sys
import numpy as np
import dali_core
from dali_core import Pipeline, fn, ops
from dali_core.errors import ArgumentTypeError, ArgumentValueError

assert "my_ops" not in sys.modules, "packages are imported when they are used"
pipeline = Pipeline(batch_size=2, num_threads=2, device_id=None)
with pipeline:
    image = fn.external_source(name="image", layout="HWC")
    factor = fn.external_source(name="factor")
    turned = fn.flip(fn.my.solarize(fn.flip(image), factor=factor), vertical=1)
    pipeline.set_outputs(turned, ops.my.Solarize(factor=2)(image))
document = pipeline.serialize()
again = Pipeline.deserialize(document)
images = [np.full((2, 3, 3), value, np.uint8) for value in (100, 200)]
for each in (pipeline, again):
    each.feed_input("image", images)
    each.feed_input("factor", [np.float32(0.5), np.float32(3)])
    print(*(int(np.array(batch.at(i)).max()) for batch in each.run() for i in range(2)))
for wrong in ({"factr": 1}, {"factor": "x"}, {"factor": float("inf")}):
    try:
        with Pipeline(1, 1, None):
            fn.my.solarize(np.zeros(3, np.uint8), **wrong)
    except (ArgumentTypeError, ArgumentValueError) as error:
        print(type(error).__name__, str(error).partition(": ")[0].partition(" at ")[0])
print("\\nfactor : float or DataNode" in fn.my.solarize.__doc__)
print(fn.my.solarize.__module__, ops.my.Solarize.__module__, "torch" in sys.modules)
"""

# What only an engine may do with a library that says it is of another version: ask which one.
OTHER_VERSION = """
#include <stdlib.h>
const char* dali_core_operator_abi(void) { return "interface 999, sizes 8"; }
const void* dali_core_operators(void) { abort(); }
"""

# A class of chains that is not among the headers of packages.
WRONG_ROLE = """
#include "dali_core/operator_library.hpp"
namespace dali_core {
class WindowStep { public: virtual ~WindowStep() = default; };
class Wrong : public Operator, public WindowStep {
 public:
  explicit Wrong(const OperatorConfig&) {}
  void run(SampleContext& sample) const override { sample.forward(0, sample.input(0)); }
};
DALI_CORE_REGISTER_OPERATOR("my.wrong", Wrong)
}
"""


# What `flip` gets when the operator that runs it has no such arguments.
FLIPPED = {"horizontal": 0, "vertical": 1, "depthwise": 0}


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(ROOT), str(folder)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def register(folder: Path, package: str) -> None:
    """Write what pip writes for a package that is installed."""
    metadata = folder / f"{package}-0.1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1.0\n")
    (metadata / "entry_points.txt").write_text(
        f"[dali_core.operators]\n{package} = {package}:operators\n"
    )


def describe(name: str, more: str = "") -> str:
    """Return the text of a package with one operator."""
    return (
        "from dali_core.operator_packages import *\n"
        f"SPEC = OpSpec(name={name!r}, doc='Do it.', input_docs=('Anything.',){more})\n"
        "operators = OperatorPackage([SPEC])\n"
    )


def compile_library(source: Path, target: Path) -> None:
    flags = ["-std=c++17"] if source.suffix == ".cpp" else ["-x", "c"]
    command = [*compiler(), *flags, "-O0", "-shared", "-fPIC", "-fvisibility=hidden"]
    if source.suffix == ".c":
        command.remove("-fvisibility=hidden")
    subprocess.run([*command, f"-I{INCLUDE}", str(source), "-o", str(target)], check=True)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a scaffolded package in place; return the folder that Python finds it in."""
    require_compiler()
    pytest.importorskip("setuptools", reason="not available: setuptools")
    root = tmp_path_factory.mktemp("package")
    create_package("my_ops", "my.solarize", root)
    folder = root / "my_ops"
    done = python(folder, "setup.py", "-q", "build_ext", "--inplace")
    assert done.returncode == 0, done.stderr
    register(folder, "my_ops")
    return folder


def test_package_operator_is_found_by_name(package: Path) -> None:
    done = python(package, "-c", USE)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        *(["50 255 200 255"] * 2),
        "ArgumentKeyError fn.my.solarize",
        "ArgumentFormError fn.my.solarize",
        "ArgumentValueError fn.my.solarize",
        "True",
        "dali_core.fn.my dali_core.ops.my False",
    ]


def test_tests_of_the_package_pass(package: Path) -> None:
    done = python(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout
    assert "13 passed" in done.stdout


def test_stub(package: Path) -> None:
    assert python(package, "-m", "dali_core._stubs", "--package", "my_ops").returncode == 0
    text = (package / "my_ops" / "fn.pyi").read_text()
    assert "def solarize(" in text
    assert "factor: Float | DataNode = 1.0" in text
    done = python(package, "-c", "from my_ops.fn import solarize; print(solarize.__name__)")
    assert done.stdout.strip() == "solarize"


def test_load_library(package: Path, tmp_path: Path) -> None:
    (built,) = (package / "my_ops").glob("native.*.so")
    below = tmp_path / "below"
    below.mkdir()
    shutil.copy(built, below / "libdali_solarize.so")
    description = (package / "my_ops" / "__init__.py").read_text()
    (below / "libdali_solarize.py").write_text(description)
    program = (
        "import sys; from dali_core import fn, plugin_manager; print(hasattr(fn, 'my'));"
        "plugin_manager.load_directory('.'); plugin_manager.load_library(sys.argv[1]);"
        "print(fn.my.solarize.__name__)"
    )
    done = python(tmp_path, "-c", program, str(below / "libdali_solarize.so"))
    assert done.stdout.split() == ["False", "solarize"], done.stderr


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("other.c", OTHER_VERSION, r"must be compiled for the installed dali_core, .*interface 1, "
         r".*\(got interface 999, sizes 8\)\. Build the package again"),
        ("bare.c", "int nothing;", "got one without their entry points"),
        ("wrong.cpp", WRONG_ROLE, 'operator "my.wrong" must have no place in chains'),
    ],
)  # fmt: skip
def test_libraries_that_do_not_fit(name: str, source: str, message: str, tmp_path: Path) -> None:
    require_compiler()
    (tmp_path / name).write_text(source)
    compile_library(tmp_path / name, tmp_path / "libdali_it.so")
    (tmp_path / "libdali_it.py").write_text(describe("my.wrong"))
    with pytest.raises(OperatorPackageError, match=message):
        plugin_manager.load_directory(str(tmp_path))
    assert not hasattr(fn, "my")


def test_damaged_and_missing_libraries(tmp_path: Path) -> None:
    library, description = tmp_path / "libdali_it.so", tmp_path / "libdali_it.py"

    def refused(message: str) -> None:
        with pytest.raises(OperatorPackageError, match=message):
            plugin_manager.load_library(str(library))

    refused("must be an existing file")
    library.write_bytes(b"\x7fELF" + bytes(200))
    refused("there is no libdali_it.py")
    description.write_text("")
    refused("it has no OpSpec")
    description.write_text(describe("my.wrong"))
    refused("must be a shared library that can be loaded")
    with pytest.raises(OperatorPackageError, match="must be a folder"):
        plugin_manager.load_directory(str(library))


@pytest.mark.parametrize(
    ("fields", "library", "message"),
    [
        ({"name": "flip"}, None, "'flip' must have a name of its own .got that of an .* dali_core"),
        ({}, None, "must have native code under the name 'my.it' .got none"),
        ({"devices": ("cpu", "gpu")}, None, "must run on the host"),
        ({"role": "merge"}, None, "must run on the host and have no role"),
        ({}, "nowhere", "library must be an existing file"),
    ],
)
def test_packages_that_do_not_fit(
    fields: dict[str, Any], library: str | None, message: str
) -> None:
    spec = OpSpec(**{"name": "my.it", "doc": "Do it.", **fields})
    loaded = Packages("flip".__eq__)
    with pytest.raises(OperatorPackageError, match=message):
        loaded.add("bad_ops", OperatorPackage([spec], library))
    assert loaded.specs == {}


def test_a_name_belongs_to_one_package() -> None:
    package = OperatorPackage([OpSpec(name="my.it", doc="Do it.", lower=Native("flip"))])
    loaded = Packages(lambda _: False)
    loaded.add("first", package)
    with pytest.raises(OperatorPackageError, match="'second'.*got that of an operator of 'first'"):
        loaded.add("second", package)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import nothing_like_this", "ModuleNotFoundError: No module named 'nothing_like_this'"),
        ("operators = 3", "must be an OperatorPackage .got 3"),
    ],
)
def test_packages_that_cannot_be_imported(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad_ops.py").write_text(text)
    register(tmp_path, "bad_ops")
    (tmp_path / "turned.py").write_text(describe("turned.turn", ", lower=Native('flip')"))
    register(tmp_path, "turned")
    # What the library and other packages have works nevertheless, at the first use.
    program = (
        "from dali_core import fn, ops; print(fn.turned.turn.__name__, fn.flip.__name__);"
        "print(*(hasattr(where, 'my') for where in (fn, ops, fn.readers)), getattr(fn, 'my', 3));"
        "print(hasattr(fn, '__wrapped__')); fn.my"
    )
    done = python(tmp_path, "-c", program)
    assert done.stdout.split() == [*("turn", "flip"), *["False"] * 3, "3", "False"], done.stderr
    kind, _, said = done.stderr.strip().splitlines()[-1].partition(": ")
    assert kind == "AttributeError", done.stderr
    assert "'dali_core.fn' has no attribute 'my', and a package that may have it cannot be" in said
    assert re.search(message, said)
    assert "\ndali_core.errors.OperatorPackageError: operators of 'bad_ops': " in done.stderr


def test_documents_with_operators_beside_packages_that_are_broken(tmp_path: Path) -> None:
    (tmp_path / "bad_ops.py").write_text("operators = 3")
    (tmp_path / "turned.py").write_text(describe("my.turn", f", lower=Native('flip', {FLIPPED})"))
    for package in ("bad_ops", "turned"):
        register(tmp_path, package)
    write = (
        "from dali_core import Pipeline, fn\n"
        "with Pipeline(1, 1, None) as pipeline:\n"
        "    pipeline.set_outputs(fn.my.turn(fn.external_source(name='image', layout='HWC')))\n"
        "pipeline.serialize(filename='document')"
    )
    done = python(tmp_path, "-c", write)
    assert done.returncode == 0, done.stderr
    read = "from dali_core import Pipeline; print(Pipeline.deserialize(filename='{}').num_outputs)"
    done = python(tmp_path, "-c", read.format("document"))
    assert done.stdout == "1\n", done.stderr
    text = (tmp_path / "document").read_text("utf-8").replace("my.turn", "my.other")
    (tmp_path / "other").write_text(text)
    done = python(tmp_path, "-c", read.format("other"))
    assert "dali_core.errors.OperatorPackageError: operators of 'bad_ops'" in done.stderr


def test_operators_that_other_code_computes(tmp_path: Path) -> None:
    # A description alone: constants for native code of this library.
    (tmp_path / "turned.py").write_text(describe("my.turn", f", lower=Native('flip', {FLIPPED})"))
    register(tmp_path, "turned")
    program = (
        "import numpy as np; from dali_core import Pipeline, fn\n"
        "pipeline = Pipeline(1, 1, None)\n"
        "with pipeline:\n"
        "    image = fn.external_source(lambda: [np.uint8([[[1]], [[2]]])], layout='HWC')\n"
        "    pipeline.set_outputs(fn.my.turn(image))\n"
        "print(*np.array(pipeline.run()[0].at(0)).ravel())"
    )
    done = python(tmp_path, "-c", program)
    assert done.stdout.split() == ["2", "1"], done.stderr


def headers() -> list[Path]:
    """Return the headers of `operator_library.hpp`, with those that they include."""
    found: set[Path] = set()
    waiting = [INCLUDE / "dali_core" / "operator_library.hpp"]
    while waiting:
        header = waiting.pop()
        found.add(header)
        included = re.findall(r'#include "(dali_core/.*?)"', header.read_text("utf-8"))
        waiting += [INCLUDE / name for name in included if INCLUDE / name not in found]
    return sorted(found)


def test_the_number_of_the_interface_is_raised_with_its_headers() -> None:
    text = "".join(header.read_text("utf-8") for header in headers())
    code = re.sub(r"//.*|\s+", "", re.sub(r"kAbiVersion = \d+", "", text))
    number = re.search(r"kAbiVersion = (\d+)", text)
    assert number is not None
    found = {number[1]: hashlib.sha256(code.encode()).hexdigest()}
    recorded = json.loads(HASHES.read_text("utf-8"))
    assert recorded == found, (
        f"headers of packages with operators have changed: raise kAbiVersion in abi.hpp if a "
        f"release has this number, and write {json.dumps(found)} to {HASHES.name}"
    )


def test_headers_are_few() -> None:
    assert len(headers()) < 20
    assert all(header.is_relative_to(INCLUDE) for header in headers())


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_raise(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["package", "my_ops", name, "--root", str(tmp_path)]) == 2
    assert main(["package", name, "my.it", "--root", str(tmp_path)]) == 2
    assert "must consist of words in lower case" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_command_prints_the_next_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["package", "my_ops", "my.it", "--root", str(tmp_path)]
    assert main(arguments) == 0
    output = capsys.readouterr().out
    assert "my_ops/my_ops/native.cpp" in output
    assert "pip install" in output
    assert main(arguments) == 2
    assert "must be a new folder" in capsys.readouterr().err
    assert main(["package", "a.b", "my.it", "--root", str(tmp_path)]) == 2
    assert "must have no dots" in capsys.readouterr().err
