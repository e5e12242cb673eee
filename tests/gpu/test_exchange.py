"""Tensors on a device are exchanged without copies, in stream order."""

from __future__ import annotations

import numpy as np
import pytest

from tests.gpu.photos_on_device import NUM_BATCHES, expected, make

torch = pytest.importorskip("torch", reason="not available: torch")

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="not available: torch with CUDA"),
]


def test_torch_reads_in_its_own_stream() -> None:
    stream = torch.cuda.Stream()
    pipeline = make("gpu")
    results = []
    with torch.cuda.stream(stream):
        for _ in range(NUM_BATCHES):
            (batch,) = pipeline.run()
            tensor = torch.from_dlpack(batch.as_tensor())
            assert tensor.data_ptr() == batch.as_tensor().data_ptr()
            results.append(tensor + 1)
            del batch, tensor
    stream.synchronize()
    for result, wanted in zip(results, expected(), strict=True):
        np.testing.assert_array_equal(result.cpu().numpy(), wanted + 1)
    pipeline.close()


def test_torch_keeps_the_memory() -> None:
    pipeline = make("gpu")
    kept = [torch.from_dlpack(pipeline.run()[0].as_tensor()) for _ in range(NUM_BATCHES)]
    pipeline.close()
    del pipeline
    for tensor, wanted in zip(kept, expected(), strict=True):
        np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)


def test_feed_ndarray() -> None:
    from dali_core.plugin.pytorch import feed_ndarray

    stream = torch.cuda.Stream()
    pipeline = make("gpu")
    for wanted in expected():
        (batch,) = pipeline.run()
        target = torch.zeros(wanted.shape, device="cuda")
        stream.wait_stream(torch.cuda.current_stream())
        feed_ndarray(batch.as_tensor(), target, cuda_stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(target.cpu().numpy(), wanted)
    pipeline.close()


def test_cuda_array_interface() -> None:
    pipeline = make("gpu")
    for wanted in expected():
        tensor = torch.as_tensor(pipeline.run()[0].as_tensor(), device="cuda")
        np.testing.assert_array_equal(tensor.cpu().numpy(), wanted)
    pipeline.close()
