"""Checkable rules of the code base: dependencies, sizes of files, no side effects of imports."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

from dali_core._registry.specs import all_specs, known_specs
from dali_core._runtime.native_code import registered_names
from dali_core._stubs.text import HEADER
from dali_core.operators.former_names import FORMER_NAMES
from dali_core.operators.internal_operators import INTERNAL_GROUPS, OPERATORS_OF_ROLES

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
CYTHON_AND_PYTHON = [path for path in SOURCES if path.suffix in (".py", ".pyx", ".pxd")]
# Texts that `dali-core new` writes: programs of users, which no module imports.
PROGRAMS = PACKAGE / "commands" / "programs"
PYTHON_OF_CORE = [
    path for path in PYTHON if path.is_relative_to(PACKAGE) and not path.is_relative_to(PROGRAMS)
]
FRAMEWORKS = (
    *("torch", "jax", "tensorflow", "paddle", "ray", "cupy", "cuda", "nvidia"),
    *("dali_core_jax", "dali_core_paddle", "dali_core_pytorch", "dali_core_ray"),
    "dali_core_tensorflow",
)

# Each package may import from the packages in its own line and in those above it.
ROOMS = [
    ["errors", "_messages", "_spec", "_texts", "_extras", "_atomic_files", "_cache_files"],
    ["_file_cache", "_progress_bar"],
    ["_display", "_types", "statistics", "_data_types", "_constants"],
    ["batching", "_runtime", "_cuda"],
    ["_storage"],
    ["arrow", "array_record", "samplers"],
    # Readers' shared parts know no operator, see below; formats use the listings of operators.
    ["_readers", "operators"],
    ["_registry"],
    ["_call"],
    ["_graph"],
    ["_execution", "checkpoint"],
    [
        *(
            "tensors",
            "cuda",
            "backend",
            "fn",
            "ops",
            "math",
            "types",
            "pipeline",
            "tfrecord",
            "text",
        ),
        *("tracing", "inspection", "monitoring"),
    ],
    ["auto_aug"],
    ["plugin"],
    ["adapters", "sysconfig", "plugin_manager", "metrics"],
    ["operator_packages", "readers", "loaders", "dynamic"],
    ["jax", "pytorch"],
    ["experimental"],
    ["", "testing", "compat", "commands", "__main__"],
    ["_stubs", "scaffold"],
]
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
# Operators that run in Python create and consume batches; otherwise they only use descriptions.
KNOWN_TO_OPERATORS = (
    "dali_core._cache_files",
    "dali_core._constants",
    "dali_core._extras",
    "dali_core._file_cache",
    "dali_core._messages",
    "dali_core._progress_bar",
    "dali_core._readers.formats",
    "dali_core._readers.protocol",
    "dali_core._readers.python_reader",
    "dali_core._readers.record_table",
    "dali_core._spec",
    "dali_core._storage",
    "dali_core._texts",
    "dali_core._atomic_files",
    "dali_core.arrow",
    "dali_core.errors",
    "dali_core._types",
    "dali_core.operators",
    "dali_core._runtime.device_data",
    "dali_core._runtime.finalizer",
    *("dali_core._runtime.integer_lists", "dali_core._runtime.path_list"),
    "dali_core._runtime.record_index",
    "dali_core._runtime.remote_reads",
    "dali_core._runtime.step",
    "dali_core._runtime.turn",
    "dali_core._runtime.worker_parts",
    "dali_core._runtime.tensor",
    "dali_core._runtime.tensor_list",
    "dali_core._runtime.tensor_list_gpu",
    "dali_core._runtime.thread_start",
    "dali_core._runtime.workers",
)


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _room(module: str) -> str:
    return f"{module}.".split(".")[1]


def _module(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _module_of(path: Path) -> str:
    """Name of a module, also of an adapter's package."""
    return _module(path).removeprefix("adapters.")


