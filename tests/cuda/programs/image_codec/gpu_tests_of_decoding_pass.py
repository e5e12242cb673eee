"""Gpu tests of decoding pass."""

import sys

import pytest

import tests.cuda.programs.image_codec.files  # noqa: F401
from tests.cuda import image_codec

image_codec.refused.clear()
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "gpu", "tests/gpu/test_decoding.py"]))
