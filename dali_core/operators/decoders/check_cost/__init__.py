"""Refuse files that cost unreasonable time, before a decoder that is not ours gets them."""

from __future__ import annotations

from dali_core._spec import OpSpec
from dali_core.operators.decoders.arguments import INPUT_DOCS

SPEC = OpSpec(
    name="decoders.check_cost",
    doc="""Return encoded images as they are, and refuse JPEG files whose scans never end.

The host's decoders check that themselves.
""",
    input_docs=INPUT_DOCS,
    title="decoders.image",
)
