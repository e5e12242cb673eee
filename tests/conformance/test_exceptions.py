"""An `except` clause that catches an error of NVIDIA DALI catches that of this library.

Every snippet is run with both libraries. Our exception must be an instance of the built-in class,
or class of the snippet, that the reference raises.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core.errors import SampleError
from tests.conformance.failing_snippets import (
    DEFINING,
    ITERATING,
    OTHERWISE,
    RUNNING,
    OwnError,
    Snippet,
    called,
    failing,
    made,
)

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
for library in (reference, dali_core):
    for module in ("fn", "ops", "types", "tensors", "math"):
        importlib.import_module(f"{library.__name__}.{module}")

pytestmark = pytest.mark.filterwarnings("ignore")


def raised(call: Callable[[], Any]) -> BaseException | None:
    """Return the exception of a call, of any class."""
    try:
        call()
    except BaseException as error:
        return error
    return None


def caught_there(snippet: Snippet, folder: Path) -> type[BaseException]:
    """Run a snippet with the reference; return the class that a program would catch."""
    folder.mkdir()
    return next(
        kind
        for kind in type(raised(lambda: snippet(reference, folder))).__mro__
        if kind is OwnError or getattr(builtins, kind.__name__, None) is kind
    )


@pytest.mark.parametrize(
    "snippet",
    [
        pytest.param(snippet, id=f"{group} {name}")
        for group, snippets in (("define", DEFINING), ("run", RUNNING), ("iterate", ITERATING))
        for name, snippet in snippets.items()
    ],
)
def test_the_same_clause_catches(snippet: Snippet, tmp_path: Path) -> None:
    kind = caught_there(snippet, tmp_path / "theirs")
    assert issubclass(kind, Exception)
    assert kind is not Exception
    (tmp_path / "ours").mkdir()
    with pytest.raises(kind):
        snippet(dali_core, tmp_path / "ours")


@pytest.mark.parametrize("name", OTHERWISE)
def test_classes_that_say_more(name: str, tmp_path: Path) -> None:
    snippet, theirs, ours = OTHERWISE[name]
    assert caught_there(snippet, tmp_path / "theirs") is theirs
    (tmp_path / "ours").mkdir()
    error = raised(lambda: snippet(dali_core, tmp_path / "ours"))
    assert isinstance(error, ours)
    assert not isinstance(error, theirs), "it has become the same: move the snippet"


# Exceptions of the program itself


class OwnKeyError(OwnError, KeyError):
    """Also of a built-in class."""


def generate(error: Exception) -> Iterator[Any]:
    yield [np.zeros(1)] * 2
    raise error


class Iterable:
    def __init__(self, error: Exception) -> None:
        self.error = error

    def __iter__(self) -> Any:
        raise self.error


SOURCES: dict[str, tuple[Callable[[Exception], Any], dict[str, Any]]] = {
    "function": (failing, {}),
    "of a batch": (lambda error: lambda _: failing(error)(), {}),
    "of a sample": (lambda error: lambda _: failing(error)(), {"batch": False}),
    "of batch_info": (lambda error: lambda _: failing(error)(), {"batch_info": True}),
    "of several outputs": (failing, {"num_outputs": 2}),
    "generator": (generate, {}),
    "iterable": (Iterable, {}),
    "cycle": (Iterable, {"cycle": "raise"}),
}
ERRORS = [
    lambda: OwnError(1, cure="none"),
    lambda: OwnKeyError(2),
    lambda: FileNotFoundError(2, "No such file"),
    lambda: UnicodeDecodeError("utf-8", b"x", 0, 1, "no text"),
    lambda: AssertionError("no"),
    lambda: RuntimeError("no"),
]


def first_error(library: Any, error: Exception, kind: str, **options: Any) -> Any:
    make, arguments = SOURCES[kind]
    source = make(error)

    def run() -> None:
        pipeline = made(library, lambda lib: lib.fn.external_source(source, **arguments), **options)
        for _ in range(3):
            pipeline.run()

    return raised(run)


@pytest.mark.parametrize("make_error", ERRORS)
@pytest.mark.parametrize("kind", SOURCES)
def test_source_exception_propagates_unchanged(
    make_error: Callable[[], Exception], kind: str
) -> None:
    for lib in (reference, dali_core):
        error = make_error()
        assert first_error(lib, error, kind) is error
    (note,) = error.__notes__
    assert note.startswith("raised for fn.external_source, at ")
    assert f"{Path(__file__).name}:" in note
    assert f"iteration {int(kind == 'generator')}" in note
    assert ("sample 0" in note) is (kind == "of a sample")


@pytest.mark.parametrize(
    "options",
    [
        {"prefetch_queue_depth": 1},
        {"exec_async": False, "exec_pipelined": False},
        {"prefetch_queue_depth": 4},
    ],
)
def test_source_exception_propagates_from_any_call(options: dict[str, Any]) -> None:
    for lib in (reference, dali_core):
        error = OwnError(3)
        assert first_error(lib, error, "function", **options) is error


def test_the_next_batch_follows() -> None:
    def source(iteration: int) -> Any:
        if iteration == 1:
            raise OwnError(1)
        return [np.int32(iteration)] * 2

    pipeline = made(dali_core, lambda lib: lib.fn.external_source(source))
    pipeline.run()
    with pytest.raises(OwnError):
        pipeline.run()
    assert pipeline.run()[0].at(0) == 2


def test_function_exception_becomes_a_sample_error() -> None:
    # The reference raises a RuntimeError that contains only the text of the original exception.
    def fail(_: Any) -> Any:
        raise OwnError(1)

    with pytest.raises(RuntimeError, match="OwnError: code 1"):
        called(reference, fail)
    with pytest.raises(SampleError, match="sample 0: .*OwnError: code 1") as caught:
        called(dali_core, fail)
    assert isinstance(caught.value.__cause__, OwnError)
