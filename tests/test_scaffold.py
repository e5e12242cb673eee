"""A new operator: its files are found, its native code and kernel work, nothing else is changed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dali_core
from dali_core._spec import OpSpec
from dali_core.errors import ArgumentValueError
from dali_core.scaffold import create_operator, main
from tests.compiled_programs import INCLUDES, WHOLE_ENGINE, link_program

ROOT = Path(__file__).parents[1]

# Runs the operator natively on one sample: bytes 1, 2, 100, 200 times 1.5. Then runs its kernel for
# the same sample, in a grid of one thread; a host compiler takes it as a function.
PROGRAM = r"""
#include <cstdio>

#include "arguments.hpp"
#include "sample_program.hpp"

#define __device__
#define __global__
struct Index {
  unsigned x, y, z;
};
constexpr Index blockIdx{0, 0, 0}, threadIdx{0, 0, 0}, blockDim{1, 1, 1}, gridDim{1, 1, 1};

#include KERNEL_SOURCE

using namespace dali_core;

int main(int, char** arguments) {
  OperatorConfig config;
  config.name = arguments[1];
  config.num_inputs = 1;
  set_argument<double>(config, "factor", 1.5);
  Batch batch(0, 1, 2, 0, 1, 0);
  batch.output_of_value = {-1, -1};
  const auto pool = BufferPool::create();
  Tensor& input = batch.values[0][0];
  input.type = DataType::kUInt8;
  input.shape = {4};
  input.storage = pool->allocate(4);
  input.data = input.storage.get();
  const int values[] = {1, 2, 100, 200};
  for (int i = 0; i < 4; ++i) input.as<uint8_t>()[i] = static_cast<uint8_t>(values[i]);
  Instruction instruction;
  instruction.op = make_operator(config);
  instruction.inputs = {0};
  instruction.outputs = {1};
  ThreadTimes times{1};
  Worker worker{*pool, times};
  SampleProgram({instruction}).run(batch, 0, worker);
  for (const auto& failure : batch.failures()) std::printf("%s\n", failure.message.c_str());
  const Tensor& output = batch.values[1][0];
  for (int i = 0; i < output.num_elements(); ++i) std::printf("%d ", output.as<uint8_t>()[i]);
  uint8_t results[4] = {};
  const TASK task{input.data, results, 4, DataType::kUInt8, 1.5};
  KERNEL(&task, 1);
  for (int result : results) std::printf("%d ", result);
}
"""

BAD_NAMES = ["", "Brighten", "2d", "a-b", "a..b", ".a", "a.", "a__b", "_a", "a_", "class", "é"]
BAD_NAMES.append("x.import")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a source tree with only the siblings of an operator."""
    for file in ("dali_core/operators/__init__.py", "dali_core/operators/random/__init__.py"):
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((ROOT / file).read_bytes())
    spec = tmp_path / "dali_core/operators/cast/__init__.py"
    spec.parent.mkdir()
    spec.write_bytes((ROOT / "dali_core/operators/cast/__init__.py").read_bytes())
    (tmp_path / "tests/operators").mkdir(parents=True)
    return tmp_path


def _files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def _load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("loaded", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("brighten", []),
        ("random.noise_2", []),
        ("colour.space.shift", ["colour", "colour/space"]),
    ],
)
def test_only_new_files_are_written(tree: Path, name: str, groups: list[str]) -> None:
    before = _files(tree)
    written = create_operator(name, tree)
    after = _files(tree)
    short = name.rpartition(".")[2]
    folder, stem = "dali_core/operators/" + name.replace(".", "/"), name.replace(".", "_")
    test = "tests/operators/" + name.replace(".", "/").removesuffix(short) + f"test_{short}.py"
    assert set(after) - set(before) == {
        *(f"dali_core/operators/{group}/__init__.py" for group in groups),
        *(f"{folder}/{file}" for file in ("__init__.py", f"{short}.cpp")),
        *(f"dali_core/kernels/{stem}/{stem}.{suffix}" for suffix in ("hpp", "cu")),
        test,
    }
    assert {str(path.relative_to(tree)) for path in written} == set(after) - set(before)
    assert {path: after[path] for path in before} == before


