"""Read files that `numpy.save` has written."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, Moving, OpSpec
from dali_core._storage import Storage, stored
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.listed_files import ListedFiles, file_args, list_files

_STARTS = ("roi_start", "rel_roi_start")
_ENDS = ("roi_end", "rel_roi_end", "roi_shape", "rel_roi_shape")


def _end(name: str, kind: Any, doc: str) -> Arg:
    alike = _STARTS if name in _STARTS else _ENDS
    others = tuple(other for other in alike if other != name)
    return Arg(name, kind, doc, default=UNSET, tensor=True, excludes=others)


def _open(arguments: dict[str, Any], storage: Storage) -> ListedFiles:
    if arguments["use_o_direct"] and not arguments["dont_use_mmap"]:
        raise ArgumentValueError(
            "use_o_direct must come together with dont_use_mmap=True (got False). Pass it as well."
        )
    return list_files(arguments, storage)


SPEC = OpSpec(
    name="readers.numpy",
    doc="""Read files that `numpy.save` has written.

What `fn.decoders.numpy` decodes is read here from files: format versions 1 to 3, either byte order,
C and Fortran order. All arrays of a batch must have one type and number of dimensions.

A region of interest is what `fn.slice` would cut out. Only the bytes that it needs are read from a
file, beside gaps of up to 4 KiB between them; objects behind URLs are read whole. Positions count
from 0; a single number is for all axes; starts are 0 and ends those of the array unless they are
given.

With ``device="gpu"``, arrays are read on the host and moved to the GPU.

Returns
-------
DataNode
    The arrays, in C order.""",
    args=(
        *file_args("*.npy"),
        _end("roi_start", list[int], "First element of the region."),
        _end("rel_roi_start", list[float], "Start of the region as a share of the whole extent."),
        _end("roi_end", list[int], "Element after the region's last one."),
        _end("rel_roi_end", list[float], "End of the region as a share of the whole extent."),
        _end("roi_shape", list[int], "Extent of the region in elements."),
        _end("rel_roi_shape", list[float], "Extent of the region as a share of the whole extent."),
        Arg(
            "roi_axes",
            list[int],
            "Dimensions that the region's numbers belong to; negative ones count from the last. "
            "All dimensions, in their order, if the list is empty.",
            default=[],
        ),
        Arg(
            "out_of_bounds_policy",
            str,
            'What to do with a region that reaches beyond the array: ``"error"``, ``"pad"`` with '
            '`fill_value`, or ``"trim_to_shape"``.',
            default="error",
        ),
        Arg(
            "fill_value",
            float,
            "Value of the padding. Integers round it half away from zero, and saturate.",
            default=0.0,
            finite=False,
        ),
        Arg(
            "cache_header_information",
            bool,
            "Accepted without effect: a header comes with the first bytes of a file.",
            default=False,
        ),
        Arg(
            "use_o_direct",
            bool,
            "Accepted without effect, only together with `dont_use_mmap`: files are read through "
            "the cache of the system.",
            default=False,
        ),
        Arg("register_buffers", bool, "Accepted without effect.", default=True),
    ),
    inputs=0,
    moving=Moving("gpu"),
    reader=stored(_open),
)
