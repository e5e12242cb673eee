"""Loaders whose workers call a pipeline of the main process."""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, pipeline_def
from dali_core.errors import PipelineStateError, SampleError

torch = pytest.importorskip("torch", reason="not available: PyTorch")

from dali_core.plugin.pytorch.experimental.proxy import DALIServer, DataLoader  # noqa: E402
from tests.adapters.dali_core_pytorch.data_sets import (  # noqa: E402
    Killed,
    Numbers,
    Raising,
    Stream,
    as_list,
)
from tests.children import children  # noqa: E402

pytestmark = [
    # PyTorch counts the processors of this machine.
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    # Python warns of forks from 3.12 on; these workers use none of the threads.
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


@pipeline_def(batch_size=4, num_threads=2, seed=3)
def noisy() -> tuple[DataNode, DataNode]:
    numbers = fn.external_source(name="x")
    return numbers * 2, numbers + fn.random.uniform(range=(0, 0.5))


@pipeline_def(batch_size=4, num_threads=2)
def doubled() -> DataNode:
    return fn.external_source(name="x") * 2


def doubles(batches: Any) -> list[list[float]]:
    found = []
    for data, index in batches:
        assert data.tolist() == [[2.0 * number] * 2 for number in index.tolist()]
        found.append(index.tolist())
    return found


ALL = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]


@pytest.mark.parametrize("num_workers", [0, 1, 2])
def test_epochs(num_workers: int) -> None:
    with DALIServer(doubled()) as server:
        data_set = Numbers(server.proxy)
        loader = DataLoader(server, data_set, batch_size=4, num_workers=num_workers)
        assert len(loader) == len(iter(loader)) == 3
        assert [doubles(loader), doubles(loader)] == [ALL, ALL]
        smaller = DataLoader(
            server, data_set, batch_size=3, num_workers=num_workers, drop_last=True
        )
        assert doubles(smaller) == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]


def test_random_numbers_do_not_depend_on_workers() -> None:
    found = []
    for num_workers in (0, 1, 3):
        with DALIServer(noisy()) as server:
            data_set = Numbers(server.proxy)
            loader = DataLoader(server, data_set, batch_size=4, num_workers=num_workers)
            for _ in range(2):
                next(iter(loader))  # an epoch that is left
            batches = [(data, index) for (_, data), index in loader]
            found.append([data.tolist() for data, _ in batches])
            assert [index.tolist() for _, index in batches] == ALL
            assert 0 < (batches[0][0] - batches[0][1][:, None]).min() < 0.5
    assert found[0] == found[1] == found[2]


def test_persistent_workers() -> None:
    with DALIServer(doubled()) as server:
        loader = DataLoader(
            server, Numbers(server.proxy), batch_size=4, num_workers=2, persistent_workers=True
        )
        processes = []
        for _ in range(3):
            assert doubles(loader) == ALL
            processes.append({*children()})
            next(iter(loader))
        assert processes[0] == processes[1] == processes[2]


def test_fresh_processes() -> None:
    with DALIServer(doubled()) as server:
        loader = DataLoader(
            server,
            Numbers(server.proxy),
            batch_size=4,
            num_workers=1,
            multiprocessing_context="spawn",
        )
        assert doubles(loader) == ALL


def test_torch_data_loader() -> None:
    with DALIServer(noisy()) as server:
        loader = torch.utils.data.DataLoader(Numbers(server.proxy), batch_size=5, num_workers=1)
        with pytest.raises(SampleError, match="at most batch_size"):
            server.produce_data(next(iter(loader)))
        loader = torch.utils.data.DataLoader(Numbers(server.proxy), batch_size=4, num_workers=2)
        found = [server.produce_data(batch) for batch in loader]
    assert doubles([(data, index) for (data, _), index in found]) == ALL


def test_a_stream_of_samples() -> None:
    with DALIServer(doubled()) as server:
        loader = DataLoader(server, Stream(server.proxy), batch_size=4, num_workers=1)
        assert doubles(loader) == ALL
        # Each worker has the whole stream, as with any loader of PyTorch.
        loader = DataLoader(server, Stream(server.proxy), batch_size=4, num_workers=2)
        assert sorted(doubles(loader)) == sorted(ALL * 2)


@pytest.mark.parametrize("num_workers", [0, 1])
def test_batches_without_default_collate(num_workers: int) -> None:
    with DALIServer(doubled()) as server:
        data_set = Numbers(server.proxy)
        loader = DataLoader(
            server, data_set, batch_size=4, num_workers=num_workers, collate_fn=as_list
        )
        batches = [[(data.tolist(), index) for data, index in batch] for batch in loader]
        assert batches == [[([2.0 * n] * 2, n) for n in numbers] for numbers in ALL]
        single = DataLoader(server, data_set, batch_size=None, num_workers=num_workers)
        assert [data.tolist() for data, _ in single] == [[2.0 * n] * 2 for n in range(10)]


