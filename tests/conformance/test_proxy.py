"""The proxy for PyTorch of both libraries: calls, structures, and loaders with workers.

Without CUDA, PyTorch has no ranges for profilers, which the reference marks; they are replaced.
"""

from __future__ import annotations

import importlib
import inspect
from collections import OrderedDict, namedtuple
from collections.abc import Iterator
from contextlib import nullcontext
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="not available: PyTorch")
pytest.importorskip("nvidia.dali.plugin.pytorch", reason="not available: NVIDIA DALI")

import torch
from torch.utils.data import default_collate

from tests.adapters.dali_core_pytorch.data_sets import Numbers

ONE, TWO = np.float32([1, 2]), np.float32([3, 5])

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
    pytest.mark.usefixtures("_no_garbage_in_children"),
]


@pytest.fixture(params=["nvidia.dali", "dali_core"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    for name in ("range_push", "range_pop"):
        monkeypatch.setattr(torch.cuda.nvtx, name, lambda *_: 0)
    monkeypatch.setattr(torch.cuda.nvtx, "range", lambda *_, **__: nullcontext())
    return request.param


def proxies(library: str) -> ModuleType:
    return importlib.import_module(f"{library}.plugin.pytorch.experimental.proxy")


def server_of(library: str, *names: str) -> Any:
    """Make a server of a pipeline that returns each input plus one, and their sum."""
    dali = importlib.import_module(library)
    fn = importlib.import_module(f"{library}.fn")
    pipeline = dali.Pipeline(batch_size=4, num_threads=1, device_id=None)
    with pipeline:
        inputs = [fn.external_source(name=name, no_copy=True) for name in names]
        more = [inputs[0] - inputs[1]] if len(inputs) > 1 else []
        pipeline.set_outputs(inputs[0] + 1, *more)
    return proxies(library).DALIServer(pipeline)


def test_calls(library: str) -> None:
    with server_of(library, "b", "a") as server:
        parameters = inspect.signature(server.proxy).parameters
        kinds = {name: value.kind.name for name, value in parameters.items()}
        assert kinds == {"a": "KEYWORD_ONLY", "b": "KEYWORD_ONLY"}
        for args, inputs in [((ONE, TWO), {}), ((), {"a": ONE}), ((), {"a": ONE, "c": ONE})]:
            with pytest.raises(ValueError, match="a, b|b, a"):
                server.proxy(*args, **inputs)
        references = server.proxy(a=ONE, b=TWO)
        assert (type(references), len(references)) == (tuple, 2)
        plus, difference = server.produce_data(default_collate([references]))
        assert (plus.tolist(), difference.tolist()) == ([[4, 6]], [[2, 3]])
    with server_of(library, "x") as server:
        assert [*inspect.signature(server.proxy).parameters] == ["x"]
        with pytest.raises(ValueError, match="x"):
            server.proxy(ONE, TWO)
        data = default_collate([server.proxy(ONE), server.proxy(x=TWO)])
        assert server.produce_data(data).tolist() == [[2, 3], [4, 6]]


Pair = namedtuple("Pair", "first second")


def test_structures(library: str) -> None:
    with server_of(library, "x") as server:
        for wrap, unwrap, is_changed in (
            (lambda data: [data, 1], lambda item: item[0], True),
            (lambda data: {"x": data}, lambda item: item["x"], True),
            (lambda data: OrderedDict(x=data), lambda item: item["x"], True),
            (lambda data: (3, data), lambda item: item[1], False),
            (lambda data: Pair(data, 3), lambda item: item.first, False),
            (lambda data: SimpleNamespace(x=data), lambda item: item.x, True),
            (lambda data: [{"x": (1, [data])}], lambda item: item[0]["x"][1][0], True),
        ):
            batch = wrap(default_collate([server.proxy(ONE)]))
            data = server.produce_data(batch)
            assert (data is batch, type(data)) == (is_changed, type(batch))
            assert unwrap(data).tolist() == [[2, 3]]
        batch = [1, "x", {2}]
        assert server.produce_data(batch) is batch


# The reference calls methods of a server that was never made.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_errors(library: str) -> None:
    module = proxies(library)
    with pytest.raises(TypeError):
        module.DALIServer(None)
    with server_of(library, "x") as server:
        ragged = default_collate([server.proxy(ONE), server.proxy(TWO[:1])])
        with pytest.raises(RuntimeError, match="shape"):
            server.produce_data(ragged)


def test_starting_and_stopping(library: str) -> None:
    server = server_of(library, "x")
    assert [server.start_thread(), server.start_thread()] == [None, None]
    assert server.produce_data(default_collate([server.proxy(ONE)])).tolist() == [[2, 3]]
    assert [server.stop_thread(), server.stop_thread()] == [None, None]
    with server as entered:
        assert entered is server


def test_loaders(library: str) -> None:
    module = proxies(library)
    with server_of(library, "x") as server:
        data_set = Numbers(server.proxy)
        for arguments, sizes in (
            ({"batch_size": 4}, [4, 4, 2]),
            ({"batch_size": 4, "drop_last": True}, [4, 4]),
            ({"batch_size": 3, "persistent_workers": True}, [3, 3, 3, 1]),
        ):
            loader = module.DataLoader(server, data_set, num_workers=2, **arguments)
            assert len(loader) == len(sizes)
            for _ in range(2):
                indices = []
                for data, index in loader:
                    assert data.tolist() == [[number + 1.0] * 2 for number in index.tolist()]
                    indices.append(len(index))
                assert indices == sizes
        loader = torch.utils.data.DataLoader(data_set, batch_size=4, num_workers=1)
        found = [server.produce_data(batch)[0][:, 0].tolist() for batch in loader]
        assert found == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
