"""`fn.external_source`: data from Python."""

from __future__ import annotations

import enum
import numbers
from typing import Any

from dali_core._spec import MAX_OUTPUTS, Arg, Moving, OpSpec, PythonStep, Range
from dali_core.errors import ArgumentTypeError
from dali_core.operators.external_source.access import ExternalSourceAccess
from dali_core.operators.external_source.step import ANY_NDIM, SourceStep, check_cycle


def _bind(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[tuple[()], dict[str, Any]]:
    """`source` and `num_outputs` may be given by position."""
    if len(inputs) > 2:
        raise ArgumentTypeError(
            f"at most source and num_outputs may be passed by position (got {len(inputs)} values). "
            "Pass everything else by name."
        )
    keywords = dict(keywords)
    for name, value in zip(("source", "num_outputs"), inputs, strict=False):
        if name in keywords:
            raise ArgumentTypeError(f"{name} must be given once (got it twice). Remove one.")
        keywords[name] = value
    check_cycle(keywords.get("source"), keywords.get("cycle"))
    return (), {**keywords, **_for_each(keywords)}


def _for_each(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return what describes the outputs as lists: one value is for all, None in a list for any."""
    count = keywords.get("num_outputs")
    # A number that is out of range is refused later, by the check of all arguments.
    repeat = int(count) if isinstance(count, numbers.Integral) else 1
    described = {}
    for name, anything in (("layout", ""), ("dtype", None), ("ndim", ANY_NDIM)):
        value = keywords.get(name)
        if isinstance(value, (list, tuple)):
            described[name] = [anything if entry is None else entry for entry in value]
        elif _is_constant(value) and 1 < repeat <= MAX_OUTPUTS:
            described[name] = [value] * repeat
    return described


def _is_constant(value: Any) -> bool:
    """Whether it is a text, a number or a type of any library, and not a value of the graph."""
    return isinstance(value, (str, numbers.Integral, enum.Enum, type)) or hasattr(value, "itemsize")


SPEC = OpSpec(
    name="external_source",
    doc="""Take data from a Python function, iterable or generator, or from `Pipeline.feed_input`.

With ``device="gpu"``, the outputs are on the pipeline's GPU. The source then may give data on a
GPU, too: whatever has ``__cuda_array_interface__`` or ``__dlpack__``, such as tensors of PyTorch.

Samples are copied once the batch is complete: the source may reuse its memory for the next batch,
but not for the next sample. A source that raises StopIteration ends the
epoch; `Pipeline.reset` starts the next one. A batch may have fewer samples than the pipeline's
batch size. All batches of an output must have one element type, number of dimensions and
layout.""",
    args=(
        Arg(
            "source",
            object,
            "A callable, an iterable, or a generator function. A callable may take one argument: "
            "the `types.SampleInfo` (with `batch=False`), or the number of the batch (or, with "
            "`batch_info=True`, the `types.BatchInfo`).",
            None,
        ),
        Arg(
            "num_outputs",
            int,
            "How many outputs. The source then gives the data of all: a tuple, an array with an "
            "entry for each, or whatever else is indexed by their numbers. Without a source, each "
            "output is fed for itself.",
            None,
            range=Range(0, MAX_OUTPUTS),
        ),
        Arg(
            "batch",
            bool,
            "Whether the source gives batches; otherwise samples. By default it gives batches, "
            "unless it is a callable with `parallel=True`.",
            None,
        ),
        Arg(
            "cycle",
            object,
            "What happens at the end of an iterable: 'no', False or None end the data for good; "
            "'quiet' or True start over at once; 'raise' ends the epoch and starts over after it.",
            None,
        ),
        Arg(
            "layout",
            list[str],
            "Layout of the samples: of all outputs, or a list of one each. If the list is shorter, "
            "or has None, the others may have any.",
            None,
        ),
        Arg(
            "dtype",
            object,
            "Element type that the data must have: of all outputs, or a list, as `layout`.",
            None,
        ),
        Arg(
            "ndim",
            list[int],
            "Number of dimensions of each sample, -1 for any: of all outputs, or a list, as "
            "`layout`.",
            None,
            range=Range(ANY_NDIM),
        ),
        Arg("batch_info", bool, "Pass a `types.BatchInfo` to the callable.", False),
        Arg(
            "repeat_last", bool, "Give the last batch fed in again when there is no new one.", False
        ),
        Arg(
            "blocking", bool, "Wait for `feed_input` instead of failing when nothing is fed.", False
        ),
        Arg(
            "parallel",
            bool,
            "Run the source in the pipeline's workers (see `py_num_workers` of `Pipeline`). A "
            "callable must take one argument and depend on nothing else: calls are made ahead, by "
            "several workers, in any order, and a few beyond the end of the data, where it must "
            "raise StopIteration every time. An iterable or a generator function runs in one "
            "worker, and must give batches.",
            False,
        ),
        Arg("no_copy", bool, "Accepted without effect: data is always copied.", False),
        Arg(
            "prefetch_queue_depth",
            int,
            "With `parallel=True`: how many batches workers compute ahead. "
            "`bytes_per_sample_hint` says how large the samples will be in shared memory.",
            1,
            range=Range(1),
        ),
        Arg(
            "cuda_stream",
            object,
            "For data on a GPU: the stream that works on it, as a handle or a stream object of any "
            "library. The data is copied once that stream is done with it, and the stream waits "
            "for the copy, so it may overwrite the data then. By default it is the current one of "
            "PyTorch, if the data is from there, or what the data tells, as that of CuPy does; if "
            "it does not, and with -1, the source waits until the data is copied.",
            None,
        ),
        Arg("use_copy_kernel", bool, "Accepted without effect: batches are copied in one.", False),
    ),
    inputs=0,
    outputs=lambda arguments: arguments.get("num_outputs"),
    lists_one_output=True,
    lower=PythonStep(
        SourceStep, constructor=("source", "num_outputs"), access=ExternalSourceAccess()
    ),
    moving=Moving("gpu"),
    bind=_bind,
)
