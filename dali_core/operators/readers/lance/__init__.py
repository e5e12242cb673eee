"""Read columns of Lance data sets."""

from dali_core._readers.formats.lance import Lance
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Lance())
