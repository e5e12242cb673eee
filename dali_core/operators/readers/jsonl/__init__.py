"""Read fields of JSON objects, one a line."""

from dali_core._readers.formats.jsonl import JsonLines
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(JsonLines())
