"""The base of iterators that are written for NVIDIA DALI."""

from __future__ import annotations

from abc import ABCMeta
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dali_core.plugin.batch_schedule import LastBatchPolicy
from dali_core.plugin.iterator import BaseIterator

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline


class EpochIterator(BaseIterator, metaclass=ABCMeta):
    """Take batches from one or several pipelines in step, and decide where an epoch ends.

    NVIDIA DALI calls it ``_DaliBaseIterator``, and all iterators are instances of it. Subclasses
    say in ``__next__`` how a batch is returned. Those that are not written for NVIDIA DALI derive
    from `dali_core.plugin.base_iterator.BaseIterator`, which has an adapter convert batches.

    Parameters
    ----------
    pipelines : Pipeline or list of Pipeline
        Pipelines with the same batch size and the same outputs.
    size, reader_name, auto_reset, fill_last_batch, last_batch_padded, last_batch_policy, \
prepare_first_batch : optional
        See `BaseIterator`. The first batch is prepared by subclasses.
    """

    def __init__(
        self,
        pipelines: Pipeline | Sequence[Pipeline],
        size: int = -1,
        reader_name: str | None = None,
        auto_reset: str | bool | None = False,
        fill_last_batch: bool | None = None,
        last_batch_padded: bool = False,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        prepare_first_batch: bool = True,
    ) -> None:
        self._open(
            pipelines,
            size,
            reader_name,
            auto_reset,
            fill_last_batch,
            last_batch_padded,
            last_batch_policy,
            prepare_first_batch,
        )

    @classmethod
    def __subclasshook__(cls, other: type) -> Any:
        return issubclass(other, BaseIterator) if cls is EpochIterator else NotImplemented

    def __next__(self) -> Any:
        """Return the next batch, or raise StopIteration at the end of the epoch."""
        raise NotImplementedError

    def _share(self, pipeline: Pipeline) -> Sequence[Any]:
        return pipeline.share_outputs()
