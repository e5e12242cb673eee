"""Rewritten programs behave like Python, with ordinary conditions and with those on data."""

# ruff: noqa: PLC3002 (what is written in other ways elsewhere)

from __future__ import annotations

import contextlib
import functools
import itertools
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import DataNode, fn, pipeline_def
from dali_core.errors import GraphError
from dali_core.pipeline.conditionals.conversion import convert
from tests.pipeline.conditionals.branching import build, data, run, run_one
from tests.pipeline.conditionals.programs import CONDITIONS, function_from, random_program

CASES = list(itertools.product([False, True], repeat=len(CONDITIONS)))


def as_data(value: Any) -> Any:
    return value if isinstance(value, DataNode) else fn.constant(idata=[int(value)], shape=[])


def for_each_case(function: Callable[..., Any], **options: Any) -> list[tuple[int, ...]]:
    """Run a function of three conditions on data, one sample for each case."""

    def define() -> Any:
        columns = [data(column) for column in zip(*CASES, strict=True)]
        results = function(*columns)
        return tuple(map(as_data, results if isinstance(results, tuple) else (results,)))

    return list(zip(*run(define, batch_size=len(CASES), **options), strict=True))


def as_python(function: Callable[..., Any]) -> list[tuple[int, ...]]:
    """Run a function of three conditions as it is."""
    results = [function(*case) for case in CASES]
    return [result if isinstance(result, tuple) else (result,) for result in results]


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_programs_made_at_random(seed: int) -> None:
    function = function_from(random_program(seed), block=contextlib.nullcontext)
    expected = as_python(function)
    assert as_python(convert(function)) == expected
    assert for_each_case(function, optimize=seed % 2 == 0) == expected


def leaves_early(p: Any, q: Any, r: Any) -> Any:
    if p:
        if q:
            return 1
    elif r:
        return 2
    value = 3
    if q:
        return value
    return 4


def leaves_loops(p: Any, q: Any, r: Any) -> Any:
    found, seen = -1, 0
    for outer in range(3):
        for inner in range(3):
            if p and outer != inner:
                continue
            if q:
                found = 10 * outer + inner
                break
            seen = inner
        else:
            found = outer
            if r:
                break
        if r:
            return found, seen, outer
    else:
        seen = 99
    return found, seen, outer


def leaves_blocks(p: Any, q: Any, r: Any) -> Any:
    value = 0
    with contextlib.nullcontext(5) as five:
        if p:
            return five
        try:
            if q:
                return 6
            value = 7
        finally:
            closed = 8
        value = closed
    match five:
        case 5 if True:
            if r:
                return 9
            value = 10
        case _:
            value = 11
    return value


def counts_in_while(p: Any, q: Any, r: Any) -> Any:
    count, value = 0, 0
    while True:
        count += 1
        if count > 3:
            break
        if p:
            continue
        value = count
    else:
        value = -1
    return value, count


def in_expressions(p: Any, q: Any, r: Any) -> Any:
    choices = [1 if condition else 2 for condition in (p, q, r)]
    nested = 3 if p else 4 if q else 5
    table = {name: 6 if value else 7 for name, value in zip("pq", (p, q), strict=True)}
    return (*choices, nested, table["p"], table["q"], (lambda z: 8 if z else 9)(r))


def with_names(p: Any, q: Any, r: Any) -> Any:
    if (s := p and q) and True:
        import math as mathematics

        total = mathematics.floor(2.5)
    else:
        total = 1
    if s:

        def inner() -> int:
            return 5
    else:
        inner = None  # type: ignore[assignment]  # noqa: F841
    total, other = (total, 3) if r else (0, total)
    return total, other


def in_helpers(p: Any, q: Any, r: Any) -> Any:
    base = 100

    def closure(condition: Any, *values: Any, default: Any = base) -> Any:
        nonlocal base
        if condition:
            base = 200
            return values[0]
        return default

    def deep(condition: Any, depth: int) -> Any:
        if depth == 0:
            return 0
        if condition:
            return depth
        return deep(q, depth - 1)

    first = closure(p, 1)
    return first, base, deep(r, 3), functools.partial(closure, default=2)(q, 3)


