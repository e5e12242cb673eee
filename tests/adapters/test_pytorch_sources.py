"""PyTorch data sets and tensors as parallel sources."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core import Pipeline, fn  # noqa: E402
from dali_core.types import SampleInfo  # noqa: E402


class Multiples(torch.utils.data.Dataset):  # type: ignore[misc, name-defined]
    def __len__(self) -> int:
        return 10

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return torch.arange(3, dtype=torch.float16) * index, index


class Sampled:
    """The samples of a data set that a sampler selects."""

    def __init__(self, dataset: Any, seed: int) -> None:
        self.dataset = dataset
        self.seed = seed

    def __call__(self, info: SampleInfo) -> tuple[Any, int]:
        generator = torch.Generator().manual_seed(self.seed + info.epoch_idx)
        order = list(torch.utils.data.RandomSampler(self.dataset, generator=generator))
        if info.idx_in_epoch >= len(order):
            raise StopIteration
        return self.dataset[order[info.idx_in_epoch]]


@pytest.mark.parametrize("method", ["fork", "thread", "spawn"])
def test_a_data_set_with_a_sampler(method: str) -> None:
    with Pipeline(5, 1, None, py_num_workers=2, py_start_method=method) as pipeline:
        source = Sampled(Multiples(), 3)
        outputs = fn.external_source(source, num_outputs=2, batch=False, parallel=True)
        pipeline.set_outputs(*outputs)
    epochs: list[list[int]] = []
    for _ in range(2):
        epochs.append([])
        for _ in range(2):
            values, index = (output.as_array() for output in pipeline.run())
            np.testing.assert_array_equal(values, np.outer(index, np.arange(3)))
            epochs[-1] += index.ravel().tolist()
        with pytest.raises(StopIteration):
            pipeline.run()
        pipeline.reset()
    pipeline.close()
    assert sorted(epochs[0]) == sorted(epochs[1]) == list(range(10))
    assert epochs[0] != epochs[1]


def test_pytorch_computes_in_forked_workers() -> None:
    def source(info: SampleInfo) -> Any:
        whole = torch.ones(512, 512) * info.idx_in_epoch
        return (whole @ whole)[0, :2].clone(), torch.get_num_threads()

    # From here on this process has a thread pool, which its children do not have.
    torch.ones(512, 512) @ torch.ones(512, 512)
    with Pipeline(2, 1, None, py_num_workers=2) as pipeline:
        outputs = fn.external_source(source, num_outputs=2, batch=False, parallel=True)
        pipeline.set_outputs(*outputs)
    values, threads = (output.as_array() for output in pipeline.run())
    assert values.tolist() == [[0, 0], [512, 512]]
    assert threads.ravel().tolist() == [1, 1]
    pipeline.close()
