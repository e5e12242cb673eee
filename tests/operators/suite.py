"""Shared parts of operator tests: small example calls, and different ways to run them.

Every test module of an operator has a list `EXAMPLES`; `test_suite.py` runs each of them through
the checks that all operators must pass.
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, get_origin

import numpy as np

from dali_core import Pipeline, fn, ops, types
from dali_core._graph.namespaces import class_name
from dali_core._graph.registry import all_specs
from dali_core._spec import Arg

ODD_SIZES = ((7, 5), (1, 1), (1, 17), (13, 1), (33, 31), (2, 64), (16, 48), (3, 97))
"""Heights and widths of images: corner cases of vector registers, blocks and borders."""

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64"]
ALL_TYPES = [*INTEGERS, *FLOATS, "bool"]
NUM_SAMPLES = 8
SEED = 1234


@dataclass(frozen=True)
class Input:
    """Input data of an operator: an array for each sample index."""

    make: Callable[[int], np.ndarray]
    layout: str = ""

    def of(self, info: types.SampleInfo) -> np.ndarray:
        return self.make(info.idx_in_epoch)


@dataclass(frozen=True)
class Example:
    """A small call of an operator.

    `arguments` may be a function of a folder, in which it creates the files that the call reads.
    `depends_on_batch` means that results depend on the other samples of the batch. `feeds` return
    the data that the pipeline is fed, if the operator supports that.
    """

    name: str
    inputs: Sequence[Input] = ()
    arguments: Mapping[str, Any] | Callable[[Path], Mapping[str, Any]] = field(default_factory=dict)
    depends_on_batch: bool = False
    feeds: Sequence[Callable[[], Any]] = ()

    def arguments_in(self, folder: Path) -> dict[str, Any]:
        if not callable(self.arguments):
            return dict(self.arguments)
        own = folder / self.name
        own.mkdir(exist_ok=True)
        return dict(self.arguments(own))


@dataclass(frozen=True)
class Result:
    """The outputs of a pipeline: for each the samples, and the dtypes and layouts of batches."""

    samples: list[list[np.ndarray]]
    types: list[set[str]]
    layouts: list[set[str]]

    def check_equals(self, other: Result) -> None:
        assert (self.types, self.layouts) == (other.types, other.layouts)
        for ours, theirs in zip(self.samples, other.samples, strict=True):
            for mine, expected in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(mine, expected, strict=True)


def images(
    layout: str = "HWC", dtype: str = "uint8", *, smallest: int = 1, extents: Mapping[str, int] = {}
) -> Input:
    """Return images of odd sizes, of at least `smallest` pixels per side.

    `extents` are those of other dimensions than H and W; 3 by default.
    """

    def make(number: int) -> np.ndarray:
        height, width = ODD_SIZES[number % len(ODD_SIZES)]
        sizes = {"H": max(height, smallest), "W": max(width, smallest), **extents}
        return numbers(dtype, [sizes.get(letter, 3) for letter in layout], number)

    return Input(make, layout)


def type_of(dtype: str) -> types.DALIDataType:
    """Return the data type with the name of a NumPy type."""
    return types.to_dali_type(np.dtype(dtype))


def numbers(dtype: str, shape: Sequence[int], seed: int) -> np.ndarray:
    """Return numbers over much of the range of a dtype."""
    generator = np.random.default_rng([seed, *shape])
    kind = np.dtype(dtype).kind
    if kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    if kind == "f":
        return (generator.standard_normal(shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)


@contextlib.contextmanager
def pipeline(**settings: Any) -> Iterator[Pipeline]:
    """Create a pipeline that is closed at the end."""
    made = Pipeline(
        **{"batch_size": 3, "num_threads": 1, "device_id": None, "seed": SEED} | settings
    )
    try:
        yield made
    finally:
        made.close()


def function_of(operator: str) -> Callable[..., Any]:
    """Return the function of an operator below `fn`."""
    found: Any = fn
    for part in operator.split("."):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def class_of(operator: str) -> type:
    """Return the class of an operator below `ops`."""
    found: Any = ops
    *groups, _ = operator.split(".")
    for part in (*groups, class_name(operator)):
        found = getattr(found, part)
    return found  # type: ignore[no-any-return]


def sources(example: Example) -> list[Any]:
    """Add the inputs of an example to the pipeline that is being defined."""
    return [
        fn.external_source(source=partial(Input.of, data), batch=False, layout=data.layout or None)
        for data in example.inputs
    ]


def name_of_fed(example: Example) -> dict[str, Any]:
    """Return the argument by which `feed` finds the operator, if the example feeds it."""
    return {"name": "fed"} if example.feeds else {}


def feed(made: Pipeline, example: Example) -> None:
    """Feed a pipeline with the data of an example."""
    for make in example.feeds:
        made.feed_input("fed", make())


def run(
    operator: str,
    example: Example,
    arguments: Mapping[str, Any],
    *,
    per_sample: Mapping[str, np.ndarray] | None = None,
    num_samples: int = NUM_SAMPLES,
    function: Callable[..., Any] | None = None,
    **settings: Any,
) -> Result:
    """Run an example.

    Parameters
    ----------
    per_sample : mapping
        Arguments per sample, all with the same value.
    num_samples : int
        How many samples to compute; the last batch may be used only in part.
    function : callable
        Called instead of the operator's function.
    settings
        Arguments of the pipeline.
    """
    with pipeline(**settings) as made:
        with made:
            nodes = {
                name: fn.external_source(source=lambda info, value=value: value, batch=False)
                for name, value in (per_sample or {}).items()
            }
            call = function or function_of(operator)
            outputs = call(*sources(example), **{**arguments, **nodes, **name_of_fed(example)})
            outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
            made.set_outputs(*outputs)
        feed(made, example)
        batches = []
        copies: list[list[np.ndarray]] = [[] for _ in outputs]
        while len(copies[0]) < num_samples:
            batch = made.run()
            batches.append(batch)
            for samples, tensors in zip(copies, batch, strict=True):
                samples.extend(np.array(tensors.at(i)) for i in range(len(tensors)))
        check_untouched(batches, copies)
        return Result(
            [samples[:num_samples] for samples in copies],
            [{batch[i].dtype.name for batch in batches} for i in range(len(outputs))],
            [{batch[i].layout() for batch in batches} for i in range(len(outputs))],
        )


def run_on(
    operator: str, samples: Sequence[np.ndarray], layout: str = "", **arguments: Any
) -> list[np.ndarray]:
    """Run an operator on one batch."""
    with pipeline(batch_size=len(samples)) as made:
        with made:
            data = fn.external_source(source=lambda: list(samples), layout=layout or None)
            made.set_outputs(function_of(operator)(data, **arguments))
        (batch,) = made.run()
        return [np.array(batch.at(i)) for i in range(len(samples))]


def shares_memory(operator: str, layout: str = "HWC", **arguments: Any) -> bool:
    """Return whether an operator passes uint8 images of 6 x 7 and 5 x 7 through without a copy."""
    # Outputs of one shape would be gathered in contiguous memory afterwards.
    samples = [numbers("uint8", (height, 7, 3), 0) for height in (6, 5)]
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: samples, layout=layout)
            made.set_outputs(data, function_of(operator)(data, **arguments))
        before, after = made.run()
        return [tensor.data_ptr() for tensor in after] == [tensor.data_ptr() for tensor in before]


def check_untouched(batches: list[Any], copies: list[list[np.ndarray]]) -> None:
    """Batches that are kept are not modified while others are computed."""
    for number, samples in enumerate(copies):
        kept = [batch[number].at(i) for batch in batches for i in range(len(batch[number]))]
        for now, before in zip(kept, samples, strict=True):
            np.testing.assert_array_equal(np.asarray(now), before, strict=True)


def as_sample(arg: Arg, value: Any) -> np.ndarray:
    """Return a constant argument in the form of a per-sample argument."""
    if get_origin(arg.type) is list:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        is_float = arg.type == list[float]
        return np.array(values, dtype=np.float32 if is_float else np.int32)
    if isinstance(value, enum.Enum):
        value = value.value
    return np.asarray(value, dtype=np.float32 if arg.type is float else np.int32)


@cache
def find_examples(operator: str) -> tuple[Example, ...]:
    """Return the examples of an operator's test module; none if there is no such module."""
    *groups, name = operator.split(".")
    module = ".".join(("tests.operators", *groups, f"test_{name}"))
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the folder of the group is missing
        found = False
    return tuple(getattr(importlib.import_module(module), "EXAMPLES", ())) if found else ()


def present_names() -> list[str]:
    """Return the operators that are not deprecated names of others."""
    return [name for name, spec in all_specs().items() if not spec.deprecated]


def all_examples() -> Iterator[tuple[str, Example]]:
    """Return the examples of all operators, except deprecated names."""
    for operator in present_names():
        for example in find_examples(operator):
            yield operator, example
