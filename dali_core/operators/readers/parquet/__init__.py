"""Read columns of Parquet files."""

from dali_core._readers.formats.parquet import Parquet
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Parquet())
