"""Samplers: which samples of a data set each epoch has, and in which order.

Readers take them as `sampler`, as well as arrays of indices, and samplers as PyTorch has them. A
sampler gives the order of the whole data set; the reader cuts it into shards, pads it, and resumes
in the middle of it. What a sampler gives depends on the reader's seed and the epoch only, so that
all processes of a job agree on it.
"""

from dali_core.samplers.blocks import Blocks
from dali_core.samplers.sampling import (
    ClassBalanced,
    Curriculum,
    DataSet,
    Repeated,
    Sampler,
    Subset,
    Weighted,
)

__all__ = [
    "Blocks",
    "ClassBalanced",
    "Curriculum",
    "DataSet",
    "Repeated",
    "Sampler",
    "Subset",
    "Weighted",
]