class Chooser:
    """An object with conditionals, called in all possible ways."""

    __secret = 3

    def __init__(self, condition: Any) -> None:
        if condition:
            self.kept = 1
        else:
            self.kept = 2

    def method(self, condition: Any) -> Any:
        return self.__secret if condition else 4

    @classmethod
    def of_class(cls, condition: Any) -> Any:
        return cls.__secret if condition else 5

    @staticmethod
    def static(condition: Any) -> Any:
        return 6 if condition else 7

    def __call__(self, condition: Any) -> Any:
        return 8 if condition else 9


class Derived(Chooser):
    def method(self, condition: Any) -> Any:
        if condition:
            return super().method(condition)
        return 10


def wrapped(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        return function(*arguments)

    return call


@wrapped
def decorated(condition: Any) -> Any:
    if condition:
        return 11
    return 12


def in_objects(p: Any, q: Any, r: Any) -> Any:
    class Local(Chooser):
        @property
        def value(self) -> Any:
            return 13 if q else 14

    chooser = Derived(p)
    results = [chooser.kept, chooser.method(q), Derived.of_class(r), chooser.static(p), chooser(q)]
    return (*results, decorated(r), Local(p).value, *map(decorated, [p, q]))


@pytest.mark.parametrize(
    "function",
    [
        leaves_early,
        leaves_loops,
        leaves_blocks,
        counts_in_while,
        in_expressions,
        with_names,
        in_helpers,
        in_objects,
    ],
)
def test_constructs(function: Callable[..., Any]) -> None:
    expected = as_python(function)
    assert as_python(convert(function)) == expected
    assert for_each_case(function) == expected


def test_ordinary_conditions_are_evaluated_by_need() -> None:
    seen: list[str] = []

    def note(name: str, value: Any) -> Any:
        seen.append(name)
        return value

    def define() -> Any:
        result: Any = None or data([1])
        if note("a", 0) and note("never", 1):
            result = note("never", 2)
        elif note("b", []) or note("c", "x"):
            result = result if note("d", True) else note("never", 3)
        if not note("e", False):
            return result
        return None

    assert run_one(define, batch_size=1) == [1]
    assert seen == ["a", "b", "c", "d", "e"]


def test_function_attributes_are_kept() -> None:
    def documented(first: int, /, second: int = 2, *, third: int = 3) -> tuple[int, int, int]:
        """Say it."""
        first, second, third = map(int, (first, second, third))
        return first, second, third

    documented.mark = "kept"  # type: ignore[attr-defined]
    converted = convert(documented)
    assert converted is not documented
    assert converted(1) == (1, 2, 3)
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__defaults__"):
        assert getattr(converted, name) == getattr(documented, name)
    assert converted.mark == "kept"
    old, new = documented.__code__, converted.__code__
    assert (new.co_filename, new.co_firstlineno) == (old.co_filename, old.co_firstlineno)
    assert convert(converted) is converted
    nothing = lambda first: first  # noqa: E731
    assert convert(nothing) is nothing


@pytest.mark.parametrize("function", [len, print, fn.copy, DataNode, contextlib.suppress, 3])
def test_library_functions_are_not_rewritten(function: Any) -> None:
    assert convert(function) is function


def test_lines_in_tracebacks() -> None:
    def define(condition: Any) -> Any:
        value = 1
        if condition:
            value = max(
                2,
                3,
            )
            raise KeyError("here")
        return value

    first = define.__code__.co_firstlineno
    with pytest.raises(KeyError) as caught:
        build(lambda: define(data([True])))
    own = [line for line in traceback.extract_tb(caught.tb) if line.name == "define"]
    assert [(line.filename, line.lineno) for line in own] == [(__file__, first + 7)]


def test_lines_of_operators() -> None:
    def define() -> Any:
        value = data([1])
        if (
            data([True])
            and data([False])
        ):  # fmt: skip
            value = fn.copy(
                value
            )  # fmt: skip
        return value

    pipeline = build(define, batch_size=1)
    first = define.__code__.co_firstlineno
    nodes = pipeline._definition.graph.nodes
    lines = {
        node.spec.name: int(node.location.rpartition(":")[2]) - first
        for node in nodes
        if node.location.startswith(__file__)
    }
    assert lines["copy"] == 6
    assert lines["conditional.merge"] == 2


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("    while p:\n        pass\n    return p\n", "no truth value"),
        ("    while True:\n        if p: break\n    return p\n", "`for ... in range`"),
        ("    while True:\n        if p: return 1\n    return p\n", "`for ... in range`"),
        ("    assert p\n    return p\n", "no truth value"),
        ("    return [x for x in (1, 2) if p]\n", "no truth value"),
        ("    return (y := 1) if p else 2\n", "must not be about data"),
        ("    return p and (y := p)\n", "must not be about data"),
        ("    def g():\n        if p: yield 1\n    return next(g())\n", "must not be about data"),
    ],
)
def test_data_dependent_statements_raise(body: str, problem: str) -> None:
    define = function_from(f"def define(p):\n{body}", "define")
    with pytest.raises(GraphError, match=problem):
        build(lambda: define(data([True])))


