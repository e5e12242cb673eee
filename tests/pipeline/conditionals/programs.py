"""Random programs with conditions, and functions compiled from text."""

from __future__ import annotations

import itertools
import linecache
import random
from collections.abc import Callable, Iterator
from typing import Any

_NUMBERS = itertools.count()

VARIABLES = ("a", "b", "c")
CONDITIONS = ("p", "q", "r")


def function_from(text: str, name: str = "program", **names: Any) -> Callable[..., Any]:
    """Define a function whose source Python can find.

    Parameters
    ----------
    text : str
        A module that defines it.
    name : str
        Its name.
    **names
        Global variables of the module.
    """
    filename = f"<made for a test {next(_NUMBERS)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace: dict[str, Any] = {"__name__": "made_for_a_test", **names}
    exec(compile(text, filename, "exec"), namespace)
    function: Callable[..., Any] = namespace[name]
    return function


def random_program(seed: int) -> str:
    """Write a function that takes conditions and returns numbers.

    It assigns numbers to variables, in nested branches, loops and other blocks, and may leave these
    early.
    """
    draw = random.Random(seed)
    lines = [f"def program({', '.join(CONDITIONS)}):"]
    lines += [f"    {name} = {number}" for number, name in enumerate(VARIABLES)]
    lines += [f"    {line}" for line in _block(draw, 3, None)]
    lines.append(f"    return {', '.join(VARIABLES)}")
    return "\n".join(lines) + "\n"


def _block(draw: random.Random, depth: int, loop: str | None) -> list[str]:
    lines = [line for _ in range(draw.randint(1, 3)) for line in _statement(draw, depth, loop)]
    return lines or ["pass"]


def _statement(draw: random.Random, depth: int, loop: str | None) -> Iterator[str]:
    kinds = ["number", "copy", "sum", "choice", "pair"]
    if depth:
        kinds += ["if", "if", "if", "for", "block"]
    if depth < 3:
        kinds += ["return"] + (["break", "continue"] if loop else [])
    kind = draw.choice(kinds)
    name = draw.choice(VARIABLES)
    if kind == "number":
        yield f"{name} = {draw.randrange(10, 1000)}"
    elif kind == "copy":
        yield f"{name} = {draw.choice(VARIABLES)}"
    elif kind == "sum":
        yield draw.choice([f"{name} += {draw.randrange(9)}", f"{name} = a + b - c"])
    elif kind == "choice":
        yield f"{name} = {draw.choice(VARIABLES)} if {_condition(draw)} else {draw.randrange(99)}"
    elif kind == "pair":
        yield f"a, b = {draw.choice(VARIABLES)}, {draw.choice(VARIABLES)}"
    elif kind == "if":
        yield f"if {_condition(draw)}:"
        yield from _below(draw, depth, loop)
        if draw.random() < 0.3:
            yield f"elif {_condition(draw)}:"
            yield from _below(draw, depth, loop)
        if draw.random() < 0.5:
            yield "else:"
            yield from _below(draw, depth, loop)
    elif kind == "for":
        variable = f"i{depth}"
        yield f"for {variable} in range({draw.randint(0, 3)}):"
        if draw.random() < 0.5:
            yield f"    {name} = {variable}"
        yield from _below(draw, depth, variable)
        if draw.random() < 0.3:
            yield "else:"
            yield from _below(draw, depth, loop)
    elif kind == "block":
        start = draw.choice(["try:", "with block():", "if True:"])
        yield start
        yield from _below(draw, depth, loop)
        if start == "try:":
            yield draw.choice(["finally:", "except KeyError:"])
            yield "    pass"
    elif kind == "return":
        yield f"return {', '.join(draw.choice(VARIABLES) for _ in VARIABLES)}"
    else:
        yield kind


def _below(draw: random.Random, depth: int, loop: str | None) -> Iterator[str]:
    return (f"    {line}" for line in _block(draw, depth - 1, loop))


def _condition(draw: random.Random) -> str:
    first, second = draw.choice(CONDITIONS), draw.choice(CONDITIONS)
    forms = ["{0}", "{0}", "not {0}", "{0} and {1}", "{0} or not {1}", "not ({0} and {1})"]
    forms.append(f"{draw.choice(VARIABLES)} < {draw.randrange(50)}")
    return draw.choice([*forms, "True", "{0} and True"]).format(first, second)
