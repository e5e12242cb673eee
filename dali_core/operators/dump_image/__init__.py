"""Write images to files, to look at them."""

from __future__ import annotations

from typing import Any

from dali_core._spec import Arg, OpSpec, PythonStep


def _make_step(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.dump_image.step import DumpStep

    return DumpStep(arguments)


SPEC = OpSpec(
    name="dump_image",
    doc="""Write images to files, to look at them.

The images of each batch are written to the working directory as text (PPM, or PGM for one channel),
under the names ``0-suffix-0.ppm``, ``1-suffix-0.ppm`` and so on. The next batch overwrites them, in
the order of batches, which run ahead of what is returned. If nothing uses the result, pass
`preserve`.

Returns
-------
DataNode
    The input, unchanged.""",
    input_docs=("Images of layout ``HWC`` with 1 or 3 channels, uint8.",),
    args=(
        Arg("suffix", str, "Text in the names of files.", ""),
        Arg("input_layout", str, "Layout of the images: ``HWC``.", "HWC", choices=("HWC",)),
    ),
    lower=PythonStep(_make_step),
)
