"""Describe the surfaces of a video that a GPU decodes."""

from __future__ import annotations

from typing import Any

from dali_core._spec import Arg, OpSpec, PythonStep


def _make_step(arguments: dict[str, Any]) -> Any:
    # Imported here: decoding on the host does not need it.
    from dali_core.operators.video.described_video.step import DescribeStep

    return DescribeStep(arguments)


SPEC = OpSpec(
    name="video.described_video",
    doc="""Describe the surfaces of a video.

Returns
-------
DataNode
    Six integers (see `video.converted_surfaces`), int64; zeros for a video that the host has to
    decode.""",
    input_docs=("Path of the file, ``uint8`` in one dimension.",),
    args=(Arg("color_matrix", str, "See `fn.readers.video`.", "bt601"),),
    lower=PythonStep(_make_step, reads_batch=lambda _: False),
    title="video.described_video",
)
