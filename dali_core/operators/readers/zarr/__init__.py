"""Read rows and crops of Zarr arrays."""

from dali_core._readers.formats.zarr import Zarr
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Zarr())
