"""Wrong calls of an operator, made of an example that is right: `python -m tests.conformance.wrong_calls`.

Each is run by both libraries. An `except` clause that catches the exception of the reference must
catch ours.
"""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

import dali_core
from dali_core._graph.registry import all_specs
from dali_core._spec import REQUIRED
from dali_core.testing.examples import list_of

WRONG_VALUES: Mapping[str, Any] = MappingProxyType(
    {
        "text": "no such",
        "object": object(),
        "nothing in a list": [],
        "many numbers": [1.0] * 7,
        "nested": [[1, 2], [3]],
        "mapping": {"a": 1},
        "negative": -7,
        "huge": 2**70,
        "not a number": float("nan"),
        "bytes": b"ab",
        "complex": 1j,
    }
)
DTYPES = ("bool", "uint8", "int16", "int64", "float16", "float32", "float64")
LAYOUTS = ("", "X", "HW", "CHW", "HWC", "FHWC", "DHWC", "WHC", "XYZ", "ABCDEF")


@dataclass(frozen=True)
class Call:
    """A call of an operator: samples and layouts of its inputs, and its arguments."""

    operator: str
    inputs: tuple[tuple[np.ndarray, str], ...]
    arguments: dict[str, Any]

    def __call__(self, library: Any) -> None:
        """Define, build and run a pipeline with it."""
        function = library.fn
        for part in self.operator.split("."):
            function = getattr(function, part)
        pipeline = library.Pipeline(2, 1, None, seed=1)
        with pipeline:
            nodes = [source_of(library, array, layout) for array, layout in self.inputs]
            outputs = function(*nodes, **translated(library, self.arguments))
            pipeline.set_outputs(*list_of(outputs))
        pipeline.build()
        pipeline.run()


def source_of(library: Any, array: np.ndarray, layout: str) -> Any:
    """Return a node that gives the same sample always."""
    named = {"layout": layout} if layout else {}
    return library.fn.external_source(lambda: [array] * 2, **named)


def translated(library: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with enumerators of the library."""
    return {name: _of(library, value) for name, value in arguments.items()}


def _of(library: Any, value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_of(library, each) for each in value]
    module = type(value).__module__
    if module.startswith("dali_core") and hasattr(value, "name"):
        return getattr(getattr(library.types, type(value).__name__), value.name)
    return value


def wrong_calls(right: Call) -> Iterator[tuple[str, Call]]:
    """Yield calls in which one thing is wrong, with words for it; some may be right."""
    operator, inputs, arguments = right.operator, right.inputs, right.arguments
    for number, (array, layout) in enumerate(inputs):
        for dtype in DTYPES:
            if array.dtype != dtype:
                with np.errstate(all="ignore"):
                    yield f"input {number} of {dtype}", _with(right, number, array.astype(dtype), layout)
        for other in LAYOUTS:
            if other != layout and len(other) in (0, array.ndim):
                yield f"input {number} with layout {other!r}", _with(right, number, array, other)
        yield f"input {number} with a dimension more", _with(right, number, array[None], "")
        if array.ndim:
            yield f"input {number} with a dimension less", _with(right, number, array[:1].reshape(-1), "")
            yield f"input {number} without elements", _with(right, number, array[:0], layout)
        yield f"input {number} missing", Call(operator, inputs[:number] + inputs[number + 1 :], arguments)
    more = (*inputs, inputs[-1] if inputs else (np.zeros(3, np.float32), ""))
    yield "an input too many", Call(operator, more * 9, arguments)
    yield "an unknown argument", Call(operator, inputs, {**arguments, "no_such": 1})
    for arg in all_specs()[operator].args:
        if arg.name in arguments and arg.default is REQUIRED:
            fewer = {name: value for name, value in arguments.items() if name != arg.name}
            yield f"{arg.name} missing", Call(operator, inputs, fewer)
        if arg.type is object:
            continue
        for name, value in WRONG_VALUES.items():
            if not (isinstance(value, str) and arg.type is str and not arg.choices):
                changed = {**arguments, arg.name: value}
                yield f"{arg.name}: {name}", Call(operator, inputs, changed)


def _with(call: Call, number: int, array: np.ndarray, layout: str) -> Call:
    inputs = list(call.inputs)
    inputs[number] = (np.ascontiguousarray(array), layout)
    return Call(call.operator, tuple(inputs), call.arguments)


def kind_of(run: Callable[[], Any]) -> type[BaseException] | None:
    """Return the built-in class by which a program would catch what is raised."""
    try:
        run()
    except Exception as error:
        return next(kind for kind in type(error).__mro__ if getattr(builtins, kind.__name__, 0) is kind)
    return None


def error_of(run: Callable[[], Any]) -> Exception | None:
    """Return what is raised."""
    try:
        run()
    except Exception as error:
        return error
    return None
