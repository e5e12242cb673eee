"""Read lines of texts, or whole texts."""

from dali_core._readers.formats.text import Text
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Text())
