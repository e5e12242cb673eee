"""Give the extents of a batch's bucket."""

from __future__ import annotations

from dali_core._spec import OpSpec, PythonStep
from dali_core.operators.batch_extents.step import BatchExtentsStep

SPEC = OpSpec(
    name="batch_extents",
    doc="""Give the largest lengths that samples of the batch may have, the same for all of them.

In batches that are planned by lengths they are, for each kind of lengths, the edge of the bucket
(`dali_core.batching.Bucket`), or else the largest length of a sample in the batch. So batches of
one bucket have one shape: `resize` takes heights and widths as its `size`, and `pad_batch` takes
lengths as its second input.

In other batches they are the largest extents of the input.

Returns
-------
DataNode
    An int32 vector: a number for each kind of lengths, or for each dimension of the input.""",
    input_docs=("Any samples of the batch.",),
    lower=PythonStep(BatchExtentsStep),
)
