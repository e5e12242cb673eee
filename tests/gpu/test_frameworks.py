"""Iterators and sources of pipelines on a GPU, with PyTorch and JAX themselves."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import Pipeline, fn
from tests.gpu.photos_on_device import NUM_BATCHES, expected, make

pytestmark = pytest.mark.gpu


def test_pytorch_iterator() -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    if not torch.cuda.is_available():
        pytest.skip("not available: torch with CUDA")
    from dali_core.plugin.pytorch import DALIGenericIterator

    iterator = DALIGenericIterator(make("gpu"), ["image"])
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        sums = [next(iterator)[0]["image"] + 1 for _ in range(NUM_BATCHES)]
    stream.synchronize()
    for given, wanted in zip(sums, expected(), strict=True):
        assert given.is_cuda
        np.testing.assert_array_equal(given.cpu().numpy(), wanted + 1)


@pytest.mark.parametrize("device", ["gpu", "cpu"])
def test_pytorch_loader(device: str) -> None:
    """Batches of the host are moved while the pipeline reuses its memory."""
    torch = pytest.importorskip("torch", reason="not available: torch")
    if not torch.cuda.is_available():
        pytest.skip("not available: torch with CUDA")
    from dali_core.pytorch import Loader

    loop = iter(Loader(make(device), device="cuda", channels_last=True))
    sums = [next(loop)[0] + 1 for _ in range(NUM_BATCHES)]
    for given, wanted in zip(sums, expected(), strict=True):
        assert given.is_cuda
        assert given.is_contiguous(memory_format=torch.channels_last)
        np.testing.assert_array_equal(given.cpu().numpy(), wanted + 1)


def test_pytorch_tensors_are_fed_and_overwritten() -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    if not torch.cuda.is_available():
        pytest.skip("not available: torch with CUDA")
    pipeline = Pipeline(batch_size=4, num_threads=1, device_id=0, prefetch_queue_depth=1)
    with pipeline:
        pipeline.set_outputs(fn.external_source(name="data", device="gpu") + 1)
    data = torch.empty((4, 1_000_000), device="cuda")
    for number in range(20):
        data.fill_(number)
        pipeline.feed_input("data", data)
        data.fill_(-1)
        result = np.asarray(pipeline.run()[0].as_cpu().as_tensor())
        assert (result == number + 1).all()
    pipeline.close()


def test_jax_loader() -> None:
    jax = pytest.importorskip("jax", reason="not available: jax")
    try:
        device = jax.local_devices(backend="gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"not available: jax with CUDA ({error})")
    from dali_core.jax import Loader

    for place in ("gpu", "cpu"):
        loop = iter(Loader(make(place), device=device))
        sums = [next(loop)[0] + 1 for _ in range(NUM_BATCHES)]
        for given, wanted in zip(sums, expected(), strict=True):
            assert given.devices() == {device}
            np.testing.assert_array_equal(np.asarray(given), wanted + 1)


def test_jax_iterator() -> None:
    jax = pytest.importorskip("jax", reason="not available: jax")
    try:
        device = jax.local_devices(backend="gpu")[0]
    except RuntimeError as error:
        pytest.skip(f"not available: jax with CUDA ({error})")
    from dali_core.plugin.jax import DALIGenericIterator

    iterator = DALIGenericIterator(make("gpu"), ["image"])
    sums = [next(iterator)["image"] + 1 for _ in range(NUM_BATCHES)]
    for given, wanted in zip(sums, expected(), strict=True):
        assert given.devices() == {device}
        np.testing.assert_array_equal(np.asarray(given), wanted + 1)
