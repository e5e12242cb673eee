"""Read images from FITS files."""

from dali_core._readers.formats.fits import Fits
from dali_core._readers.python_reader import python_reader

INDICES, SPEC = python_reader(Fits())
