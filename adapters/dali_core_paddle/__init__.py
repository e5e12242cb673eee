"""PaddlePaddle adapter: iterators that return tensors without copying."""

from dali_core.plugin.base_iterator import LastBatchPolicy as LastBatchPolicy
from dali_core_paddle.adapter import PaddleAdapter as PaddleAdapter
from dali_core_paddle.adapter import adapter as adapter
from dali_core_paddle.feed import feed_ndarray as feed_ndarray
from dali_core_paddle.iterators import DALIClassificationIterator as DALIClassificationIterator
from dali_core_paddle.iterators import DALIGenericIterator as DALIGenericIterator