def test_functions_without_source() -> None:
    names: dict[str, Any] = {}
    exec("def choose(p):\n    if p: return 1\n    return 2\n", names)
    with pytest.raises(GraphError, match=r"source of 'choose' must be available"):
        pipeline_def(names["choose"], enable_conditionals=True)(batch_size=1, device_id=None)
    assert names["choose"](True) == 1
    with pytest.raises(GraphError, match="whose source is in a file"):
        build(lambda: names["choose"](data([True])))


def test_functions_that_share_a_line() -> None:
    first, second = (lambda p: 1 if p else 2), (lambda p: 3 if not p else 4)
    same = [lambda p: 5 if p else 6, lambda p: 5 if p else 6]
    cases = [True, False]
    assert run_one(lambda: first(data(cases)), batch_size=2) == [1, 2]
    assert run_one(lambda: second(data(cases)), batch_size=2) == [4, 3]
    assert run_one(lambda: same[1](data(cases)), batch_size=2) == [5, 6]


def test_generators_with_ordinary_conditions() -> None:
    def values(flag: bool) -> Iterator[int]:
        if flag:
            yield 1
        else:
            return
        yield 2

    def define() -> Any:
        assert (list(values(True)), list(values(False))) == ([1, 2], [])
        return data([7])

    assert run_one(define, batch_size=1) == [7]


def test_sources_are_not_rewritten() -> None:
    called: list[Any] = []

    def load(number: int) -> np.ndarray:
        called.append(sys._getframe().f_code)
        return np.int32(number) if number else np.int32(-1)

    def define() -> Any:
        def source() -> list[Any]:
            return [load(number) for number in range(2)]

        return fn.external_source(source)

    assert run_one(define, batch_size=2) == [-1, 1]
    assert set(called) == {load.__code__}


def test_pipelines_are_defined_side_by_side() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
    def choose(first: int, second: int = 5) -> Any:
        if data([True, False]):
            return first
        return second

    pipelines = [choose(1), choose(2, 3), choose(first=4, batch_size=2)]
    results = [pipeline.run()[0].as_array().tolist() for pipeline in pipelines]
    assert results == [[1, 5], [2, 3], [4, 5]]


def test_methods_may_define_pipelines() -> None:
    class Maker:
        number = 3

        @pipeline_def(batch_size=2, device_id=None, enable_conditionals=True)
        def from_method(self) -> Any:
            return self.number if data([True, False]) else 4

        def plain(self) -> Any:
            if data([True, False]):
                return self.number
            return 5

    maker = Maker()
    assert Maker.from_method(maker).run()[0].as_array().tolist() == [3, 4]
    assert run_one(maker.plain, batch_size=2) == [3, 5]


def test_importing_the_library_rewrites_nothing() -> None:
    program = (
        "import dali_core; from dali_core.pipeline.conditionals import conversion; "
        "print(conversion._CODES)"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert result.stdout.strip() == "{}"
