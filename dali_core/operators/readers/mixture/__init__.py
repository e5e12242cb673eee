"""Choose a data set for each sample; what `mix_readers` adds to a graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dali_core._spec import MAX_OUTPUTS, Arg, Native, OpSpec, Range


@dataclass(frozen=True)
class DataSets:
    """The data sets of a mixture, which are told apart by their numbers.

    Attributes
    ----------
    count : int
        How many there are.
    """

    count: int

    def __len__(self) -> int:
        return self.count

    def native_arguments(self) -> dict[str, Any]:
        """Return nothing: the native code knows the number of each sample's data set."""
        return {}


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
    reader=lambda arguments: DataSets(arguments["num_sets"]),
    role="mixture",
    lower=Native("readers.python.indices"),
    title="mix_readers",
)
