"""Loaders: batches as tuples or dictionaries of arrays, in the shape that training loops expect."""

from dali_core.loaders.loader import BaseLoader as BaseLoader
from dali_core.loaders.options import LoaderOptions as LoaderOptions
from dali_core.loaders.placement import Placement as Placement