def _imports(path: Path, *, with_names: bool = False, with_types: bool = False) -> Iterator[str]:
    """Modules that a file imports at run time, wherever in the file.

    `with_names` adds to each module the name that is imported from it; `with_types` adds imports
    for annotations only, below ``if TYPE_CHECKING``.
    """
    text = path.read_text("utf-8")
    if path.suffix in (".pyx", ".pxd"):
        for module, names in re.findall(r"^\s*from (\S+) c?import (.*)$", text, re.MULTILINE):
            if with_names:
                yield from (
                    f"{module}.{name}"
                    for name in re.findall(r"\w+", re.sub(r"\bas \w+", "", names)) or ("",)
                )
                continue
            yield f"{module}.{names.split()[0]}" if module == "dali_core" else module
        yield from re.findall(r"^\s*c?import (\S+)$", text, re.MULTILINE)
        return
    tree = ast.parse(text)
    for node in ast.walk(tree):
        is_for_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        if isinstance(node, ast.If) and is_for_types and not with_types:
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{_name(path)}: imports must be absolute"
            names = [alias.name for alias in node.names]
            is_full = with_names or node.module == "dali_core"
            full = [f"{node.module}.{name}" for name in names]
            yield from full if is_full else [node.module or ""]


def _below(*folders: str) -> list[Path]:
    return [path for path in SOURCES if any(path.is_relative_to(ROOT / name) for name in folders)]


# Dependencies


def test_imports_point_one_way() -> None:
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
    assert wrong == []


def _modules_imported(path: Path, modules: Collection[str]) -> set[str]:
    """Modules of ours that a file imports, wherever in the file, and the packages they are in.

    Imports for annotations count: who reads a module needs the modules that its types are from.
    """
    own, found = _module_of(path), set()
    for name in _imports(path, with_names=True, with_types=True):
        module = name if name in modules else name.rpartition(".")[0]
        parts = module.split(".")
        above = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        found |= {entry for entry in above if not f"{own}.".startswith(f"{entry}.")}
    return found & set(modules)


def _circles(imported: dict[str, set[str]]) -> list[set[str]]:
    """Groups of modules each of which imports all others, perhaps through others still."""
    reached = {}
    for start in imported:
        reached[start], waiting = set(), [start]
        while waiting:
            new = imported[waiting.pop()] - reached[start]
            reached[start] |= new
            waiting += new
    groups = {
        frozenset(other for other in reached[name] if name in reached[other])
        for name in imported
        if name in reached[name]
    }
    return [set(group) for group in groups]


def test_import_cycles_are_detected() -> None:
    imported = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"a", "d"}}
    assert _circles(imported) == [{"b", "c"}]


def test_shared_parts_of_readers_import_no_operator_or_format() -> None:
    shared = sorted((PACKAGE / "_readers").glob("*.py"))
    apart = ("dali_core.operators", "dali_core._readers.formats")
    assert len(shared) > 5
    assert [
        f"{_name(path)} imports {module}"
        for path in shared
        for module in _imports(path)
        if module.startswith(apart)
    ] == []


def test_data_sets_derive_from_the_protocol() -> None:
    # So that every member which samplers or native code ask for is there, if only as a default.
    known = {"DataSource", "FetchedSource", "BlockSource", "ListedFiles", "RecordSource"}
    found = {
        node.name: {ast.unparse(base) for base in node.bases}
        for path in [*_below("dali_core/operators"), *_below("dali_core/_readers")]
        if path.suffix == ".py"
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(getattr(entry, "name", "") == "native_arguments" for entry in node.body)
    }
    assert len(found) > 5
    assert {name for name, bases in found.items() if not bases & {*known, "ABC"}} == set()


def test_folders_of_python_readers_hold_the_description_only() -> None:
    folders = [
        PACKAGE / "operators" / spec.name.replace(".", "/")
        for spec in known_specs().values()
        if spec.hands_to_reader
    ]
    assert len(folders) > 2
    for folder in folders:
        assert len((folder / "__init__.py").read_text("utf-8").splitlines()) < 10, folder
        assert [path.name for path in folder.glob("*.py")] == ["__init__.py"]


