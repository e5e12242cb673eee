"""Single tensors for PyTorch, under the module name of NVIDIA DALI."""

from __future__ import annotations

from typing import Any

from dali_core_pytorch import adapter as _adapter
from dali_core_pytorch import feed_ndarray as feed_ndarray
from dali_core_pytorch import to_torch_type as to_torch_type


def to_torch_tensor(dali_tensor: Any, copy: bool) -> Any:
    """Hand a tensor of a pipeline, or a uniform batch, to PyTorch.

    Parameters
    ----------
    dali_tensor : TensorCPU, TensorGPU, TensorListCPU or TensorListGPU
        The data.
    copy : bool
        Whether to copy it. Its memory is never overwritten in either case.

    Returns
    -------
    torch.Tensor
        The same data.
    """
    if hasattr(dali_tensor, "as_tensor"):
        dali_tensor = dali_tensor.as_tensor()
    tensor = _adapter.from_tensor(dali_tensor)
    return tensor.clone() if copy else tensor
