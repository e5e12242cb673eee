"""Another name of `pad_batch`."""

from __future__ import annotations

from dali_core.operators.pad_batch import SPEC as PAD_BATCH

SPEC = PAD_BATCH.variant(
    "collate",
    doc="""Pad the sequences of each batch to one length, as collating functions of PyTorch do.

This is another name of `pad_batch`.
""",
)
