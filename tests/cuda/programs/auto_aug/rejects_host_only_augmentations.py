"""Rejects host only augmentations."""

from dali_core.errors import DaliCoreError
from tests.cuda.programs.auto_aug.augmented import outputs

try:
    outputs("contrast")
except DaliCoreError as error:
    assert ".cpu()" in str(error), error
else:
    raise AssertionError("nothing was raised")