def test_samples_of_different_sizes_and_types() -> None:
    samples = [np.ones((n, 2 * n)) * n for n in range(4)]

    @pipeline_def(batch_size=4, num_threads=1)
    def sizes() -> tuple[DataNode, DataNode]:
        x, y = fn.external_source(name="x"), fn.external_source(name="y")
        return x.shape(), y + 1

    class Ragged(torch.utils.data.Dataset[Any]):
        def __len__(self) -> int:
            return len(samples)

        def __getitem__(self, index: int) -> Any:
            return server.proxy(x=samples[index], y=np.bool_(index % 2))

    server = DALIServer(sizes())
    server.proxy  # noqa: B018 (a fork cannot build the pipeline)
    for num_workers in (0, 1):
        loader = DataLoader(server, Ragged(), batch_size=4, num_workers=num_workers)
        ((shapes, numbers),) = loader
        assert shapes.tolist() == [[n, 2 * n] for n in range(4)]
        assert numbers.tolist() == [1, 2, 1, 2]


@pytest.mark.parametrize("num_workers", [0, 2])
@pytest.mark.parametrize("kind", [LookupError, FileNotFoundError, EOFError])
def test_data_set_errors_are_raised_in_batch_order(kind: type[Exception], num_workers: int) -> None:
    with DALIServer(doubled()) as server:
        data_set = Raising(server.proxy)
        data_set.kind = kind
        loader = DataLoader(server, data_set, batch_size=2, num_workers=num_workers)
        batches = iter(loader)
        assert doubles([next(batches), next(batches)]) == [[0, 1], [2, 3]]
        with pytest.raises(kind, match="no such sample"):
            next(batches)
        good = DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=num_workers)
        assert doubles(good) == ALL


def test_pipeline_errors_are_raised_in_batch_order() -> None:
    def check(array: Any) -> Any:
        if array[0] == 5:
            raise ValueError("five")
        return array * 2

    @pipeline_def(batch_size=4, num_threads=1)
    def checked() -> DataNode:
        return fn.python_function(fn.external_source(name="x"), function=check)

    with DALIServer(checked()) as server:
        batches = iter(DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2))
        assert doubles([next(batches), next(batches)]) == [[0, 1], [2, 3]]
        with pytest.raises(SampleError, match="five"):
            next(batches)
        assert doubles(batches) == [[6, 7], [8, 9]]


# PyTorch's handler of deaths raises wherever the main thread is, also where nobody can catch it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_worker_that_is_killed() -> None:
    with DALIServer(doubled()) as server:
        loader = DataLoader(server, Killed(server.proxy), batch_size=2, num_workers=1)
        with pytest.raises(RuntimeError, match=r"DataLoader.* (killed|exited)"):
            doubles(loader)
        loader = DataLoader(server, Numbers(server.proxy), batch_size=4, num_workers=1)
        assert doubles(loader) == ALL


@pytest.mark.parametrize("method", ["schedule_batch", "outputs"])
@pytest.mark.parametrize("is_before", [True, False])
def test_raising_sigchld_handler_keeps_batches_apart(
    method: str, is_before: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As that of PyTorch does, wherever the main thread is."""

    def handler(number: int, frame: object) -> None:
        raise RuntimeError("a worker is dead")

    def interrupted(self: Pipeline, *args: Any, **inputs: Any) -> Any:
        if is_before:
            signal.raise_signal(signal.SIGCHLD)
        result = original(self, *args, **inputs)
        if not is_before:
            signal.raise_signal(signal.SIGCHLD)
        return result

    original = getattr(Pipeline, method)
    before = signal.signal(signal.SIGCHLD, handler)
    try:
        with DALIServer(doubled()) as server:
            loader = DataLoader(server, Numbers(server.proxy), batch_size=2)
            with monkeypatch.context() as patch:
                patch.setattr(Pipeline, method, interrupted)
                with pytest.raises(RuntimeError, match="a worker is dead"):
                    doubles(loader)
            good = DataLoader(server, Numbers(server.proxy), batch_size=4)
            assert doubles(good) == ALL
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_loaders_in_turns() -> None:
    with DALIServer(doubled()) as server:
        loaders = [
            DataLoader(server, Numbers(server.proxy, size), batch_size=2, num_workers=1)
            for size in (4, 6)
        ]
        found = [[index.tolist() for _, index in pair] for pair in zip(*loaders, strict=False)]
        assert found == [[[0, 1], [0, 1]], [[2, 3], [2, 3]]]
        assert doubles(loaders[1]) == [[0, 1], [2, 3], [4, 5]]


class CallsServer(Numbers):
    """Uses the server itself in a worker."""

    def __init__(self, server: DALIServer) -> None:
        super().__init__(server.proxy)
        self.server = server

    def __getitem__(self, index: int) -> Any:
        return self.server.produce_data(super().__getitem__(index))


@pytest.mark.parametrize(
    ("start", "message"), [("fork", "must be used in the process"), ("spawn", "must stay in its")]
)
def test_servers_do_not_work_in_workers(start: str, message: str) -> None:
    with DALIServer(doubled()) as server:
        loader = DataLoader(
            server, CallsServer(server), num_workers=1, multiprocessing_context=start
        )
        with pytest.raises(PipelineStateError, match=message):
            list(loader)


def test_worker_processes_exit() -> None:
    before = {*children()}
    with DALIServer(doubled()) as server:
        batches = iter(DataLoader(server, Numbers(server.proxy), batch_size=2, num_workers=2))
        next(batches)
        assert len({*children()} - before) == 2
        del batches
        assert {*children()} <= before
