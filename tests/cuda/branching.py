"""A pipeline with conditionals, whose source code is rewritten."""

from __future__ import annotations

import numpy as np

from dali_core import fn, pipeline_def
from dali_core.types import SampleInfo


def _number(info: SampleInfo) -> np.ndarray:
    return np.int64(info.idx_in_epoch)


@pipeline_def(enable_conditionals=True)
def branching():
    """Return numbers on the device, plus 100 if they are even."""
    number = fn.external_source(source=_number, batch=False)
    there = number.gpu()
    if number % 2 == 0:  # noqa: SIM108 (a statement is what is tested)
        result = (there.cpu() + 100).gpu()
    else:
        result = there
    return result, number
