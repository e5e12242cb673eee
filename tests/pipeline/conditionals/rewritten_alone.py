"""Rewrites programs without native code, and compares them with the originals.

Any interpreter runs it, without the library being installed: ``python rewritten_alone.py``. The
functions that rewritten programs call are replaced by Python's own behaviour.
"""

from __future__ import annotations

import contextlib
import importlib
import itertools
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).parents[3]

PROGRAM = """
import functools

class Base:
    def hello(self):
        return "base"

class Derived(Base):
    __secret = 5

    def method(self, p):
        if p:
            return self.__secret, super().hello()
        return 0, __class__.__name__

def decorated(function):
    @functools.wraps(function)
    def call(*arguments):
        return function(*arguments)
    return call

def generate(p):
    if p:
        yield 1
    else:
        return
    yield 2

@decorated
def program(p, q, r):
    first, second = (lambda z: z if p else -z), (lambda z: -z if p else z)
    total = 0
    match (p, q):
        case (True, other) if other and True:
            total += 1
        case [_, kept]:
            total += 2 + kept
    while True:
        total += 1
        if total > 5:
            break
    else:
        total = 100
    if r:
        found = [i for i in range(4) if i and i != 2]
    else:
        found = {name: number for name, number in zip("ab", range(2))}
    try:
        if p:
            raise KeyError("a")
        caught = 1
    except KeyError as error:
        caught = str(error)
    if (one := total) > 3 and (two := one):
        pass
    return first(2), second(2), total, found, caught, one, two, list(generate(p)), f"{p and q}", (
        Derived().method(p)
    )
"""


class Branch:
    """One run of an `if` without data."""

    is_traced = False

    def __init__(self, test: Any, *_: Any) -> None:
        self._truth = bool(test)
        self.runs = False

    def side(self, side: bool) -> Branch:
        self.runs = self._truth == side
        return self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def leave(self) -> None:
        pass


def all_of(value: Any, *others: Any) -> Any:
    for other in others:
        if not value:
            return value
        value = other()
    return value


def any_of(value: Any, *others: Any) -> Any:
    for other in others:
        if value:
            return value
        value = other()
    return value


def replace_library() -> None:
    """Replace the library by empty packages, and a runtime without data."""
    names = (
        "dali_core",
        "dali_core._graph",
        "dali_core.pipeline",
        "dali_core.pipeline.conditionals",
    )
    for name in names:
        sys.modules[name] = module = ModuleType(name)
        module.__path__ = [str(ROOT.joinpath(*name.split(".")))]
    runtime: Any = ModuleType("dali_core.pipeline.conditionals.runtime")
    runtime.branch = Branch
    runtime.plain = lambda test: test
    runtime.if_expression = lambda test, yes, no: yes() if test else no()
    runtime.all_of, runtime.any_of = all_of, any_of
    runtime.negation = lambda value: not value
    runtime.none_of = lambda *flags: not any(flags)
    runtime.is_over = runtime.while_is_over = lambda *flags: any(flags)
    runtime.__all__ = [name for name in vars(runtime) if not name.startswith("__")]
    sys.modules[runtime.__name__] = sys.modules[names[-1]].runtime = runtime


def main() -> None:
    replace_library()
    sys.path.insert(0, str(Path(__file__).parent))
    conversion = importlib.import_module("dali_core.pipeline.conditionals.conversion")
    programs = importlib.import_module("programs")
    conversion._RUNTIME.convert = conversion.convert
    texts = [PROGRAM, *map(programs.random_program, range(40))]
    for text in texts:
        function = programs.function_from(text, block=contextlib.nullcontext)
        converted = conversion.convert(function)
        assert text != PROGRAM or converted is not function
        for case in itertools.product([False, True], repeat=3):
            assert converted(*case) == function(*case), (text, case)
    text = "def program(p):\n    a = 1\n    if p:\n        raise KeyError\n    return a\n"
    try:
        conversion.convert(programs.function_from(text))(True)
    except KeyError as error:
        (*_, last) = traceback.extract_tb(error.__traceback__)
        assert (last.name, last.lineno) == ("program", 4), last
    print(f"{len(texts)} programs")


if __name__ == "__main__":
    main()
