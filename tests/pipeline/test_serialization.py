"""Serialized pipelines: round trips, and rejected documents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, OperatorConcurrency, Pipeline, fn, pipeline_def, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    SerializationError,
)
from tests.folders import make_folders
from tests.operators.suite import (
    Example,
    all_examples,
    feed,
    function_of,
    list_of,
    name_of_fed,
    pipeline,
)
from tests.pipeline.counting import numbers

NEEDS_CODE = {
    *("external_source", "python_function", "dl_tensor_python_function", "readers.python"),
}
BATCH = 3


def defined(operator: str, example: Example, arguments: dict[str, Any], made: Pipeline) -> None:
    """Define a pipeline whose inputs are fed by name."""
    with made:
        inputs = [
            fn.external_source(name=f"input {i}", layout=data.layout or None)
            for i, data in enumerate(example.inputs)
        ]
        outputs = function_of(operator)(*inputs, **arguments, **name_of_fed(example))
        made.set_outputs(*list_of(outputs))


def arrays(output: Any) -> list[np.ndarray]:
    return [np.asarray(output.at(i)) for i in range(len(output))]


def batches_of(made: Pipeline, example: Example, count: int = 2) -> list[Any]:
    """Feed and run; return dtypes, layouts and samples as bytes, in which NaN equals NaN."""
    found = []
    feed(made, example)
    for batch in range(count):
        inputs = {
            f"input {i}": [data.make(BATCH * batch + sample) for sample in range(BATCH)]
            for i, data in enumerate(example.inputs)
        }
        found += [
            (
                output.dtype,
                output.layout(),
                [(each.shape, each.tobytes()) for each in arrays(output)],
            )
            for output in made.run(**inputs)
        ]
    return found


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "example" in metafunc.fixturenames:
        parameters = [
            pytest.param(operator, example, id=f"{operator}-{example.name}")
            for operator, example in all_examples(metafunc.config.getoption("keyword"))
        ]
        metafunc.parametrize(("operator", "example"), parameters)


def test_round_trip_gives_the_same_data(
    operator: str, example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where operators write
    arguments = example.arguments_in(tmp_path)
    with pipeline(batch_size=BATCH, prefetch_queue_depth=1) as made:
        defined(operator, example, arguments, made)
        if operator in NEEDS_CODE:
            with pytest.raises(SerializationError, match="test_serialization.py:.*plain data"):
                made.serialize()
            return
        document = made.serialize()
        expected = batches_of(made, example)
    again = Pipeline.deserialize(document)
    try:
        assert batches_of(again, example) == expected
        assert again.serialize() == document
    finally:
        again.close()


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=11)
def photos(root: Path) -> tuple[DataNode, ...]:
    _, label = fn.readers.file(
        file_root=root, name="reader", random_shuffle=True, num_shards=2, shard_id=1, seed=3
    )
    fn.python_function(label, function=print, preserve=False)  # not needed
    fn.random.uniform(range=[0.0, 2.0])
    angle = fn.random.uniform(range=[-10.0, 10.0])
    size = fn.random.uniform(values=[30.0, 40.0])
    image = fn.full(angle, shape=[5, 7, 3], layout="HWC")
    image = fn.rotate(image, angle=angle, fill_value=0, interp_type=types.INTERP_NN)
    image = fn.resize(image, resize_x=size, resize_y=8, dtype=types.FLOAT)
    image = fn.crop_mirror_normalize(image, mean=[1.5, 2.0, 3.0], mirror=fn.random.coin_flip())
    return label, angle, image


def first_batches(made: Pipeline, count: int = 3) -> list[Any]:
    return [
        [output.at(i).tolist() for i in range(len(output))]
        for _ in range(count)
        for output in made.run()
    ]


def test_readers_random_numbers_and_arguments_per_sample(tmp_path: Path) -> None:
    make_folders(tmp_path, (5, 6))
    made = photos(tmp_path)
    document = made.serialize()
    again = Pipeline.deserialize(document)
    assert first_batches(again) == first_batches(made)
    assert again.reader_meta() == made.reader_meta()
    assert list(again.reader_meta()) == ["reader"]
    assert again.plan() == made.plan()
    assert (again.batch_size, again.num_threads, again.seed) == (4, 2, 11)
    assert photos(tmp_path).serialize() == document
    entry = next(entry for entry in operators_of(document) if entry["operator"] == "resize")
    assert "test_serialization.py:" in entry.pop("location")
    assert entry == {
        "operator": "resize",
        "name": "resize_7",
        "inputs": [[4, 0]],
        "arguments": {"dtype": {"enum": "DALIDataType.FLOAT"}, "resize_y": 8.0},
        "tensor_arguments": {"resize_x": [2, 0]},
    }


def operators_of(document: bytes) -> list[dict[str, Any]]:
    return json.loads(document)["operators"]  # type: ignore[no-any-return]


OPTIONS: dict[str, Any] = {
    "batch_size": 5,
    "num_threads": 3,
    "seed": 2**63 + 5,
    "exec_pipelined": False,
    "prefetch_queue_depth": {"cpu_size": 3, "gpu_size": 2},
    "exec_async": False,
    "output_dtype": [types.INT64, None],
    "output_ndim": 0,
    "output_layout": ["", None],
    "on_sample_error": "replace",
    "max_bad_samples": 0.25,
    "optimize": False,
    "concurrency": OperatorConcurrency.FULL,
    "enable_memory_stats": True,
    "py_start_method": "spawn",
}


def test_arguments_of_the_pipeline() -> None:
    with Pipeline(device_id=None, **OPTIONS) as made:
        made.set_outputs(fn.external_source(name="one"), fn.external_source(name="two"))
    document = made.serialize()
    again = Pipeline.deserialize(document)
    for name in OPTIONS.keys() - {"on_sample_error", "max_bad_samples", "optimize"}:
        found = getattr(again, name)
        assert (found() if callable(found) else found) == (
            [0, 0] if name == "output_ndim" else OPTIONS[name]
        )
    assert json.loads(document)["options"].keys() == OPTIONS.keys()
    assert again.serialize() == document


def counting_up(**arguments: Any) -> Pipeline:
    with Pipeline(3, 2, None, **arguments) as made:
        made.set_outputs(fn.random.uniform(range=[0.0, 1.0], name="numbers"))
    return made


def test_arguments_that_take_precedence() -> None:
    document = counting_up(seed=5, prefetch_queue_depth=3).serialize()
    again = Pipeline.deserialize(document, batch_size=6, num_threads=1, prefetch_queue_depth=1)
    assert (again.batch_size, again.num_threads, again.seed) == (6, 1, 5)
    assert again.prefetch_queue_depth == 1
    (batch,) = again.run()
    expected = np.concatenate([counting_up(seed=5).run()[0].as_array()])
    np.testing.assert_array_equal(batch.as_array()[:3], expected)
    with pytest.raises(ArgumentTypeError, match="unknown argument 'bach_size'"):
        Pipeline.deserialize(document, bach_size=3)
    with pytest.raises(ArgumentValueError, match="batch_size must be positive"):
        Pipeline.deserialize(document, batch_size=0)


def test_a_seed_that_was_not_given_is_not_written() -> None:
    document = counting_up().serialize()
    assert Pipeline.deserialize(document).seed is None
    assert "seed" not in json.loads(document)["options"]


def test_deserialize_and_build() -> None:
    document = counting_up(seed=5).serialize()
    expected = first_batches(counting_up(seed=5))
    made = Pipeline(device_id=None)
    made.deserialize_and_build(document)
    assert (made.batch_size, made.num_threads, made.seed) == (3, 2, 5)
    assert first_batches(made) == expected
    made.deserialize_and_build(document)
    assert first_batches(made) == expected
    other = Pipeline(2, 1, None, seed=6)
    other.deserialize_and_build(document.decode())
    assert (other.batch_size, other.num_threads, other.seed) == (2, 1, 6)
    with pytest.raises(SerializationError, match="must be JSON"):
        made.deserialize_and_build(document[:-5])
    assert made.seed == 5
    assert not made.empty()


def test_files(tmp_path: Path) -> None:
    made = counting_up(seed=1)
    document = made.serialize(filename=tmp_path / "pipeline.json")
    assert (tmp_path / "pipeline.json").read_bytes() == document
    again = Pipeline.deserialize(filename=str(tmp_path / "pipeline.json"))
    assert first_batches(again) == first_batches(made)
    with pytest.raises(FileNotFoundError):
        Pipeline.deserialize(filename=tmp_path / "missing.json")
    for arguments in ({}, {"serialized_pipeline": document, "filename": "pipeline.json"}):
        with pytest.raises(ArgumentValueError, match="either serialized_pipeline or filename"):
            Pipeline.deserialize(**arguments)
    with pytest.raises(ArgumentTypeError, match="must be bytes or a str"):
        Pipeline.deserialize(3)  # type: ignore[arg-type]


def test_define_graph() -> None:
    made = Pipeline(2, 1, None)
    document = made.serialize(define_graph=lambda: [fn.random.uniform(), fn.random.coin_flip()])
    assert len(Pipeline.deserialize(document).run()) == 2
    with pytest.raises(GraphError, match="must be left out"):
        made.serialize(define_graph=fn.random.uniform)
    with pytest.raises(ArgumentTypeError, match="filename="):
        made.serialize("pipeline.json")  # type: ignore[arg-type]


class Named(Pipeline):
    """A user-defined class, with its own graph."""

    def define_graph(self) -> DataNode:
        return fn.external_source(name="data", layout="X")


def test_derived_classes_and_fed_inputs() -> None:
    document = Named(2, 1, None, prefetch_queue_depth=1).serialize()
    for kind in (Pipeline, Named):
        again = kind.deserialize(document)
        assert type(again) is kind
        again.feed_input("data", np.ones((2, 3)))
        (batch,) = again.run()
        assert (batch.as_array().tolist(), batch.layout()) == ([[1.0] * 3] * 2, "X")


def test_sinks_are_serialized() -> None:
    with Pipeline(2, 1, None) as made:
        data = fn.external_source(name="data")
        made.add_sink(fn.copy(data))
        made.set_outputs(data)
    again = Pipeline.deserialize(made.serialize())
    assert "fn.copy" in again.plan()
    assert again.plan() == made.plan()


@pytest.mark.parametrize(
    ("define", "named"),
    [
        (lambda: fn.external_source(numbers), r"'source' of fn.external_source"),
        (lambda: fn.external_source(iter([])), r"'source' of fn.external_source"),
        (
            lambda: fn.python_function(fn.external_source(), function=abs),
            r"'function' of fn.python_function",
        ),
    ],
)
def test_python_code_is_not_written(define: Any, named: str) -> None:
    with Pipeline(3, 1, None) as made:
        made.set_outputs(define())
    with pytest.raises(SerializationError, match=rf"{named} at .*test_seri.*py:\d+ must be plain"):
        made.serialize()


@pipeline_def(batch_size=8, num_threads=2, device_id=None, seed=4, enable_conditionals=True)
def branching() -> tuple[Any, ...]:
    number = fn.random.uniform(range=[0.0, 1.0])
    chosen = fn.random.coin_flip(dtype=types.BOOL)
    if chosen:
        if number > 0.5:
            number = number * 10
    else:
        number = fn.random.uniform(range=[-2.0, -1.0]) - 1
    return number, chosen or fn.random.coin_flip(dtype=types.BOOL)


def test_branches() -> None:
    made = branching()
    document = made.serialize()
    again = Pipeline.deserialize(document)
    assert again.plan() == made.plan()
    assert again.serialize() == document
    batches = first_batches(made, 4)
    assert first_batches(again, 4) == batches
    numbers_found = np.concatenate(batches[::2])
    assert {*np.sign(numbers_found)} == {-1, 1}


def test_data_in_arguments() -> None:
    items = [
        [np.array([np.inf, np.nan, -0.5], np.float32)] * 2,
        [np.array([1.0, 2.0, 3.0], np.float32)] * 2,
    ]
    with Pipeline(2, 1, None) as made:
        made.set_outputs(
            fn.external_source(items, cycle="quiet", dtype=types.FLOAT, ndim=1),
            fn.constant(fdata=[float("inf"), -float("inf")]),
            fn.constant(idata=[-(2**31), 2**31 - 1]),
        )
    document = made.serialize()
    assert repr(first_batches(Pipeline.deserialize(document))) == repr(first_batches(made))
    assert b"NaN" not in document
    assert b"Infinity" not in document
