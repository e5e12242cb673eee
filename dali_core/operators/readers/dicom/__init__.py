"""Read slices and volumes of DICOM files."""

from dali_core._readers.formats.dicom import Dicom
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Dicom())