def test_description_and_examples_fit_in(tree: Path) -> None:
    create_operator("colour.brighten", tree)
    spec = _load(tree / "dali_core/operators/colour/brighten/__init__.py").SPEC
    assert isinstance(spec, OpSpec)
    assert spec.name == "colour.brighten"
    assert spec.devices == ("cpu", "gpu")
    assert [(arg.name, arg.tensor) for arg in spec.args] == [("factor", True)]
    test = _load(tree / "tests/operators/colour/test_brighten.py")
    assert len(test.EXAMPLES) == 2
    given = {name for example in test.EXAMPLES for name in example.arguments}
    assert given == {arg.name for arg in spec.args}


def test_operator_is_found_by_its_folder(tree: Path) -> None:
    create_operator("colour.brighten", tree)
    sources = shutil.ignore_patterns("__pycache__", "*.cpp", "*.hpp", "*.pyx")
    package = Path(dali_core.__file__).parent
    shutil.copytree(package, tree / "dali_core", ignore=sources, dirs_exist_ok=True)
    program = (
        "import inspect; from dali_core import fn, ops; function = fn.colour.brighten;"
        "print(function.__module__, ops.colour.Brighten.__name__,"
        " inspect.signature(function).parameters['factor'].default)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, cwd=tree
    )
    assert result.stdout.split() == ["dali_core.fn.colour", "Brighten", "1.0"]


def test_generated_files_are_short(tree: Path) -> None:
    written = create_operator("brighten", tree)
    assert sum(len(path.read_text("utf-8").splitlines()) for path in written) <= 140


@pytest.mark.parametrize("name", ["brighten", "random.tensor"])
def test_native_code_and_kernel_agree(tree: Path, name: str) -> None:
    folder, _, short = name.rpartition(".")
    create_operator(name, tree)
    source = tree / "dali_core/operators" / folder / short / f"{short}.cpp"
    main_file = tree / "main.cpp"
    main_file.write_text(PROGRAM, "utf-8")
    sources = [main_file, source, *WHOLE_ENGINE]
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-pthread", *INCLUDES]
    stem = name.replace(".", "_")
    task = "".join(word.capitalize() for word in stem.split("_")) + "Task"
    own = [*flags, f"-I{tree}", f"-DKERNEL=run_{stem}", f"-DTASK={task}"]
    own.append(f'-DKERNEL_SOURCE="dali_core/kernels/{stem}/{stem}.cu"')
    flags_of = {path: own if path in (main_file, source) else flags for path in sources}
    program = link_program("operator", flags_of, flags)
    result = subprocess.run([str(program), name], check=True, capture_output=True, text=True)
    assert result.stdout == "2 3 150 255 " * 2


@pytest.mark.parametrize("name", BAD_NAMES)
def test_bad_names_raise(tree: Path, name: str) -> None:
    before = _files(tree)
    with pytest.raises(ArgumentValueError, match="name must consist of words in lower case"):
        create_operator(name, tree)
    assert _files(tree) == before


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cast", "must be a new operator .dali_core/operators/cast exists"),
        ("random", "must be a new operator .dali_core/operators/random exists"),
        ("cast.to_bytes", "'cast' must be a group of operators .it is an operator"),
        ("lonely", "must be a new operator .tests/operators/test_lonely.py exists"),
        ("noise.blue", "must be a new operator .dali_core/kernels/color/noise_blue.cu exists"),
    ],
)
def test_taken_names_raise(tree: Path, name: str, message: str) -> None:
    (tree / "tests/operators/test_lonely.py").touch()
    (tree / "dali_core/kernels/color").mkdir(parents=True)
    (tree / "dali_core/kernels/color/noise_blue.cu").touch()
    before = _files(tree)
    with pytest.raises(ArgumentValueError, match=message):
        create_operator(name, tree)
    assert _files(tree) == before


def test_other_folders_raise(tmp_path: Path) -> None:
    with pytest.raises(ArgumentValueError, match="has no dali_core/operators and no tests/oper"):
        create_operator("brighten", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_command_prints_the_next_steps(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["operator", "brighten", "--root", str(tree)]) == 0
    output = capsys.readouterr().out
    assert "dali_core/operators/brighten/brighten.cpp" in output
    assert "pytest tests/operators/test_brighten.py" in output
    assert "python -m dali_core._stubs" in output
    assert main(["operator", "brighten", "--root", str(tree)]) == 2
    assert "must be a new operator" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["operator"], ["something", "new"]])
def test_other_commands_raise(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(arguments)
    assert "usage: python -m dali_core.scaffold" in capsys.readouterr().err
