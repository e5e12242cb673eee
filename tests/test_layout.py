"""House rules that a machine can check: who knows whom, sizes of files, nothing at import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from dali_core._graph.registry import known_specs
from dali_core._runtime.executor import registered_names
from dali_core._stubs.text import HEADER

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dali_core"
CODE = (".py", ".pyi", ".pyx", ".pxd", ".cpp", ".hpp", ".h")
SOURCES = sorted(
    path
    for folder in ("dali_core", "adapters", "tests", "benchmarks", "examples")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in CODE and not {"__pycache__", "results"} & set(path.parts)
)
PYTHON = [path for path in SOURCES if path.suffix in (".py", ".pyx")]
PYTHON_OF_CORE = [path for path in PYTHON if path.is_relative_to(PACKAGE)]
FRAMEWORKS = (
    *("torch", "jax", "tensorflow", "paddle", "cupy", "cuda", "nvidia"),
    *("dali_core_jax", "dali_core_pytorch"),
)

# Each room may import from the rooms in its own line and in those above it.
ROOMS = [
    ["errors", "types", "_messages", "_spec", "_constants", "_literals"],
    ["_runtime", "_cuda"],
    ["operators"],
    ["_graph"],
    ["_execution"],
    ["tensors", "cuda", "backend", "fn", "ops", "math", "pipeline"],
    ["plugin", "adapters"],
    ["", "testing", "compat"],
    ["_stubs", "scaffold"],
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# Operators that run in Python make and take batches; everything else they know is a description.
KNOWN_TO_OPERATORS = (
    "dali_core._literals",
    "dali_core._spec",
    "dali_core.errors",
    "dali_core.types",
    "dali_core.operators",
    "dali_core._runtime.device_data",
    "dali_core._runtime.step",
    "dali_core._runtime.tensor",
    "dali_core._runtime.tensor_list",
    "dali_core._runtime.tensor_list_gpu",
    "dali_core._runtime.workers",
)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _room(module: str) -> str:
    return f"{module}.".split(".")[1]


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(path: Path) -> Iterator[str]:
    """Modules that a file imports at run time, wherever in the file."""
    text = path.read_text("utf-8")
    if path.suffix == ".pyx":
        for module, names in re.findall(r"^\s*from (\S+) c?import (.*)$", text, re.MULTILINE):
            yield f"{module}.{names.split()[0]}" if module == "dali_core" else module
        yield from re.findall(r"^\s*c?import (\S+)$", text, re.MULTILINE)
        return
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)}: imports must be absolute"
            names = [alias.name for alias in node.names]
            is_top = node.module == "dali_core"
            yield from (f"dali_core.{name}" for name in names) if is_top else [node.module or ""]


def _below(*folders: str) -> list[Path]:
    return [path for path in SOURCES if any(path.is_relative_to(ROOT / name) for name in folders)]


# Who knows whom


def test_imports_point_one_way() -> None:
    # `types.Constant` makes nodes; the module of the reference that it is in is known to all.
    allowed = ["dali_core/_constants.py imports dali_core._graph.constants"]
    wrong = []
    for path in PYTHON_OF_CORE:
        own = _room(_module(path))
        assert own in LEVEL, f"say in {Path(__file__).name} where {own!r} belongs"
        wrong += [
            f"{_name(path)} imports {module}"
            for module in _imports(path)
            if module.partition(".")[0] == "dali_core"
            and LEVEL.get(_room(module), LEVEL[""]) > LEVEL[own]
        ]
    assert wrong == allowed


def test_the_core_imports_no_framework() -> None:
    # Only the modules at the import paths of the reference lead to an adapter.
    allowed = {
        "dali_core/plugin/jax/__init__.py imports dali_core_jax",
        "dali_core/plugin/jax/clu.py imports dali_core_jax",
        "dali_core/plugin/jax/iterator.py imports dali_core_jax",
        "dali_core/plugin/pytorch/__init__.py imports dali_core_pytorch",
        "dali_core/plugin/pytorch/fn.py imports dali_core_pytorch.function",
        "dali_core/plugin/pytorch/torch_utils.py imports dali_core_pytorch",
    }
    found = {
        f"{_name(path)} imports {module}"
        for path in PYTHON_OF_CORE
        for module in _imports(path)
        if module.partition(".")[0] in FRAMEWORKS
    }
    # One room speaks to the driver, and to allocators of others when it is told to.
    of_cuda = {entry for entry in found if entry.startswith("dali_core/_cuda/")}
    assert {entry.split()[-1].partition(".")[0] for entry in of_cuda} <= {"cuda", "torch", "rmm"}
    assert found - of_cuda == allowed


def test_adapters_use_the_public_interface() -> None:
    private = [
        f"{_name(path)} imports {module}"
        for path in PYTHON
        if path.is_relative_to(ROOT / "adapters")
        for module in _imports(path)
        if module.startswith("dali_core.") and _room(module).startswith("_")
    ]
    assert private == []


def test_operators_know_descriptions_only() -> None:
    wrong = [
        f"{_name(path)} imports {module}"
        for path in PYTHON_OF_CORE
        if path.is_relative_to(PACKAGE / "operators")
        for module in _imports(path)
        if module.partition(".")[0] == "dali_core"
        and not f"{module}.".startswith(tuple(f"{name}." for name in KNOWN_TO_OPERATORS))
    ]
    assert wrong == []


def _includes(path: Path) -> list[str]:
    found = re.findall(r'#include "(.+?)"|cdef extern from "(.+?)"', path.read_text("utf-8"))
    return [first or second for first, second in found]


def test_includes_point_one_way() -> None:
    wrong = []
    for path in _below("dali_core/operators"):
        # What lies beside a file is its own; all else goes by its whole path.
        beside = {file.name for file in path.parent.glob("*.h*")}
        wrong += [
            f"{_name(path)} includes {name}"
            for name in _includes(path)
            if name not in beside and (not name.startswith("dali_core/") or "_runtime" in name)
        ]
    for path in _below("dali_core/include"):
        wrong += [
            f"{_name(path)} includes {name}"
            for name in _includes(path)
            if not re.fullmatch(r"dali_core/[a-z_0-9]+(\.inc)?\.hpp", name)
        ]
    for path in _below("dali_core/_runtime", "dali_core/_cuda"):
        wrong += [
            f"{_name(path)} includes {name}" for name in _includes(path) if "operators/" in name
        ]
    assert wrong == []


def _texts(path: Path) -> set[str]:
    """Every text in the code that is no comment."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return set(re.findall(r'"([^"\n]*)"', re.sub(r"//.*", "", text)))
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def test_nothing_below_knows_an_operator_by_name() -> None:
    rooms = ("_graph", "_runtime", "_execution", "_cuda")
    found = {
        _name(path): names
        for path in _below(*(f"dali_core/{room}" for room in rooms))
        if (names := _texts(path) & set(known_specs()))
    }
    assert found == {}


def test_native_code_belongs_to_descriptions() -> None:
    specs = known_specs()
    native = {
        spec.registered_name
        for spec in specs.values()
        if spec.python_step is None and "cpu" in spec.devices
    }
    # What an operator needs to know about whole batches has a name below its own.
    parts = {name for name in registered_names() if name.rpartition(".")[0] in specs}
    assert set(registered_names()) - parts == native


# Files


def test_files_are_short() -> None:
    lengths = {
        _name(path): text.count("\n")
        for path in (*SOURCES, ROOT / "setup.py")
        if not (text := path.read_text("utf-8")).startswith(HEADER)
    }
    too_long = {name: length for name, length in lengths.items() if length > 500}
    assert too_long == {}, "divide them by meaning"


def test_files_begin_with_what_they_are() -> None:
    beginning = {".py": r'(#.*\n)*r?"""\S', ".pyx": r'(#.*\n)*"""\S', ".hpp": "// ", ".h": r"/\* "}
    silent = [
        _name(path)
        for path in _below("dali_core", "adapters")
        if path.suffix in beginning
        and not re.match(beginning[path.suffix], path.read_text("utf-8"))
    ]
    assert silent == []


def test_no_file_knows_the_machine() -> None:
    pattern = re.compile(r"""(?<![\w./*~}-])/(?:home|root|Users|work|mnt|tmp)/\w+""")
    others = [path for path in ROOT.glob("[!.]*") if path.suffix in (".py", ".md", ".toml", ".ini")]
    found = {
        _name(path): names
        for path in (*SOURCES, *others, ROOT / "Makefile")
        if (names := pattern.findall(path.read_text("utf-8")))
    }
    assert found == {}


def test_operators_have_folders_of_their_own() -> None:
    packages = {path.parent for path in (PACKAGE / "operators").rglob("__init__.py")}
    described = {PACKAGE.joinpath("operators", *name.split(".")) for name in known_specs()}
    groups = {folder for path in described for folder in path.parents}
    assert packages - described - groups == set(), "every folder is an operator or a group of them"
    for folder in described:
        own = [path.name for path in folder.glob("*.cpp")]
        assert not own or f"{folder.name}.cpp" in own


# Importing


def test_importing_has_no_effects() -> None:
    program = (
        "import os, sys, threading\n"
        "before = dict(os.environ)\n"
        # Some packages import themselves whenever Python starts.
        "loaded = set(sys.modules)\n"
        "import dali_core, dali_core.adapters, dali_core.plugin.base_iterator\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - loaded}\n"
        f"print(sorted(tops & set({FRAMEWORKS})))\n"
        "print(threading.active_count(), len(os.listdir('/proc/self/task')))\n"
        "print(dict(os.environ) == before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout.splitlines() == ["[]", "1 1", "True"]
    assert result.stderr == ""
