"""Several outputs of one source, their descriptions, and sources that are rejected."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.ops
import dali_core.types
from tests.conformance.pipelines import plain, reference

pytest.importorskip("nvidia.dali.ops", reason="not available: NVIDIA DALI")

ONE = [np.int32([1]), np.int32([2])]
TWO = [np.float32([[3]]), np.float32([[4]])]
IMAGES = np.zeros((2, 2, 2, 3), np.uint8)


class Indexed:
    """An object that returns its outputs one by one."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = outputs

    def __getitem__(self, number: int) -> Any:
        return self.outputs[number]


def outcome(library: Any, build: Callable[[Any], Any], runs: int = 1) -> Any:
    """Return some batches, and the classes of warnings, or that the pipeline is rejected."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline = library.Pipeline(2, 1, None, enable_checkpointing=True)
            with pipeline:
                outputs = build(library)
                is_single = not isinstance(outputs, (list, tuple))
                pipeline.set_outputs(*([outputs] if is_single else outputs))
            pipeline.build()
            found = [plain(list(pipeline.run()), library) for _ in range(runs)]
        except (TypeError, ValueError, IndexError, RuntimeError):
            return "refused"
    return found, sum(issubclass(warning.category, Warning) for warning in caught)


def check(build: Callable[[Any], Any], runs: int = 1) -> Any:
    ours, theirs = (outcome(library, build, runs) for library in (dali_core, reference))
    assert ours == theirs
    return ours


def source(function: Any, **arguments: Any) -> Callable[[Any], Any]:
    def build(library: Any) -> Any:
        types = {
            name: [entry and getattr(library.types, entry) for entry in value]
            for name, value in arguments.items()
            if name == "dtype"
        }
        return library.fn.external_source(function, **{**arguments, **types})

    return build


@pytest.mark.parametrize(
    "data",
    [
        (ONE, TWO),
        [ONE, TWO],
        {0: ONE, 1: TWO},
        Indexed(ONE, TWO),
        np.arange(12).reshape(2, 2, 3),
        (np.stack(ONE), np.stack(TWO)),
    ],
)
def test_outputs_of_a_batch(data: Any) -> None:
    assert check(source(lambda i: data, num_outputs=2)) != "refused"


@pytest.mark.parametrize(
    "data", [(ONE[0], TWO[0]), {0: ONE[0], 1: TWO[0]}, Indexed(ONE[0], TWO[0]), np.ones((2, 3))]
)
def test_outputs_of_a_sample(data: Any) -> None:
    assert check(source(lambda i: data, num_outputs=2, batch=False)) != "refused"


@pytest.mark.parametrize("data", [(ONE,), 5, None, iter([ONE, TWO])])
def test_wrong_outputs(data: Any) -> None:
    assert check(source(lambda i: data, num_outputs=2)) == "refused"


@pytest.mark.parametrize(
    "arguments",
    [
        {"layout": ["HWC", "CHW"]},
        {"layout": ["HWC"]},
        {"layout": "HWC"},
        {"layout": ("HWC", "")},
        {"layout": ["HWC", None, "CHW"]},
        {"layout": []},
        {"dtype": ["UINT8", "UINT8"]},
        {"dtype": [None, "UINT8"]},
        {"dtype": ["UINT8", "FLOAT"]},
        {"ndim": [3, 3]},
        {"ndim": [3]},
        {"ndim": 3},
        {"ndim": [3, 2]},
    ],
)
def test_short_lists_are_filled_up(arguments: dict[str, Any]) -> None:
    found = check(source(lambda i: (IMAGES,) * 3, num_outputs=3, **arguments))
    wrong = arguments in ({"dtype": ["UINT8", "FLOAT"]}, {"ndim": [3, 2]})
    assert (found == "refused") is wrong


def test_outputs_without_declared_type_accept_any_data() -> None:
    mixed = (np.zeros((2, 2), np.uint8), np.zeros((2, 1, 1), np.int32), IMAGES.astype(np.float32))
    for arguments in ({"dtype": ["UINT8", "INT32"]}, {"dtype": ["UINT8"]}, {"ndim": [1, 2]}):
        assert check(source(lambda i: mixed, num_outputs=3, **arguments)) != "refused"


def test_outputs_are_fed_one_by_one() -> None:
    logs = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None, prefetch_queue_depth=1)
        with pipeline:
            one, two = library.ops.ExternalSource(num_outputs=2, layout=["X", "YZ"])()
            pipeline.set_outputs(one, two)
        pipeline.build()
        log = []
        for number in range(3):
            pipeline.feed_input(two, [sample + number for sample in TWO])
            pipeline.feed_input(one.name, ONE)
            log.append(plain(list(pipeline.run()), library))
        logs.append(log)
    assert logs[0] == logs[1]


KINDS = {
    "dtype": [np.int32([1]), np.float32([1])],
    "dimensions": [np.int32([1]), np.int32([[1]])],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_fed", [False, True])
def test_batches_of_a_source_are_of_one_kind(kind: str, is_fed: bool) -> None:
    samples = KINDS[kind]
    logs = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None, prefetch_queue_depth=1)
        given = {} if is_fed else {"source": lambda i: [samples[i]] * 2}
        with pipeline:
            pipeline.set_outputs(library.fn.external_source(**given, name="x"))
        pipeline.build()
        log = []
        for sample in samples:
            if is_fed:
                pipeline.feed_input("x", [sample, sample])
                if sample is samples[1]:
                    pipeline.reset()
            try:
                log.append(plain(list(pipeline.run()), library))
            except (RuntimeError, dali_core.errors.SampleError) as error:
                log.append("refused")
                message = str(error)
        if library is dali_core:
            assert "all batches of output 0 must have one" in message
        logs.append(log)
    assert logs[0] == logs[1]
    assert [entry == "refused" for entry in logs[0]] == [False, True]


@pytest.mark.parametrize(
    ("layouts", "is_refused"), [(["X", "Y"], True), (["X", ""], True), (["", "X"], False)]
)
def test_layouts_of_a_source(layouts: list[str], is_refused: bool) -> None:
    def build(library: Any) -> Any:
        return library.fn.external_source(
            lambda i: library.tensors.TensorListCPU(np.ones((2, 1)), layouts[min(i, 1)])
        )

    for library in (dali_core, reference):
        assert (outcome(library, build, 2) == "refused") is is_refused


@pytest.mark.parametrize(
    "function",
    [lambda *a: ONE, lambda **a: ONE, lambda i, *a: ONE, lambda i, **a: ONE, lambda a, b: ONE],
)
@pytest.mark.parametrize("parallel", [False, True])
def test_sources_with_any_number_of_arguments(function: Any, parallel: bool) -> None:
    assert check(source(function, parallel=parallel, batch=True)) == "refused"


def test_both_warn_of_unused_outputs() -> None:
    def build(library: Any) -> Any:
        one, _ = library.fn.external_source(lambda i: (ONE, TWO), num_outputs=2)
        return one

    def needed(library: Any) -> Any:
        return library.fn.external_source(lambda i: (ONE, TWO), num_outputs=2)

    assert check(build)[1] == 1
    assert check(needed)[1] == 0


def test_both_warn_of_sources_without_state() -> None:
    assert check(source(lambda: ONE))[1] == 1
    assert check(source(lambda i: ONE))[1] == 0
    assert check(source(lambda info: ONE[0], batch=False))[1] == 0
    assert check(source(lambda info: ONE, batch_info=True))[1] == 0