def import_cycles() -> list[set[str]]:
    """Return the groups of modules that import each other, perhaps for annotations only."""
    imported: dict[str, set[str]] = {}
    paths = [path for path in _below("dali_core", "adapters") if path in CYTHON_AND_PYTHON]
    modules = {_module_of(path) for path in paths}
    assert len(modules) > 300
    for path in paths:  # a .pyx and its .pxd are one module
        imported.setdefault(_module_of(path), set()).update(_modules_imported(path, modules))
    return _circles(imported)


def test_no_import_cycles() -> None:
    assert import_cycles() == []


def test_conditionals_name_no_operator() -> None:
    # Nor does what decodes on devices: all find operators by what these are for.
    paths = [*_below("dali_core/pipeline"), PACKAGE / "_call" / "device_decoding.py"]
    known = {
        _name(path): names
        for path in paths
        if (
            names := (_texts(path) & set(known_specs()))
            | {name for name in _imports(path) if name.startswith("dali_core.operators")}
        )
    }
    assert known == {}


def test_private_members_of_a_pipeline_are_used_only_inside() -> None:
    pattern = re.compile(r"\b(?:pipe|pipeline|pipelines\[\w+\]|_pipe|_pipeline)\._[a-z]\w*")
    found = {
        _name(path): names
        for path in _below("adapters", "dali_core/plugin", "dali_core/adapters.py")
        if path.suffix == ".py" and (names := pattern.findall(path.read_text("utf-8")))
    }
    assert found == {}


def test_the_core_imports_no_framework() -> None:
    # Only a command that compares with PyTorch's loader, where that is installed, the modules at
    # the import paths of the reference, and those with the loaders of frameworks import an adapter.
    allowed = {
        "dali_core/commands/bench.py imports dali_core_pytorch.crop_loader",
        "dali_core/jax.py imports dali_core_jax.loader",
        "dali_core/pytorch.py imports dali_core_pytorch.loader",
        "dali_core/plugin/jax/__init__.py imports dali_core_jax",
        "dali_core/plugin/jax/clu.py imports dali_core_jax",
        "dali_core/plugin/jax/fn.py imports dali_core_jax.function",
        "dali_core/plugin/jax/iterator.py imports dali_core_jax",
        "dali_core/plugin/paddle.py imports dali_core_paddle",
        "dali_core/plugin/pytorch/__init__.py imports dali_core_pytorch",
        "dali_core/plugin/pytorch/experimental/proxy/__init__.py imports dali_core_pytorch.proxy",
        "dali_core/plugin/pytorch/fn.py imports dali_core_pytorch.function",
        "dali_core/plugin/pytorch/loader_evaluator/loader.py imports "
        "dali_core_pytorch.loader_evaluator",
        "dali_core/plugin/pytorch/torch_utils.py imports dali_core_pytorch",
        "dali_core/plugin/tf/__init__.py imports dali_core_tensorflow",
        "dali_core/plugin/tf/experimental.py imports dali_core_tensorflow",
    }
    found = {
        f"{_name(path)} imports {module}"
        for path in PYTHON_OF_CORE
        for module in _imports(path)
        if module.partition(".")[0] in FRAMEWORKS
    }
    # One package calls the driver, and allocators of other libraries if configured.
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


def _texts(path: Path) -> set[str]:
    """Every string in the code that is not a docstring."""
    text = path.read_text("utf-8")
    if path.suffix != ".py":
        return set(re.findall(r'"([^"\n]*)"', re.sub(r"//.*", "", text)))
    constants = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant))
    return {value for value in constants if isinstance(value, str)}


def test_finalizers_lose_no_interrupt() -> None:
    """What a signal handler raises within a callback of `weakref.finalize` is lost."""
    wrong = [_name(path) for path in PYTHON_OF_CORE if "weakref.finalize(" in path.read_text()]
    assert wrong == []


