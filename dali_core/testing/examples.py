"""Small example calls of operators, and different ways to run them."""

from __future__ import annotations

import contextlib
import enum
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, get_origin

import numpy as np
from numpy.typing import NDArray

from dali_core import fn, ops, types
from dali_core._graph.namespaces import class_name
from dali_core._spec import Arg
from dali_core.pipeline import Pipeline

ODD_SIZES = ((7, 5), (1, 1), (1, 17), (13, 1), (33, 31), (2, 64), (16, 48), (3, 97))
"""Heights and widths of images: corner cases of vector registers, blocks and borders."""

NUM_SAMPLES = 8
SEED = 1234


@dataclass(frozen=True)
class Input:
    """Input data of an operator: an array for each sample index."""

    make: Callable[[int], NDArray[Any]]
    layout: str = ""

    def of(self, info: types.SampleInfo) -> NDArray[Any]:
        """Return the data of a sample, as a source does."""
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
        """Return the arguments, with files in a folder."""
        if not callable(self.arguments):
            return dict(self.arguments)
        own = folder / self.name
        own.mkdir(exist_ok=True)
        return dict(self.arguments(own))


@dataclass(frozen=True)
class Result:
    """The outputs of a pipeline: for each the samples, and the dtypes and layouts of batches."""

    samples: list[list[NDArray[Any]]]
    types: list[set[str]]
    layouts: list[set[str]]

    def check_equals(self, other: Result) -> None:
        """Compare bit by bit."""
        assert (self.types, self.layouts) == (other.types, other.layouts)
        for ours, theirs in zip(self.samples, other.samples, strict=True):
            for mine, expected in zip(ours, theirs, strict=True):
                check_same(mine, expected)


def check_same(mine: NDArray[Any], expected: NDArray[Any]) -> None:
    """Check that two arrays have the same dtype, shape and elements."""
    is_alike = (mine.dtype, mine.shape) == (expected.dtype, expected.shape)
    # Nearly always the bytes are the same, and compared sooner.
    if not is_alike or mine.tobytes() != expected.tobytes():
        np.testing.assert_array_equal(mine, expected, strict=True)


def images(
    layout: str = "HWC", dtype: str = "uint8", *, smallest: int = 1, extents: Mapping[str, int] = {}
) -> Input:
    """Return images of odd sizes, of at least `smallest` pixels per side.

    `extents` are those of other dimensions than H and W; 3 by default.
    """

    def make(number: int) -> NDArray[Any]:
        height, width = ODD_SIZES[number % len(ODD_SIZES)]
        sizes = {"H": max(height, smallest), "W": max(width, smallest), **extents}
        return numbers(dtype, [sizes.get(letter, 3) for letter in layout], number)

    return Input(make, layout)


def numbers(dtype: str, shape: Sequence[int], seed: int) -> NDArray[Any]:
    """Return numbers over much of the range of a dtype."""
    return np.array(_numbers(dtype, tuple(shape), seed))


@lru_cache(maxsize=1000)
def _numbers(dtype: str, shape: tuple[int, ...], seed: int) -> NDArray[Any]:
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


def list_of(outputs: Any) -> list[Any]:
    """Return the values that a call of an operator returns, in whatever form."""
    if isinstance(outputs, dict):
        return list(outputs.values())
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


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
    per_sample: Mapping[str, NDArray[Any]] | None = None,
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
            outputs = list_of(outputs)
            made.set_outputs(*outputs)
        feed(made, example)
        batches = []
        copies: list[list[NDArray[Any]]] = [[] for _ in outputs]
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


def check_untouched(batches: list[Any], copies: list[list[NDArray[Any]]]) -> None:
    """Batches that are kept are not modified while others are computed."""
    for number, samples in enumerate(copies):
        kept = [batch[number].at(i) for batch in batches for i in range(len(batch[number]))]
        for now, before in zip(kept, samples, strict=True):
            check_same(np.asarray(now), before)


def as_sample(arg: Arg, value: Any) -> NDArray[Any]:
    """Return a constant argument in the form of a per-sample argument."""
    if get_origin(arg.type) is list:
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        is_float = arg.type == list[float]
        return np.array(values, dtype=np.float32 if is_float else np.int32)
    if isinstance(value, enum.Enum):
        value = value.value
    return np.asarray(value, dtype=np.float32 if arg.type is float else np.int32)
