"""The committed type stubs are up to date, and match the modules."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from pathlib import Path

import pytest

from dali_core import Pipeline, fn, ops
from dali_core._graph.namespaces import class_name, signature
from dali_core._registry.specs import all_specs
from dali_core._stubs.__main__ import main
from dali_core._stubs.compiled import compiled_stub
from dali_core._stubs.text import HEADER, LINE_LENGTH, definition
from dali_core._stubs.tree import COMPILED, all_stubs

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dali_core"
SPECS = all_specs()


def test_committed_stubs_are_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--check", "--root", str(ROOT)])
    assert (status, capsys.readouterr().out) == (0, ""), "run python -m dali_core._stubs"


def test_other_folders_raise(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--root", str(tmp_path)])
    assert "--root must be the source tree" in capsys.readouterr().err


def test_outdated_stubs_are_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for path in (path for folder in COMPILED for path in PACKAGE.glob(f"{folder}/*.p[yx][xdi]")):
        copy = tmp_path / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    superfluous = tmp_path / "dali_core/gone.pyi"
    superfluous.write_text(f"{HEADER}\n")
    by_hand = tmp_path / "dali_core/by_hand.pyi"
    by_hand.touch()
    check = ["--check", "--root", str(tmp_path)]
    assert main(check) == 1
    assert "outdated: dali_core/gone.pyi" in capsys.readouterr().out
    assert main(["--root", str(tmp_path)]) == 0
    assert main(check) == 0
    assert not superfluous.exists()
    assert by_hand.exists()
    written = {path.relative_to(tmp_path) for path in tmp_path.rglob("*.pyi")} - {
        by_hand.relative_to(tmp_path)
    }
    assert written == {path.relative_to(ROOT) for path in PACKAGE.rglob("*.pyi")}


def _resolve(module: object, path: str) -> object:
    for part in path.split("."):
        module = getattr(module, part)
    return module


@functools.cache
def _stub_of(module: str, group: str) -> ast.Module:
    path = PACKAGE.joinpath(module, *filter(None, group.split(".")))
    file = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
    return ast.parse(file.read_text("utf-8"))


@pytest.mark.parametrize("name", SPECS)
def test_functions_have_the_parameters_that_they_have_at_run_time(name: str) -> None:
    group, _, short = name.rpartition(".")
    found = [
        node
        for node in _stub_of("fn", group).body
        if isinstance(node, ast.FunctionDef) and node.name == short
    ]
    assert found
    assert callable(_resolve(fn, name))
    for function in found:
        arguments = function.args
        stated = [arg.arg for arg in (*arguments.posonlyargs, *arguments.kwonlyargs)]
        actual = signature(SPECS[name]).parameters.values()
        positional = [p.name for p in actual if p.kind is not inspect.Parameter.VAR_POSITIONAL]
        assert stated == positional


@pytest.mark.parametrize("name", SPECS)
def test_functions_describe_their_parameters(name: str) -> None:
    group, _, short = name.rpartition(".")
    for node in _stub_of("fn", group).body:
        if isinstance(node, ast.FunctionDef) and node.name == short:
            doc = ast.get_docstring(node) or ""
            described = doc.partition("Parameters\n----------\n")[2]
            names = {line.split(" : ")[0] for line in described.splitlines() if " : " in line}
            assert {arg.arg for arg in node.args.kwonlyargs} <= names
            at_run_time = _resolve(fn, name).__doc__ or ""
            assert "".join(doc.split()) == "".join(at_run_time.replace('"""', "'''").split())


def test_paragraphs_of_docstrings_are_wrapped() -> None:
    doc = f"Do it.\n\n{'word ' * 30}\nend\n- {'item ' * 30}\n- b\n\na : int\n    {'long ' * 30}"
    lines = definition("f", [], "None", doc)
    assert all(len(line) <= LINE_LENGTH for line in lines)
    text = "\n".join(lines)
    assert ast.get_docstring(ast.parse(text).body[0]) is not None
    assert "\n    - b\n\n    a : int\n        long " in text
    assert "word end\n    - item" in text
    assert definition("f", [], "None", "Do it.")[-1] == '    """Do it."""'


