"""Put the samples of a batch in another order."""

from __future__ import annotations

from dali_core._spec import REQUIRED, Arg, OpSpec

SPEC = OpSpec(
    name="permute_batch",
    keeps_type=True,
    doc="""Take the samples of each batch in another order.

Sample ``i`` of the output is sample ``indices[i]`` of the input. Samples may come several times or
not at all. Nothing is copied: outputs are the same memory as inputs.
""",
    input_docs=("Tensors of any type and shape.",),
    devices=("cpu", "gpu"),
    args=(
        Arg(
            "indices",
            list[int],
            "Number of a sample in the batch: a list with one for each sample, or one number that "
            "comes with each sample. A single constant is for all samples.",
            default=REQUIRED,
            tensor=True,
        ),
    ),
    reads_batch=True,
)
