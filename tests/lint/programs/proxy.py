"""A pipeline that workers of a `DataLoader` call, in a program with strict types."""

# mypy: warn-unreachable

from __future__ import annotations

import inspect
from typing import Any

import numpy
import torch

from dali_core import DataNode, Pipeline, fn, pipeline_def
from dali_core.plugin.pytorch.experimental.proxy import DALIProxy, DALIServer, DataLoader


@pipeline_def(batch_size=4, num_threads=1)
def doubled() -> DataNode:
    """Double what the data set loads."""
    return fn.external_source(name="numbers") * 2


class Numbers(torch.utils.data.Dataset[tuple[Any, int]]):
    """Numbers from zero."""

    def __init__(self, proxy: DALIProxy) -> None:
        self.proxy = proxy

    def __len__(self) -> int:
        return 6

    def __getitem__(self, index: int) -> tuple[Any, int]:
        return self.proxy(numpy.full(2, index, numpy.float32)), index


pipeline: Pipeline = doubled()
with DALIServer(pipeline, deterministic=True) as server:
    proxy: DALIProxy = server.proxy
    assert [*inspect.signature(proxy).parameters] == pipeline.input_names
    loader = DataLoader(server, Numbers(proxy), batch_size=4)
    loader.ensure_server_listening()
    sizes: list[int] = []
    for data, index in loader:
        assert data.tolist() == [[2.0 * number] * 2 for number in index.tolist()]
        sizes.append(len(index))
    assert sizes == [4, 2]
    plain = torch.utils.data.default_collate([(proxy(numbers=numpy.ones(2, numpy.float32)), 1)])
    assert server.produce_data(plain)[1].tolist() == [1]

other = DALIServer(doubled())
other.start_thread()
scheduled = other.schedule([other.proxy(numpy.float32(3))])
assert float(scheduled.result()[0]) == 6
other.stop_thread()

direct = doubled()
direct.schedule_batch(numbers=[numpy.float32(3)])
assert float(direct.outputs()[0].at(0)) == 6
