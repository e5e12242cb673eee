"""Read data sets of HDF5 files."""

from dali_core._readers.formats.hdf5 import Hdf5
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Hdf5())
