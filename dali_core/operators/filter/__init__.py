"""Filter images with windows of numbers."""

from __future__ import annotations

from dali_core._spec import OpSpec
from dali_core.operators.filter.arguments import (
    FILTER_ARGS,
    FILTER_DOC,
    FILTER_INPUT_DOCS,
    bind_fill_value,
)

SPEC = OpSpec(
    name="filter",
    doc="Filter each image, volume or sequence with a window of numbers." + FILTER_DOC,
    inputs=(2, 3),
    input_docs=FILTER_INPUT_DOCS,
    devices=("cpu", "gpu"),
    args=FILTER_ARGS,
    bind=bind_fill_value,
)
