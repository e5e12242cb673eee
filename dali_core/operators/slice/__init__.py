"""Cut a window out of tensors, given by its ends or by its start and extent."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, OpSpec
from dali_core.operators.crop import DTYPE_ARG, WINDOW_ARGS

_STARTS = ("start", "rel_start")
_ENDS = ("end", "rel_end", "shape", "rel_shape")


def _end(name: str, kind: Any, doc: str) -> Arg:
    alike = _STARTS if name in _STARTS else _ENDS
    others = tuple(other for other in alike if other != name)
    return Arg(name, kind, doc, default=UNSET, tensor=True, excludes=others)


SLICE_ARGS = (
    _end("start", list[int], "First element of the window."),
    _end("rel_start", list[float], "Start of the window as a share of the whole extent."),
    _end("end", list[int], "Element after the window's last one."),
    _end("rel_end", list[float], "End of the window as a share of the whole extent."),
    _end("shape", list[int], "Extent of the window in elements."),
    _end("rel_shape", list[float], "Extent of the window as a share of the whole extent."),
    Arg(
        "normalized_anchor",
        bool,
        "Whether a start that is a floating point input is a share of the whole extent.",
        default=True,
    ),
    Arg(
        "normalized_shape",
        bool,
        "Whether an extent that is a floating point input is a share of the whole extent.",
        default=True,
    ),
)
"""Arguments of every operator that slices, beside `axes` and `axis_names`."""

WINDOW_INPUT_DOCS = (
    "Start of the window: in elements if it has an integer type, else as `normalized_anchor` "
    "says. ``INT32``, ``INT64`` or ``FLOAT``. Excludes the arguments that give the window.",
    "Extent of the window, of the type of the start; as `normalized_shape` says.",
)
"""The inputs after the first one of every operator that slices."""

SPEC = OpSpec(
    name="slice",
    keeps_type=True,
    doc="""Cut a window out of each tensor, given by its ends or by its start and extent.

The window has one number for each of the axes, or a single one for all of them; dimensions that are
not named stay whole. Starts are 0 and ends those of the input unless they are given. Both are
rounded half away from zero to whole elements after relative and absolute numbers have been added
up.

The layout stays. Dimensions of data without a layout are called ``HW``, ``HWC``, ``DHWC`` or
``FDHWC``.
""",
    inputs=(1, 3),
    input_docs=("Tensors of any type and shape.", *WINDOW_INPUT_DOCS),
    devices=("cpu", "gpu"),
    input_device="mixed",
    args=(
        Arg(
            "axes",
            list[int],
            "Dimensions that the window's numbers belong to; negative ones count from the last. "
            "All dimensions, in their order, if the list is empty. Excludes `axis_names`.",
            default=UNSET,
            tensor=True,
        ),
        Arg(
            "axis_names",
            str,
            'Letters of the dimensions that the window\'s numbers belong to. ``"WH"`` by default, '
            "and all dimensions, in their order, if it is empty.",
            default=UNSET,
            excludes=("axes",),
        ),
        *SLICE_ARGS,
        *WINDOW_ARGS,
        DTYPE_ARG,
    ),
)
