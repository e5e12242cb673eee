"""Join the samples of a batch to rows."""

from __future__ import annotations

from dali_core._spec import UNSET, Arg, OpSpec, PythonStep, Range
from dali_core.operators.pack.step import PackStep

SPEC = OpSpec(
    name="pack",
    doc="""Join the sequences of a batch to rows, in which they follow one another.

The outputs have **as many samples as there are rows**: batches that the pipeline returns are
smaller than those that the reader gives. First come the packed inputs, in their order, and then:

==============  ===============  ===============================================================
output          shape            content
==============  ===============  ===============================================================
segment ids     (capacity,)      int32: 1 for elements of the first sequence of the row, 2 for the
                                 second; 0 for padding
position ids    (capacity,)      int32: the place in the sequence; 0 for padding
cu_seqlens      (segments + 1,)  int32: 0, l1, l1 + l2, ...: where sequences begin, as attention
                                 kernels for sequences of varying length take it
max_seqlen      ()               int32: the most elements of a segment of `cu_seqlens`
loss mask       (capacity,)      bool: false for padding and for the first element of each sequence,
                                 which no other one predicts
sample indices  (segments,)      int32: for each sequence, the number of its sample in the batch
==============  ===============  ===============================================================

With `pad_to`, sequences begin at multiples of it. The elements between are padding, but belong to
the sequence before in `cu_seqlens`. The padding at the end of a row is in no segment of
`cu_seqlens`, or with ``padding_segment=True`` in one of its own. A sequence without elements has no
segment.

Operators behind this one see rows as samples; random numbers of a row depend on its first sample.
A pipeline that packs returns rows only: pass all that belongs to a sample through one call. The
place of a bad sample is padding.
""",
    input_docs=(
        "Sequences of any type, such as tokens, with their elements along the first dimension.",
        "More of them, of the same lengths, such as labels or weights of a loss; or features of "
        "each sample, which `per_segment` lists.",
    ),
    inputs=(1, 256),
    outputs=7,
    optional_input_has_output=True,
    args=(
        Arg(
            "row_lengths",
            list[int],
            "The number of samples in each row, one row after the other: a list, or a vector that "
            "is the same one for all samples of the batch. By default, rows are those of the "
            "batch's plan if it packs, or else all samples of the batch are one row.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "capacity",
            int,
            "The number of elements in each row. By default, each row has as many as it needs.",
            default=UNSET,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "pad_to",
            int,
            "Number of which the places where sequences begin become multiples, and also the "
            "length of rows without `capacity`.",
            default=1,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "fill_values",
            list[float],
            "Padding of each input, or one number for all; of labels it is `ignore_index`.",
            default=[0.0],
            finite=False,
        ),
        Arg(
            "labels",
            list[int],
            "Numbers of the inputs that are labels. At the first element of each sequence and in "
            "the padding they are `ignore_index`, so that no sequence is predicted from the one "
            "before.",
            default=[],
            range=Range(0, 255),
        ),
        Arg(
            "per_segment",
            list[int],
            "Numbers of the inputs that are not sequences, such as sizes or classes. Of each row "
            "there is one for each segment, along a new first dimension. The first input is a "
            "sequence.",
            default=[],
            range=Range(1, 255),
        ),
        Arg("ignore_index", int, "The label that a loss leaves out.", default=-100),
        Arg(
            "padding_segment",
            bool,
            "Whether the padding at the end of a row is a last segment of `cu_seqlens`, which then "
            "ends at `capacity`.",
            default=False,
        ),
        Arg(
            "overflow",
            str,
            "Treatment of a sequence that does not fit into the rest of its row: it is an "
            '``"error"``; ``"truncate"`` cuts off its end; ``"drop"`` leaves it out.',
            default="error",
            choices=("error", "truncate", "drop"),
        ),
    ),
    lower=PythonStep(PackStep, joins_samples=True),
)
