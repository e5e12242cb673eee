"""Read samples from a data set in Python."""

from dali_core._readers.formats.user_data import PythonData
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(PythonData())
