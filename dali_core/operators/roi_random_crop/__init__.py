"""Random windows around regions of interest."""

from __future__ import annotations

from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec

SPEC = OpSpec(
    name="roi_random_crop",
    doc="""Place a window of given extents at random so that it shows as much of a region as it can.

Along a dimension in which the window is smaller than the region, it lies inside the region; else it
holds the whole region. All such places are equally likely. If the extents of the data are known,
from `in_shape` or an input, the window lies inside the data as well.

The output is the start of the window, one number for each dimension. What is drawn for a sample
depends on the seed, the epoch and the sample alone, not on batch size, threads or shards.
""",
    inputs=(0, 1),
    input_docs=("The data, of any type; its elements are not read.",),
    args=(
        Arg(
            "crop_shape",
            list[int],
            "Extents of the window.",
            default=REQUIRED,
            tensor=True,
        ),
        Arg("roi_start", list[int], "Start of the region.", default=REQUIRED, tensor=True),
        Arg(
            "roi_end",
            list[int],
            "End of the region, the first position behind it; excludes `roi_shape`.",
            default=UNSET,
            tensor=True,
            alternatives=("roi_shape",),
        ),
        Arg(
            "roi_shape",
            list[int],
            "Extents of the region; excludes `roi_end`.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "in_shape",
            list[int],
            "Extents of the data; excludes the input. Dimensions beyond those of the window are "
            "ignored.",
            default=UNSET,
            tensor=True,
        ),
    ),
    random=True,
)
