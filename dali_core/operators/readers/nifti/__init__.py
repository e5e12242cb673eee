"""Read volumes of NIfTI files."""

from dali_core._readers.formats.nifti import Nifti
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Nifti())
