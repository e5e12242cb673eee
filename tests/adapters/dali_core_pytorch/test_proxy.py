"""Proxies of pipelines: calls, structures with references, and what does not fit."""

from __future__ import annotations

import inspect
import pickle
import threading
from collections import OrderedDict, UserDict, defaultdict, deque, namedtuple
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, pipeline_def, types
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    GraphError,
    PipelineStateError,
    SampleError,
    TensorError,
)

torch = pytest.importorskip("torch", reason="not available: PyTorch")

from torch.utils.data import default_collate  # noqa: E402

from dali_core.plugin.pytorch.experimental.proxy import DALIProxy, DALIServer, DataLoader  # noqa: E402
from tests.adapters.dali_core_pytorch.data_sets import Numbers  # noqa: E402

ONE, TWO = np.float32([1, 2]), np.float32([3, 5])


@pipeline_def(batch_size=4, num_threads=1)
def plus_one() -> DataNode:
    return fn.external_source(name="x") + 1


@pipeline_def(batch_size=4, num_threads=1)
def sum_and_difference() -> tuple[DataNode, DataNode]:
    left, right = fn.external_source(name="left"), fn.external_source(name="a_right")
    return left + right, left - right


def batch_of(server: DALIServer) -> Any:
    return default_collate([server.proxy(ONE), server.proxy(TWO)])


def is_result(data: Any) -> bool:
    return bool(torch.equal(data, torch.tensor([[2.0, 3.0], [4.0, 6.0]])))


def test_several_inputs_and_outputs() -> None:
    with DALIServer(sum_and_difference()) as server:
        samples = [server.proxy(left=ONE, a_right=TWO), server.proxy(left=TWO, a_right=TWO)]
        total, difference = server.produce_data(default_collate(samples))
    assert total.tolist() == [[4, 7], [6, 10]]
    assert difference.tolist() == [[-2, -3], [0, 0]]


def test_signatures() -> None:
    proxy = DALIServer(sum_and_difference()).proxy
    names = inspect.signature(proxy).parameters
    assert [*names] == ["a_right", "left"]
    assert {name.kind for name in names.values()} == {inspect.Parameter.KEYWORD_ONLY}
    server = DALIServer(plus_one())
    assert server.proxy is server.proxy
    assert isinstance(server.proxy, DALIProxy)
    assert inspect.signature(server.proxy).bind(1).arguments == {"x": 1}


@pytest.mark.parametrize(
    ("args", "inputs"),
    [((ONE, TWO), {}), ((), {"left": ONE}), ((), {"left": ONE, "a_right": TWO, "c": 1}), ((), {})],
)
def test_calls_that_do_not_fit(args: tuple[Any, ...], inputs: dict[str, Any]) -> None:
    proxy = DALIServer(sum_and_difference()).proxy
    with pytest.raises(ArgumentFormError, match=r"DALIProxy: .*\(\*, a_right, left\)"):
        proxy(*args, **inputs)
    assert issubclass(ArgumentFormError, ValueError)


@pytest.mark.parametrize(
    "sample", [ONE, torch.tensor(ONE), [1.0, 2.0], np.float64([0, 1, 0, 2])[1::2]]
)
def test_ways_to_pass_a_sample(sample: Any) -> None:
    with DALIServer(plus_one()) as server:
        data = server.produce_data(default_collate([server.proxy(x=sample)]))
        assert data.dtype == torch.as_tensor(np.asarray(sample)).dtype
        assert data.tolist() == [[2, 3]]


@pytest.mark.parametrize("sample", [b"12", "12", None, object(), [[1], [1, 2]]])
def test_samples_that_are_no_numbers(sample: object) -> None:
    with pytest.raises(ArgumentTypeError, match="DALIProxy: x must be an array of numbers"):
        DALIServer(plus_one()).proxy(sample)


Pair = namedtuple("Pair", "first second")


