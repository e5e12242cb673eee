"""A pipeline with branches, whose source the library has to read."""

from __future__ import annotations

import numpy as np

from dali_core import fn, pipeline_def
from dali_core.types import SampleInfo


def _number(info: SampleInfo) -> np.ndarray:
    return np.int64(info.idx_in_epoch)


@pipeline_def(enable_conditionals=True)
def branching():
    """Give numbers on the device, of which the even ones are larger by 100."""
    number = fn.external_source(source=_number, batch=False)
    there = number.gpu()
    if number % 2 == 0:  # noqa: SIM108 (a statement is what is tested)
        result = (there.cpu() + 100).gpu()
    else:
        result = there
    return result, number
