"""The library uses nothing in which Python prints and forgets what the handler of a signal raises.

That are callbacks of weak references, ``__del__``, hooks of forks, of the garbage collector and of
the end of the interpreter, and functions that C code calls. Ctrl-C is lost there. What the standard
library itself does in this way is found in its sources.
"""

from __future__ import annotations

import ast
import importlib.util
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.test_layout import ROOT

FILES = sorted(
    path
    for folder in ("dali_core", "adapters")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in (".py", ".pyx", ".pxd")
)
WITH_CALLBACKS = {"WeakSet", "WeakValueDictionary", "WeakKeyDictionary", "WeakMethod", "finalize"}
HOOKS = {
    "register_at_fork",
    "callbacks",
    "CFUNCTYPE",
    "PYFUNCTYPE",
    "__del__",
    "__unraisablehook__",
}

# Where one of them is used all the same, and why nothing is lost.
ALLOWED = {
    ("finalizer.pyx", "ref"): "the callback is C code, and runs the function in another thread",
    (
        "finalizer.pyx",
        "register",
    ): "the callback is C code; it prints what the program's end raises",
    ("processes.py", "ref"): "the callback is a method of deque, which is C code",
    ("processes.py", "BaseProcess"): "an annotation",
    ("processes.py", "Thread"): "released where only the thread of a finaliser has it",
    ("threads.py", "Thread"): "held by a finaliser, whose thread releases it",
    ("runner.py", "Thread"): "held by a finaliser, whose thread releases it",
    ("step_thread.py", "Thread"): "an annotation",
    ("server.py", "Thread"): "in a worker, where Ctrl-C is ignored",
    ("thread_start.py", "Thread"): "made and released in another thread, or an annotation",
    ("thread_start.py", "ThreadPoolExecutor"): "made and released in another thread",
    ("index_builders.py", "Popen"): "made and released in threads of map_in_threads",
    ("top.py", "Popen"): "released at the end of a command, which has nothing left to end",
    ("descriptions.py", "TemporaryDirectory"): "in tests of packages only",
    ("tensor_memory.pyx", "register"): "C code, at the end of the interpreter",
    ("adapter.py", "register"): "at the end of the interpreter, where Ctrl-C has nothing to end",
    ("backend.py", "PYFUNCTYPE"): "functions of C that Python calls, and not the other way round",
    ("device_allocator.pyx", "memory"): "no allocator of Python's is called",
    ("exchange.pyx", "_drop_unversioned"): "calls C code only",
    ("exchange.pyx", "_drop_versioned"): "calls C code only",
    ("exchange.pyx", "release_buffer"): "calls C code only",
    ("memory.pyx", "_describe"): "makes a text",
    ("memory_block.pyx", "_ask_allocator"): "has Ctrl-C come once more",
    ("memory_block.pyx", "_call_deallocate"): "keeps the exception that is on its way",
    ("memory_block.pyx", "_deallocate"): "has Ctrl-C come once more",
    ("stream.pyx", "_wait_for_everything"): "calls C code only",
    **(
        {
            (
                "inflating.py",
                "GzipFile",
            ): "since 3.15 it has a finaliser, which closes bytes in memory"
        }
        if sys.version_info >= (3, 15)
        else {}
    ),
}


def _called_name(node: ast.Call) -> str:
    function = node.func
    return getattr(function, "attr", getattr(function, "id", ""))


def _has_callback(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and _called_name(node) in ("ref", "proxy", "KeyedRef")
        and len(node.args) > 1
    )


@cache
def _classes_that_swallow(module: str) -> frozenset[str]:
    """Return the classes of a standard module that run code when they are garbage."""
    spec = importlib.util.find_spec(module)
    if spec is None or not (spec.origin or "").endswith(".py"):
        return frozenset()
    tree = ast.parse(Path(str(spec.origin)).read_text("utf-8"))
    weak = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _called_name(node.value) in WITH_CALLBACKS
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    return frozenset(
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any(
            _has_callback(part)
            or (isinstance(part, ast.FunctionDef) and part.name == "__del__")
            or (isinstance(part, ast.Name) and part.id in weak)
            or (isinstance(part, ast.Call) and _called_name(part) in WITH_CALLBACKS)
            for part in ast.walk(node)
        )
    )


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _standard(module: str) -> bool:
    return module.partition(".")[0] in sys.stdlib_module_names


@cache
def _submodules(module: str) -> frozenset[str]:
    """A package of the standard library gives names of its modules."""
    spec = importlib.util.find_spec(module)
    folders = spec.submodule_search_locations if spec else None
    return frozenset(
        f"{module}.{path.stem}" for path in Path((folders or ["/nowhere"])[0]).glob("*.py")
    )


def _found_in_python(text: str) -> set[str]:
    tree = ast.parse(text)
    swallowing = WITH_CALLBACKS | HOOKS
    for module in set(_imported(tree)):
        if not _standard(module):
            continue
        try:
            for name in (module, *_submodules(module)):
                swallowing = swallowing | _classes_that_swallow(name)
        except ModuleNotFoundError:  # a name, and no module
            continue
    found = set()
    for node in ast.walk(tree):
        if _has_callback(node):
            found.add("ref")
        if isinstance(node, ast.FunctionDef) and node.name in swallowing:
            found.add(node.name)
        if isinstance(node, ast.Attribute) and node.attr in swallowing:
            found.add(node.attr)
        if isinstance(node, ast.Name) and node.id in swallowing:
            found.add(node.id)
        if isinstance(node, ast.Attribute) and ast.unparse(node) == "atexit.register":
            found.add("register")
    return found


def _found_in_cython(text: str) -> set[str]:
    found = set(re.findall(rf"\b({'|'.join(WITH_CALLBACKS | HOOKS)})\b", text))
    found |= {"ref"} & set(re.findall(r"weakref\.(ref)\([^()]*,", text))
    found |= set(re.findall(r"atexit\.(register)\b", text))
    # What such a function raises is printed, unless it runs without the interpreter.
    found |= {
        name
        for name, rest in re.findall(
            r"^\s*cdef [^=\n]*?(\w+)\([^)]*\)( noexcept[^\n]*):", text, re.M
        )
        if "nogil" not in rest
    }
    return found


def _found(path: Path) -> set[str]:
    text = path.read_text("utf-8")
    return _found_in_python(text) if path.suffix == ".py" else _found_in_cython(text)


def test_exception_handlers_that_swallow_are_listed() -> None:
    found = {(path.name, name) for path in FILES for name in _found(path)}
    assert {entry for entry in found if entry not in ALLOWED} == set()
    assert {entry for entry in ALLOWED if entry not in found} == set()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import weakref\nknown = weakref.WeakSet()", "WeakSet"),
        ("from weakref import WeakValueDictionary\nWeakValueDictionary()", "WeakValueDictionary"),
        ("import weakref\nweakref.finalize(x, print)", "finalize"),
        ("from weakref import ref\nref(x, print)", "ref"),
        ("class A:\n    def __del__(self): pass", "__del__"),
        ("import os\nos.register_at_fork(before=print)", "register_at_fork"),
        (
            "from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor()",
            "ThreadPoolExecutor",
        ),
        ("import threading\nthreading.Thread()", "Thread"),
        ("import subprocess\nsubprocess.Popen('x')", "Popen"),
        ("import tempfile\ntempfile.TemporaryDirectory()", "TemporaryDirectory"),
    ],
)
def test_each_kind_is_found(text: str, name: str) -> None:
    assert name in _found_in_python(text)