@pytest.mark.parametrize(
    ("wrap", "unwrap", "is_changed"),
    [
        (lambda data: [data, 1], lambda item: item[0], True),
        (lambda data: {"x": data}, lambda item: item["x"], True),
        (lambda data: OrderedDict(x=data), lambda item: item["x"], True),
        (lambda data: defaultdict(list, x=data), lambda item: item["x"], True),
        (lambda data: UserDict(x=data), lambda item: item["x"], True),
        (lambda data: deque([data]), lambda item: item[0], True),
        (lambda data: (3, data), lambda item: item[1], False),
        (lambda data: Pair(data, 3), lambda item: item.first, False),
        (lambda data: SimpleNamespace(x=data), lambda item: item.x, True),
        (lambda data: [{"x": (1, [SimpleNamespace(y=data)])}], lambda i: i[0]["x"][1][0].y, True),
    ],
)
def test_structures(wrap: Any, unwrap: Any, is_changed: bool) -> None:
    with DALIServer(plus_one()) as server:
        batch = wrap(batch_of(server))
        data = server.produce_data(batch)
        assert (data is batch, type(data)) == (is_changed, type(batch))
        assert is_result(unwrap(data))


def test_structures_that_refer_to_themselves() -> None:
    with DALIServer(plus_one()) as server:
        batch = [batch_of(server)]
        batch.append(batch)
        data = server.produce_data(batch)
    assert data[1] is data is batch
    assert is_result(data[0])


@pytest.mark.parametrize("item", [5, "text", {3}, [1, (2, "x")], np.ones(2), Numbers, pytest])
def test_data_without_references_is_returned_unchanged(item: Any) -> None:
    assert DALIServer(plus_one()).produce_data(item) is item


def test_the_same_reference_several_times() -> None:
    with DALIServer(plus_one()) as server:
        batch = batch_of(server)
        first, second = server.produce_data((batch, batch))
        assert first is second
        assert server.produce_data(batch) is first


def test_two_calls_in_a_sample() -> None:
    with DALIServer(plus_one()) as server:
        samples = [(server.proxy(ONE), server.proxy(TWO)), (server.proxy(ONE), server.proxy(TWO))]
        first, second = server.produce_data(default_collate(samples))
    assert (first.tolist(), second.tolist()) == ([[2, 3]] * 2, [[4, 6]] * 2)


def test_uncollated_references_are_resolved() -> None:
    with DALIServer(sum_and_difference()) as server:
        calls = [server.proxy(left=ONE * n, a_right=TWO[: n % 2 + 1]) for n in range(1, 7, 2)]
        data = server.produce_data({"samples": calls, "again": calls[0]})
        assert [total.tolist() for total, _ in data["samples"]] == [[4, 7], [6, 11], [8, 15]]
        assert torch.equal(data["again"][0], data["samples"][0][0])
        many = [server.proxy(left=ONE, a_right=ONE) for _ in range(11)]  # three batches
        assert [d.tolist() for _, d in server.produce_data(many)] == [[0, 0]] * 11


def test_samples_of_different_shapes() -> None:
    with DALIServer(plus_one()) as server:
        samples = [server.proxy(np.ones(1)), server.proxy(np.ones(2))]
        with pytest.raises(TensorError, match=r"output 0 must have one shape .*\(1,\) and \(2,\)"):
            server.produce_data(default_collate(samples))
        data = server.produce_data([server.proxy(np.ones(1)), server.proxy(np.ones(2))])
        assert [tuple(sample.shape) for sample in data] == [(1,), (2,)]


def test_too_many_samples_raise_and_the_next_batch_follows() -> None:
    with DALIServer(sum_and_difference()) as server:
        for _ in range(2):
            samples = [server.proxy(left=ONE, a_right=ONE) for _ in range(5)]
            with pytest.raises(SampleError, match="at most batch_size = 4"):
                server.produce_data(default_collate(samples))
            (total, _) = server.produce_data(default_collate(samples[:2]))
            assert total.tolist() == [[2, 4]] * 2


