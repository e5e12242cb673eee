"""Records conformance tests: the calls of both libraries, and the differences of the results.

While a test runs, the functions below `fn` of both libraries record their arguments, and pipelines
keep copies of their outputs. When the test has passed, every batch of ours is compared with the
batch of the reference for the same calls, whatever the test itself compares.
"""

from __future__ import annotations

import functools
import itertools
import types
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from tests.conformance.recording_differences import Batch, Described, describe

UNIMPORTANT = ("device", "name")
"""Arguments that do not affect the results."""


@dataclass(eq=False)
class Call:
    """One call of an operator's function: its arguments as text, or None for one per sample."""

    operator: str
    arguments: dict[str, str | None]

    @property
    def key(self) -> tuple[Any, ...]:
        return self.operator, *sorted((name, str(text)) for name, text in self.arguments.items())


@dataclass(frozen=True)
class Origin:
    """The origin of one output of our pipeline."""

    last: Call | None
    before: tuple[Call, ...]
    is_random: bool


@dataclass(frozen=True)
class Run:
    """One batch of one pipeline."""

    pipeline: int
    outputs: tuple[Batch, ...]
    origins: tuple[Origin, ...] = ()


@dataclass(frozen=True)
class Comparison:
    """One output of both libraries."""

    origin: Origin
    found: Described


@dataclass
class Watch:
    """The calls and batches of one library."""

    fn: types.ModuleType
    pipeline_class: type
    origins: Callable[[Any, dict[int, Call]], tuple[Origin, ...]] = lambda pipeline, calls: ()
    _runs: list[Run] = field(default_factory=list)
    _calls: dict[int, list[tuple[Call, Any]]] = field(default_factory=dict)
    _numbers: weakref.WeakKeyDictionary[Any, int] = field(default_factory=weakref.WeakKeyDictionary)
    _counter: Iterator[int] = field(default_factory=itertools.count)
    _call_depth: int = 0
    _run_depth: int = 0

    def start(self, patch: pytest.MonkeyPatch) -> None:
        """Replace the library's functions by recording ones."""
        for module, name, path in functions_below(self.fn):
            patch.setattr(module, name, self._watching_call(path, getattr(module, name)))
        for name in ("run", "outputs", "share_outputs"):
            method = getattr(self.pipeline_class, name)
            patch.setattr(self.pipeline_class, name, self._watching_run(method))

    def _watching_call(self, operator: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*inputs: Any, **arguments: Any) -> Any:
            # Functions may call others: only the calls of the test itself count.
            self._call_depth += 1
            try:
                result = function(*inputs, **arguments)
            finally:
                self._call_depth -= 1
            pipeline = self.pipeline_class.current()  # type: ignore[attr-defined]
            if pipeline is not None and self._call_depth == 0:
                given = {
                    name: as_text(value)
                    for name, value in arguments.items()
                    if value is not None and name not in UNIMPORTANT
                }
                number = self._numbers.setdefault(pipeline, next(self._counter))
                values = list(result.values()) if isinstance(result, dict) else result
                self._calls.setdefault(number, []).append((Call(operator, given), values))
            return result

        return call

    def _watching_run(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def run(pipeline: Any, *arguments: Any, **keywords: Any) -> Any:
            self._run_depth += 1
            try:
                outputs = method(pipeline, *arguments, **keywords)
            finally:
                self._run_depth -= 1
            if self._run_depth == 0:
                self._keep(pipeline, outputs)
            return outputs

        return run

    def _keep(self, pipeline: Any, outputs: Any) -> None:
        number = self._numbers.get(pipeline, -1)
        makers = {
            id(node.source): call
            for call, result in self._calls.get(number, [])
            for node in (result if isinstance(result, (list, tuple)) else [result])
            if hasattr(node, "source")
        }
        batches = tuple(Batch.copy(batch) for batch in outputs)
        self._runs.append(Run(number, batches, self.origins(pipeline, makers)))

    def clear(self) -> None:
        """Discard the recorded calls."""
        self._runs.clear()
        self._calls.clear()

    def pipelines(self) -> dict[tuple[Any, ...], list[list[Run]]]:
        """Group the batches of each pipeline, in the order of their definition, by its calls."""
        found: dict[tuple[Any, ...], list[list[Run]]] = {}
        for number, calls in self._calls.items():
            key = tuple(sorted(call.key for call, _ in calls))
            runs = [run for run in self._runs if run.pipeline == number]
            found.setdefault(key, []).append(runs)
        return found


def functions_below(fn: types.ModuleType) -> Iterator[tuple[types.ModuleType, str, str]]:
    """Return module, name and path of all operators' functions below `fn`."""

    def walk(module: types.ModuleType, prefix: str) -> Iterator[tuple[types.ModuleType, str, str]]:
        for name, value in list(vars(module).items()):
            if name.startswith("_"):
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.startswith(f"{fn.__name__}."):
                    yield from walk(value, f"{prefix}{name}.")
            elif isinstance(value, types.FunctionType):
                yield module, name, prefix + name

    return walk(fn, "")


def as_text(value: Any) -> str | None:
    """Return an argument as text, the same for equal ones of both libraries."""
    if type(value).__name__ == "DataNode":
        return None
    if isinstance(value, (list, tuple)):
        return str([as_text(entry) for entry in value])
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.tolist())
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "name") and hasattr(value, "value"):  # an enumeration
        return str(value.name)
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    return "a function" if callable(value) else type(value).__name__


def our_origins(pipeline: Any, calls: dict[int, Call]) -> tuple[Origin, ...]:
    """Find the calls behind each output of one of our pipelines."""

    def walk(node: Any) -> Iterator[Any]:
        for value in node.dependencies:
            yield value.source
            yield from walk(value.source)

    origins = []
    for output in pipeline._definition.outputs:
        before = list(dict.fromkeys(walk(output.source)))
        origins.append(
            Origin(
                calls.get(id(output.source)),
                tuple(calls[id(node)] for node in before if id(node) in calls),
                any(is_random(node) for node in (output.source, *before)),
            )
        )
    return tuple(origins)


def is_random(node: Any) -> bool:
    """Return whether an operator's results depend on the random number generator."""
    shuffled = node.arguments.get("random_shuffle") or node.arguments.get("shuffle_after_epoch")
    return bool(node.spec.random or shuffled)


def pairs(reference: Watch, ours: Watch) -> Iterator[Comparison]:
    """Match pipelines with the same calls in their order, then their batches, and compare them."""
    expected = reference.pipelines()
    for key, pipelines in ours.pipelines().items():
        for mine, theirs in zip(pipelines, expected.get(key, []), strict=False):
            for run, other in zip(mine, theirs, strict=False):
                for batch, expected_batch, origin in zip(
                    run.outputs, other.outputs, run.origins, strict=False
                ):
                    yield Comparison(origin, describe(batch, expected_batch))