def test_arguments_of_pipelines_are_those_of_pipeline_def() -> None:
    tree = ast.parse((PACKAGE / "pipeline" / "_factory.pyi").read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    given = set(inspect.signature(Pipeline.__init__).parameters) - {"self"}
    fields = [node for node in classes["PipelineArguments"].body if isinstance(node, ast.AnnAssign)]
    assert {ast.unparse(field.target) for field in fields} == given
    calls = [
        node.args.kwonlyargs
        for node in classes["PipelineFactory"].body
        if isinstance(node, ast.FunctionDef) and node.args.kwonlyargs
    ]
    assert {arguments[0].arg for arguments in calls} == given | {"enable_conditionals", "debug"}
    for arguments in calls:
        assert {argument.arg for argument in arguments} == given | {"enable_conditionals", "debug"}


@pytest.mark.parametrize("name", SPECS)
def test_classes_exist(name: str) -> None:
    group = name.rpartition(".")[0]
    path = f"{group}.{class_name(name)}" if group else class_name(name)
    assert inspect.isclass(_resolve(ops, path))
    names = {node.name for node in _stub_of("ops", group).body if isinstance(node, ast.ClassDef)}
    assert class_name(name) in names


@pytest.mark.parametrize(
    "path",
    [path for folder in COMPILED for path in sorted(PACKAGE.glob(f"{folder}/*.pyi"))],
    ids=lambda path: f"{path.parent.name}.{path.stem}",
)
def test_compiled_modules_match_their_stubs(path: Path) -> None:
    if path.parent.name == "_cuda":
        pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
    module = importlib.import_module(f"dali_core.{path.parent.name}.{path.stem}")
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef):
            assert callable(getattr(module, node.name))
        elif isinstance(node, ast.ClassDef):
            stated = {item.name for item in node.body if isinstance(item, ast.FunctionDef)}
            # Python shows the buffer protocol of C as methods since 3.12 only.
            stated -= {"__buffer__", "__release_buffer__"}
            missing = {name for name in stated if not hasattr(getattr(module, node.name), name)}
            assert missing == set()
            public = {name for name in vars(getattr(module, node.name)) if name[0] != "_"}
            assert public <= stated


def test_stub_files_belong_to_something() -> None:
    assert set(PACKAGE.rglob("*.pyi")) == set(all_stubs(PACKAGE))


def _compiled(folder: Path, source: str) -> str:
    path = folder / "module.pyx"
    path.write_text(source, "utf-8")
    return compiled_stub(path)


def test_overloads_stand_in_comments(tmp_path: Path) -> None:
    text = _compiled(
        tmp_path,
        '''"""Do things."""

cdef class Things:
    """Things."""

    # No overload: this is a comment like any other.

    # overload: def __init__(self, count: int)
    # overload: def __init__(
    #     self, *, name: str = "a",
    #     size: int = 3
    # )
    def __init__(self, *arguments):
        pass

    # A comment.
    def __len__(self) -> int:
        # overload: def other()
        return 3

    # overload: def __getitem__(self, index: int, /) -> Things
    # overload: def __getitem__(self, index: slice, /) -> list[Things]
    def __getitem__(self, index):
        """Give things."""
''',
    )
    assert (
        text.partition("class Things:")[2]
        == '''
    """Things."""

    @overload
    def __init__(self, count: int) -> None: ...
    @overload
    def __init__(self, *, name: str = "a", size: int = 3) -> None: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, index: int, /) -> Things:
        """Give things."""

    @overload
    def __getitem__(self, index: slice, /) -> list[Things]:
        """Give things."""
'''
    )


def test_types_of_c_become_types_of_python(tmp_path: Path) -> None:
    text = _compiled(
        tmp_path,
        '''"""Do things.

More.
"""
from libc.stdint cimport uint64_t
from dali_core._runtime.tensor_list cimport (
    TensorListCPU, wrap_tensors,
)

cdef class Thing:
    """A thing."""

    cdef int hidden
    cdef readonly Thing next
    cdef public int count

    def __cinit__(self, bint big, *, str name="a"):
        self.hidden = 1

    @property
    def parts(self) -> list[TensorListCPU]:
        """Return the parts.

        Not this line.
        """
        def inner(): pass

    def __getbuffer__(self, Py_buffer* buffer, int flags):
        pass

    def _private(self):
        pass

cdef int helper(int x):
    return x


def make(
    uint64_t count, double scale=1.5, Thing base=None, items: Sequence[int] | None = None
) -> Thing:
    """Make a thing."""
''',
    )
    assert (
        text
        == '''\
# Generated by python -m dali_core._stubs; do not edit.
"""Do things."""

from collections.abc import Sequence

from dali_core._runtime.tensor_list import TensorListCPU

class Thing:
    """A thing."""

    @property
    def next(self) -> Thing: ...
    count: int
    def __init__(self, big: bool, *, name: str = "a") -> None: ...
    @property
    def parts(self) -> list[TensorListCPU]:
        """Return the parts."""

    def __buffer__(self, flags: int, /) -> memoryview: ...

def make(
    count: int,
    scale: float = 1.5,
    base: Thing | None = None,
    items: Sequence[int] | None = None,
) -> Thing:
    """Make a thing."""
'''
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('"""Doc."""\ndef f(int x):\n    pass\n', "f must say what it returns"),
        ('"""Doc."""\ndef f(x) -> int:\n    pass\n', "parameter 'x' of f must have a type"),
        ('"""Doc."""\ndef f(Strange x) -> int:\n    pass\n', r"must be known \(got Strange\)"),
        ("def f(int x) -> int:\n    pass\n", "must begin with a docstring"),
    ],
)
def test_missing_types_are_errors(tmp_path: Path, source: str, message: str) -> None:
    with pytest.raises(ValueError, match=rf"^module.pyx: .*{message}"):
        _compiled(tmp_path, source)