def test_inputs_that_differ_from_those_before() -> None:
    with DALIServer(plus_one()) as server:
        assert is_result(server.produce_data(batch_of(server)))
        with pytest.raises(SampleError, match="one dtype"):
            server.produce_data(default_collate([server.proxy(np.int64([1]))]))
        assert is_result(server.produce_data(batch_of(server)))


def test_results_are_never_overwritten() -> None:
    with DALIServer(plus_one()) as server:
        batches = [server.produce_data(batch_of(server)) for _ in range(20)]
    assert all(map(is_result, batches))
    assert len({batch.data_ptr() for batch in batches}) == 20


def test_references_of_other_servers_are_unchanged() -> None:
    first, second = DALIServer(plus_one()), DALIServer(plus_one())
    batch = [batch_of(first), batch_of(second)]
    data = first.produce_data(batch)
    assert is_result(data[0])
    assert not isinstance(data[1], torch.Tensor)
    assert is_result(second.produce_data(data)[1])


def test_server_restarts() -> None:
    server = DALIServer(plus_one(), deterministic=True)
    waiting = server.schedule(batch_of(server))
    for _ in range(2):
        with server:
            assert is_result(server.produce_data(batch_of(server)))
        server.stop_thread()
    assert is_result(waiting.result())


def test_threads_share_a_server() -> None:
    results: list[Any] = []
    with DALIServer(plus_one()) as server:

        def use() -> None:
            for _ in range(20):
                results.append(server.produce_data(batch_of(server)))

        threads = [threading.Thread(target=use) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(results) == 60
    assert all(map(is_result, results))


def test_a_source_of_the_pipeline_that_ends() -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def ending() -> DataNode:
        own = fn.external_source([[ONE, ONE]], cycle=False)
        return fn.external_source(name="x") + own

    with DALIServer(ending()) as server:
        assert server.produce_data(batch_of(server)).tolist() == [[2, 4], [4, 7]]
        for _ in range(2):
            with pytest.raises(PipelineStateError, match="one has ended"):
                server.produce_data(batch_of(server))


def test_an_operator_that_fails() -> None:
    def check(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        if array[0] == 3:
            raise ValueError("three")
        return array

    @pipeline_def(batch_size=2, num_threads=1)
    def checked() -> DataNode:
        return fn.python_function(fn.external_source(name="x"), function=check)

    with DALIServer(checked()) as server:
        batch = batch_of(server)
        for _ in range(2):
            with pytest.raises(SampleError, match="three"):
                server.produce_data(batch)
        good = server.produce_data(default_collate([server.proxy(ONE)]))
        assert good.tolist() == [[1, 2]]


def test_layouts_of_inputs() -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def mirrored() -> DataNode:
        return fn.flip(fn.external_source(name="x", layout="HWC", dtype=types.UINT8))

    with DALIServer(mirrored()) as server:
        image = np.arange(6, dtype=np.uint8).reshape(1, 2, 3)
        data = server.produce_data(default_collate([server.proxy(image)]))
        assert data.tolist() == [[[[3, 4, 5], [0, 1, 2]]]]


def test_wrong_servers() -> None:
    with pytest.raises(ArgumentTypeError, match="DALIServer: pipeline must be a Pipeline"):
        DALIServer(None)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match=r"DataLoader: .*Pass DALIServer\(pipeline\)"):
        DataLoader(plus_one(), [])
    with Pipeline(1, 1) as without_inputs:
        without_inputs.set_outputs(fn.random.uniform())
    with pytest.raises(GraphError, match="must have an input"):
        _ = DALIServer(without_inputs).proxy


def test_proxy_pickles_and_server_does_not() -> None:
    server = DALIServer(plus_one())
    proxy = pickle.loads(pickle.dumps(server.proxy))
    assert is_result(server.produce_data(default_collate([proxy(ONE), proxy(TWO)])))
    with pytest.raises(PipelineStateError, match="Give the data set the proxy"):
        pickle.dumps(server)
