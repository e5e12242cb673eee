"""The format of `fn.readers.python`: a data set of the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.protocol import DataSource, Numbered
from dali_core._readers.python_reader import Bound, Format
from dali_core._readers.user_data import FetchingInWorkers, UserData
from dali_core._runtime.step import Step
from dali_core._spec import MAX_OUTPUTS, Arg, OpSpec, Range
from dali_core._storage import Storage
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError


class PythonData(Format):
    """Any object with a length that gives samples by index."""

    name = "readers.python"
    doc = """Read samples from a data set in Python.

The data set has a length and gives samples by their indices: any object with ``__len__`` and
``fetch(index)`` or, as map-style data sets of PyTorch have it, ``__getitem__(index)``. With
``fetch_many(indices)`` or ``__getitems__(indices)``, which return a list of samples, it gives
several at a time. A sample is an array, alone or in a tuple, or with `num_outputs` a tuple of as
many.

Everything else is done as by all readers: sharding, shuffling, padding, checkpoints in the middle
of an epoch, and bad samples, the place of which the next good one of the batch may take.
`Tensor.source_info` and errors name the index of a sample.

The data set may have ``lengths``, an array with the length of each sample, or a method that returns
one: batches by tokens are planned from it. An array of the shape (samples, kinds) has several kinds
of lengths.

What is fetched must depend on the index only. Then the data is the same for any number of workers.

Returns
-------
DataNode or list of DataNode
    The samples; a list if `num_outputs` is more than one."""
    args = (
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
    )
    listing_args = (
        Arg("length", int, "Number of samples in the data set.", range=Range(1)),
        Arg("source", object, "The data set, which may know the lengths of samples.", None),
    )
    constructor = ("source", "num_outputs")
    input_doc = "The data set, in the place of `source`."

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """Return the numbers of the samples, which the step fetches from the user's object."""
        return _Samples(arguments["length"], arguments.get("source"))

    def make_step(self, arguments: Mapping[str, Any]) -> Step:
        """Make a step that may hand the data set to workers, which are started before it opens."""
        from dali_core._readers.step import FetchingStep

        source, num_outputs = arguments["source"], arguments.get("num_outputs")
        return FetchingStep(
            UserData(source),
            num_outputs,
            arguments.get("layout"),
            arguments.get("dtype"),
            in_workers=FetchingInWorkers(source, num_outputs) if arguments["parallel"] else None,
            bytes_per_sample=max(arguments.get("bytes_per_sample_hint") or [0]),
        )

    def num_outputs(self, arguments: Mapping[str, Any]) -> int | None:
        """Return what the user says."""
        return arguments.get("num_outputs")

    def bind(self, indices: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Bound:
        """Accept the data set by position, and take its length."""
        if len(inputs) > 1:
            raise ArgumentFormError(
                f"at most source may be passed by position (got {len(inputs)} values). Pass "
                "everything else by name."
            )
        if inputs and "source" in keywords:
            raise ArgumentTypeError("source must be given once (got it twice). Remove one.")
        keywords = {**keywords, **dict(zip(("source",), inputs, strict=False))}
        if keywords.get("source") is None:
            return (), keywords  # which is refused, since it must be given
        length = len(UserData(keywords["source"]))
        if length < 1:
            raise ArgumentValueError("source must have at least one sample (got a length of 0).")
        return super().bind(indices, (), {**keywords, "length": length})


@dataclass(frozen=True)
class _Samples(Numbered):
    """The samples of a data set, which is asked for nothing but lengths."""

    source: Any

    @property
    def lengths(self) -> NDArray[np.int64] | None:
        return UserData(self.source).lengths
