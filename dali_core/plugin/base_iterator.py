"""The iterators that adapters and programs derive from."""

from dali_core.plugin.batch_schedule import IncompleteEpochWarning, LastBatchPolicy
from dali_core.plugin.epoch_iterator import EpochIterator
from dali_core.plugin.iterator import BaseIterator

__all__ = ["BaseIterator", "IncompleteEpochWarning", "LastBatchPolicy"]

# Its name in NVIDIA DALI, from which programs derive iterators of their own.
_DaliBaseIterator = EpochIterator
