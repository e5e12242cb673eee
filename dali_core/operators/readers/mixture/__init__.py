"""Choose a data set for each sample; what `mix_readers` adds to a graph."""

from __future__ import annotations

from dali_core._readers.protocol import Numbered
from dali_core._spec import MAX_OUTPUTS, Arg, Native, OpSpec, Range

SPEC = OpSpec(
    name="readers.mixture",
    doc="""Choose a data set for each sample.

Returns
-------
DataNode
    The number of the data set, a scalar int64.""",
    args=(
        Arg("num_sets", int, "Number of data sets.", range=Range(1, MAX_OUTPUTS)),
        Arg(
            "weights",
            list[float],
            "Share of each data set; by default in proportion to their numbers of samples.",
            None,
            range=Range(0, above=True),
        ),
        Arg(
            "length",
            int,
            "Samples in an epoch; 0 for as many as until the first data set has been read once, "
            "-1 until all have.",
            0,
            range=Range(-1),
        ),
    ),
    inputs=0,
    reader=lambda arguments: Numbered(arguments["num_sets"]),
    role="mixture",
    lower=Native("readers.python.indices"),
    title="mix_readers",
)
