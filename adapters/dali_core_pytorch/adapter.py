"""Conversion of batches to PyTorch tensors."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils.dlpack import from_dlpack

from dali_core import types
from dali_core.adapters import Adapter
from dali_core.errors import AdapterError

to_torch_type = {
    types.UINT8: torch.uint8,
    types.UINT16: torch.uint16,
    types.UINT32: torch.uint32,
    types.UINT64: torch.uint64,
    types.INT8: torch.int8,
    types.INT16: torch.int16,
    types.INT32: torch.int32,
    types.INT64: torch.int64,
    types.FLOAT16: torch.float16,
    types.FLOAT: torch.float32,
    types.FLOAT64: torch.float64,
    types.BOOL: torch.bool,
}
"""The dtype of PyTorch for each of `dali_core.types`."""


class PyTorchAdapter(Adapter):
    """Converts batches to `torch.Tensor` by DLPack, on their device.

    PyTorch's current stream of that device waits for the data; the host does not.

    In addition to ``"dense"`` and ``"list"``, the names of the reference's ragged iterator:
    ``"sparse_list"``, which is the same as ``"list"``, and ``"sparse_coo"``: one sparse tensor that
    stores every element of every sample, at (sample, coordinates in the sample).

    Sequences, whose shapes differ in the first dimension only, may also be ``"flat"``: a tensor of
    the elements of all samples, and offsets (int64, one more than samples), where each begins and
    the last one ends; or ``"jagged"``: these as one tensor of `torch.nested`. Neither copies
    samples that are contiguous, as those of a dense batch; others are copied once.
    """

    name = "pytorch"
    loader_class = "dali_core_pytorch.loader:Loader"
    representations = ("dense", "list", "sparse_list", "sparse_coo", "flat", "jagged")

    def from_tensor(self, tensor: Any) -> torch.Tensor:
        """Return a tensor that shares the memory of a sample or batch."""
        return from_dlpack(tensor)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        """Return the first `num_valid` samples of a batch as one of `representations`."""
        if kind == "sparse_coo":
            return _to_sparse([self.from_tensor(sample) for sample in batch], num_valid)
        if kind in ("flat", "jagged"):
            values, offsets = self._flatten(batch, num_valid)
            if kind == "flat":
                return values, offsets
            return torch.nested.nested_tensor_from_jagged(values, offsets)
        return super().represent(batch, "dense" if kind == "dense" else "list", num_valid)

    def _flatten(self, batch: Any, num_valid: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the elements of the first samples, and offsets at which each sample begins."""
        shapes = [tuple(shape) for shape in batch.shape()] or [(0,)]
        if () in shapes or len({shape[1:] for shape in shapes}) > 1:
            raise AdapterError(
                "flat and jagged outputs must have samples that differ in their first dimension "
                f"only (got shapes {', '.join(map(str, dict.fromkeys(shapes))):.200}). Resize or "
                "pad them, or take a list."
            )
        valid = batch if num_valid >= len(batch) else batch[:num_valid]
        lengths = torch.tensor([0, *(shape[0] for shape in valid.shape())], dtype=torch.int64)
        offsets = lengths.cumsum(0)
        values = self.from_tensor(valid.as_reshaped_tensor((int(offsets[-1]), *shapes[0][1:])))
        # Computed on the host from the shapes: on a device, this would synchronize.
        return values, offsets.to(values.device, non_blocking=True)

    def stream(self, device_id: int) -> int | None:
        """Return the current stream of PyTorch on a device."""
        return int(torch.cuda.current_stream(device_id).cuda_stream)


def _to_sparse(samples: list[torch.Tensor], num_valid: int) -> torch.Tensor:
    valid = samples[:num_valid]
    # An exhausted shard still has samples, of the next epoch, that define dtype and rank.
    extents = torch.tensor([list(sample.shape) for sample in valid or samples], dtype=torch.int64)
    indices = [
        torch.nn.functional.pad(torch.ones(sample.shape).nonzero(), (1, 0), value=index)
        for index, sample in enumerate(valid)
    ]
    places = torch.cat(indices).T if indices else torch.empty((extents.shape[1] + 1, 0))
    # Computed on the host from the shapes: on a device, this would synchronize.
    return torch.sparse_coo_tensor(
        places.to(samples[0].device, non_blocking=True),
        torch.cat([sample.reshape(-1) for sample in valid or [samples[0].new_empty(0)]]),
        (len(valid), *extents.amax(0).tolist()),
        check_invariants=False,
    )


adapter = PyTorchAdapter()
