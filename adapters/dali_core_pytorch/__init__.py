"""PyTorch adapter: iterators that return tensors without copying."""

from dali_core.plugin.base_iterator import LastBatchPolicy as LastBatchPolicy
from dali_core_pytorch.adapter import PyTorchAdapter as PyTorchAdapter
from dali_core_pytorch.adapter import adapter as adapter
from dali_core_pytorch.adapter import to_torch_type as to_torch_type
from dali_core_pytorch.dataset import DALIIterableDataset as DALIIterableDataset
from dali_core_pytorch.feed import feed_ndarray as feed_ndarray
from dali_core_pytorch.iterators import DALIClassificationIterator as DALIClassificationIterator
from dali_core_pytorch.iterators import DALIGenericIterator as DALIGenericIterator
from dali_core_pytorch.iterators import DALIRaggedIterator as DALIRaggedIterator
