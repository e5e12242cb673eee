"""Random orders of the samples of a batch."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="batch_permutation",
    doc="""Draw an order of the samples of each batch, as indices for `permute_batch`.

All orders are equally likely. What is drawn depends on the seed, on the size of the batch, and on
the epoch and the number of its first sample.
""",
    inputs=0,
    args=(
        Arg(
            "allow_repetitions",
            bool,
            "Whether indices may repeat: then each one is drawn by itself.",
            default=False,
        ),
        Arg(
            "no_fixed_points",
            bool,
            "Whether every sample must get another index than its own; the order is then one "
            "cycle through the batch. Has no effect on batches of one sample.",
            default=False,
        ),
    ),
    random=True,
    reads_batch=True,
)