def test_lower_layers_name_no_operator() -> None:
    rooms = ("_call", "_graph", "_registry", "_runtime", "_execution", "_cuda")
    found = {
        _name(path): names
        for path in _below(*(f"dali_core/{room}" for room in rooms))
        if (names := _texts(path) & set(known_specs()))
    }
    assert found == {}


def test_native_code_belongs_to_descriptions() -> None:
    specs = known_specs()
    native = {
        spec.native.name
        for spec in specs.values()
        if spec.python_step is None and "cpu" in spec.devices
    }
    # Internal operators on whole batches have a name below the operator's own.
    parts = {name for name in registered_names() if name.rpartition(".")[0] in specs}
    assert set(registered_names()) - parts == native - parts


# Files


def test_files_are_short() -> None:
    lengths = {
        _name(path): text.count("\n")
        for path in (*SOURCES, ROOT / "setup.py")
        if not (text := path.read_text("utf-8")).startswith(HEADER)
    }
    too_long = {name: length for name, length in lengths.items() if length > 500}
    assert too_long == {}, "divide them by meaning"


def test_files_begin_with_a_description() -> None:
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
    present = known_specs().keys() - FORMER_NAMES.keys()
    described = {PACKAGE.joinpath("operators", *name.split(".")) for name in present}
    groups = {folder for path in described for folder in path.parents}
    assert packages - described - groups == set(), "every folder is an operator or a group of them"
    assert described.isdisjoint(groups)
    for folder in described:
        own = [path.name for path in folder.glob("*.cpp")]
        assert not own or f"{folder.name}.cpp" in own


def test_operators_are_found_without_importing_all() -> None:
    roles = {spec.role: name for name, spec in known_specs().items() if spec.role}
    assert roles == OPERATORS_OF_ROLES
    public, present = (
        {name.partition(".")[0] for name in specs if "." in name}
        for specs in (all_specs(), known_specs())
    )
    assert present - public == set(INTERNAL_GROUPS)
    program = (
        "import sys\n"
        "import dali_core\n"
        "from dali_core import fn\n"
        "print([name for name, module in sys.modules.items() if 'SPEC' in vars(module)])\n"
        "fn.readers.file\n"
        "print([name for name, module in sys.modules.items() if 'SPEC' in vars(module)])\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout == "[]\n['dali_core.operators.readers.file']\n"


def test_test_folders_mirror_the_package() -> None:
    # These are about several rooms at once, or about what is beside the package.
    topics = {
        *("benchmarks", "conformance", "docs", "examples", "fuzz", "gpu", "interpreters", "lint"),
        *("packaging", "process", "samplers", "sharding", "state"),
    }
    rooms = {folder.name.lstrip("_") for folder in PACKAGE.iterdir() if folder.is_dir()}
    # Those of the C++ in `_runtime`, and of the packages beside this one.
    rooms |= {"engine", "adapters"}
    folders = {path.parent.relative_to(ROOT / "tests").parts for path in _below("tests")}
    found = {parts[0] for parts in folders if parts}
    assert found - topics <= rooms


# Importing


def test_importing_has_no_effects() -> None:
    program = (
        # NumPy starts its own threads, one per processor.
        "import os, sys, threading, numpy\n"
        "before = dict(os.environ)\n"
        "threads = len(os.listdir('/proc/self/task'))\n"
        # Some packages import themselves whenever Python starts.
        "loaded = set(sys.modules)\n"
        "import dali_core, dali_core.adapters, dali_core.plugin.base_iterator\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - loaded}\n"
        # Modules of HTTP take as long to import as a quarter of this library.
        f"print(sorted(tops & {{*{FRAMEWORKS}, 'ssl', 'http', 'email'}}))\n"
        "print(threading.active_count(), len(os.listdir('/proc/self/task')) - threads)\n"
        "print(dict(os.environ) == before)\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout.splitlines() == ["[]", "1 0", "True"]
    assert result.stderr == ""
