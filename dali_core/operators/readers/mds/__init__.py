"""Read columns of MDS shards."""

from dali_core._readers.formats.mds import Mds
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Mds())
