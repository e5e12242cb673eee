"""Read samples from a data set in Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dali_core._spec import MAX_OUTPUTS, Arg, Moving, Native, OpSpec, PythonStep, Range, Source
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.python.fetching import check_source


@dataclass(frozen=True)
class Indices:
    """The indices of a data set.

    Attributes
    ----------
    length : int
        How many there are.
    """

    length: int

    def __len__(self) -> int:
        return self.length

    def native_arguments(self) -> dict[str, Any]:
        """Return nothing: the native code knows the index of each sample."""
        return {}


INDICES = OpSpec(
    name="readers.python.indices",
    doc="""Give the indices of the samples of a data set.

Returns
-------
DataNode
    The index of each sample, a scalar int64.""",
    args=(Arg("length", int, "Number of samples in the data set.", range=Range(1)),),
    inputs=0,
    reader=lambda arguments: Indices(arguments["length"]),
    lower=Native("readers.python.indices"),
    title="readers.python",
)


def _make_step(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.readers.python.step import FetchingStep

    return FetchingStep(arguments)


def _bind(
    inputs: tuple[Any, ...], keywords: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Native code decides on the indices, and this operator fetches the samples."""
    if len(inputs) > 1:
        raise ArgumentFormError(
            f"at most source may be passed by position (got {len(inputs)} values). Pass everything "
            "else by name."
        )
    if inputs and "source" in keywords:
        raise ArgumentTypeError("source must be given once (got it twice). Remove one.")
    keywords = {**keywords, **dict(zip(("source",), inputs, strict=False))}
    if keywords.get("source") is None:
        return (), keywords  # which is refused, since it must be given
    check_source(keywords["source"])
    length = len(keywords["source"])
    if length < 1:
        raise ArgumentValueError("source must have at least one sample (got a length of 0).")
    own = {*(arg.name for arg in SPEC.args), "device", "preserve", "bytes_per_sample_hint"}
    fetching = {name: value for name, value in keywords.items() if name in own}
    reading = {name: value for name, value in keywords.items() if name not in own}
    return (Source(INDICES, {**reading, "length": length}),), fetching


SPEC = OpSpec(
    name="readers.python",
    doc="""Read samples from a data set in Python.

The data set has a length and gives samples by their indices: any object with ``__len__`` and
``fetch(index)`` or, as map-style data sets of PyTorch have it, ``__getitem__(index)``. With
``fetch_many(indices)`` or ``__getitems__(indices)``, which return a list of samples, it gives
several at a time. A sample is an array, alone or in a tuple, or with `num_outputs` a tuple of as
many.

Everything else is done as by all readers: sharding, shuffling, padding, checkpoints in the middle
of an epoch, and bad samples, the place of which the next good one of the batch may take.
`Tensor.source_info` and errors name the index of a sample.

What is fetched must depend on the index only. Then the data is the same for any number of workers.

Returns
-------
DataNode or list of DataNode
    The samples; a list if `num_outputs` is more than one.""",
    args=(
        Arg("source", object, "The data set; may be passed by position."),
        Arg(
            "num_outputs",
            int,
            "How many arrays a sample has. By default one, alone or in a tuple.",
            None,
            range=Range(1, MAX_OUTPUTS),
        ),
        Arg(
            "parallel",
            bool,
            "Fetch parts of a batch in the pipeline's workers, processes or threads (see "
            "`py_num_workers` and `py_start_method` of `Pipeline`). By default, samples are "
            "fetched one after the other, by a thread of the pipeline.",
            False,
        ),
        Arg(
            "layout",
            list[str],
            "Layout of all outputs, or a list of one each; if that is shorter, the others have "
            "none.",
            None,
        ),
        Arg(
            "dtype",
            object,
            "Element type that the data must have: of all outputs, or a list, with None for any.",
            None,
        ),
    ),
    inputs=(0, 1),
    outputs=lambda arguments: arguments.get("num_outputs"),
    lower=PythonStep(
        _make_step, constructor=("source", "num_outputs"), reads_batch=lambda _: False
    ),
    moving=Moving("gpu"),
    input_docs=("The data set, in the place of `source`.",),
    hands_to_reader=True,
    bind=_bind,
)
