"""Wrong calls of operators, made of examples that are right.

``python -m tests.conformance.wrong_calls 1000`` runs as many of each operator in both libraries and
prints those for which an `except` clause of a program for the reference would miss our error.
"""

from __future__ import annotations

import importlib
import inspect
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

import dali_core
from dali_core._registry.specs import all_specs
from dali_core._spec import REQUIRED
from dali_core.testing.examples import list_of
from tests.operators.suite import find_examples, present_names

KINDS: tuple[type[Exception], ...] = (
    RuntimeError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    AssertionError,
    NotImplementedError,
    AttributeError,
    OSError,
)
"""Built-in classes that programs catch."""
WRONG_VALUES: Mapping[str, Any] = MappingProxyType(
    {
        "text": "no such",
        "object": object(),
        "many numbers": [1.0] * 7,
        "nested": [[1, 2], [3]],
        "mapping": {"a": 1},
        "negative": -7,
        "not a number": float("nan"),
        "bytes": b"ab",
        "complex": 1j,
    }
)
DTYPES = ("bool", "uint8", "int16", "int64", "float16", "float32", "float64")
LAYOUTS = ("", "X", "HW", "CHW", "HWC", "FHWC", "DHWC", "WHC", "XYZ", "ABCDEF")
WITHOUT = (
    "decoders.",
    "dl_tensor",
    "dump_image",
    "experimental.",
    "external_source",
    "io.",
    "jitter",
)
WITHOUT += ("jpeg_", "numba", "plugin", "python_function", "readers.", "video")
"""Operators that read files or call functions, or have no CPU variant in the reference."""
CRASHES = (
    ("erase", "input"),
    ("paste", "ratio"),
    ("random_resized_crop", "size"),
    ("resize", "not a number"),
    ("resize_crop_mirror", "not a number"),
    ("tensor_resize", "not a number"),
)
"""Operators and words of calls that end the process in the reference."""


@dataclass(frozen=True)
class Call:
    """A call of an operator: a sample and a layout for each input, and its arguments."""

    operator: str
    inputs: tuple[tuple[np.ndarray, str], ...]
    arguments: Mapping[str, Any]

    def __call__(self, library: Any) -> None:
        """Define, build and run a pipeline with it."""
        function = _found(library, self.operator)
        pipeline = library.Pipeline(2, 1, None, seed=1)
        with pipeline:
            nodes = [_source(library, array, layout) for array, layout in self.inputs]
            arguments = {name: _of(library, value) for name, value in self.arguments.items()}
            pipeline.set_outputs(*list_of(function(*nodes, **arguments)))
        pipeline.build()
        pipeline.run()

    def error(self, library: Any) -> Exception | None:
        """Return what a library raises."""
        try:
            self(library)
        except Exception as error:
            return error
        return None


def _found(library: Any, operator: str) -> Any:
    return attrgetter(operator)(library.fn)


def _source(library: Any, array: np.ndarray, layout: str) -> Any:
    named = {"layout": layout} if layout else {}
    return library.fn.external_source(lambda: [array] * 2, **named)


def _of(library: Any, value: Any) -> Any:
    """Return a value with the enumerators of a library."""
    if isinstance(value, (list, tuple)):
        return [_of(library, each) for each in value]
    if type(value).__module__.startswith("dali_core"):
        return getattr(getattr(library.types, type(value).__name__), value.name)
    return value


def right_calls(folder: Path) -> Iterator[Call]:
    """Yield the first example of each operator."""
    for operator in present_names():
        examples = () if operator.startswith(WITHOUT) else find_examples(operator)
        for example in examples[:1]:
            inputs = tuple((np.asarray(one.make(4)), one.layout) for one in example.inputs)
            yield Call(operator, inputs, example.arguments_in(folder))


def wrong_calls(right: Call) -> Iterator[tuple[str, Call]]:
    """Yield calls in which one thing is wrong, with words for it; some of them are right."""
    for name, call in (*_wrong_inputs(right), *_wrong_arguments(right)):
        if not any(right.operator == operator and words in name for operator, words in CRASHES):
            yield name, call


def _wrong_inputs(right: Call) -> Iterator[tuple[str, Call]]:
    for number, (array, layout) in enumerate(right.inputs):

        def changed(array: np.ndarray, layout: str, number: int = number) -> Call:
            inputs = list(right.inputs)
            inputs[number] = (np.ascontiguousarray(array), layout)
            return replace(right, inputs=tuple(inputs))

        what = f"input {number}"
        for dtype in DTYPES:
            with np.errstate(all="ignore"):
                yield f"{what} of {dtype}", changed(array.astype(dtype), layout)
        for other in LAYOUTS:
            if len(other) in (0, array.ndim):
                yield f"{what} with layout {other!r}", changed(array, other)
        yield f"{what} with another dimension", changed(array[None], "")
        if array.ndim:
            yield f"{what} of one dimension", changed(array[:1].reshape(-1), "")
        fewer = (*right.inputs[:number], *right.inputs[number + 1 :])
        yield f"{what} missing", replace(right, inputs=fewer)
    more = (*right.inputs, (np.zeros(3, np.float32), "")) * 9
    yield "too many inputs", replace(right, inputs=more)


def _wrong_arguments(right: Call) -> Iterator[tuple[str, Call]]:
    given = right.arguments
    yield "an unknown argument", replace(right, arguments={**given, "no_such": 1})
    for arg in all_specs()[right.operator].args:
        if arg.name in given and arg.default is REQUIRED:
            fewer = {name: value for name, value in given.items() if name != arg.name}
            yield f"{arg.name} missing", replace(right, arguments=fewer)
        if arg.type is object:
            continue
        for name, value in WRONG_VALUES.items():
            yield f"{arg.name}: {name}", replace(right, arguments={**given, arg.name: value})


def missed(theirs: Exception, ours: Exception) -> list[str]:
    """Return the built-in classes of the reference's error that ours is not an instance of."""
    return [
        kind.__name__ for kind in KINDS if isinstance(theirs, kind) and not isinstance(ours, kind)
    ]


def compare(library: Any, right: Call, count: int) -> tuple[int, list[str]]:
    """Run as many wrong calls; return how many both refuse, and those that are missed."""
    if right.error(library) is not None:
        return 0, []
    function = _found(library, right.operator)
    known = {*inspect.signature(function).parameters, "no_such"}
    # An argument that only this library has is an unknown one there, whatever its value.
    calls = [
        (name, call)
        for name, call in wrong_calls(right)
        if {*call.arguments} - {*right.arguments} <= known
    ]
    chosen = random.Random(right.operator).sample(calls, min(count, len(calls)))
    num_refused, found = 0, []
    for name, call in chosen:
        theirs, ours = call.error(library), call.error(dali_core)
        if theirs is not None and ours is not None:
            num_refused += 1
            kinds = missed(theirs, ours)
            if kinds:
                found.append(
                    f"{right.operator}, {name}: {kinds}, not {type(ours).__name__}: {ours}"
                )
    return num_refused, found


def main(count: int, show: Callable[[str], Any] = print) -> int:
    """Compare `count` calls of each operator; return how many are missed."""
    warnings.simplefilter("ignore")
    library = importlib.import_module("nvidia.dali")
    importlib.import_module("nvidia.dali.fn")
    num_refused = num_missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for right in right_calls(Path(folder)):
            number, found = compare(library, right, count)
            num_refused, num_missed = num_refused + number, num_missed + len(found)
            for line in found:
                show(line)
    show(f"{num_missed} of {num_refused} errors are missed")
    return num_missed


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]))))
