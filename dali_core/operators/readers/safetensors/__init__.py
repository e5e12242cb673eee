"""Read tensors of safetensors files."""

from dali_core._readers.formats.safetensors import Safetensors
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Safetensors())
