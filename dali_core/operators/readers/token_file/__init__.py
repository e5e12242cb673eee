"""Read sequences of tokens from indexed files."""

from dali_core._readers.formats.token_file import TokenFile
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(TokenFile())
