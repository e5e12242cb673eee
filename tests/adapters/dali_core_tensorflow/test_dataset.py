"""Pipelines as datasets: iterations, epochs, shapes, memory, wrong arguments."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    AdapterError,
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
)
from dali_core.plugin.base_iterator import LastBatchPolicy
from tests.adapters.dali_core_tensorflow.pipelines import lists, numbers, source_pipeline

tf = pytest.importorskip("tensorflow", reason="not available: TensorFlow")

from dali_core_tensorflow.adapter import HostAdapter  # noqa: E402
from dali_core_tensorflow.passes import squeezed  # noqa: E402

from dali_core.plugin.tf import DALIDataset  # noqa: E402

FILL, DROP, PARTIAL = LastBatchPolicy


def counting() -> Iterator[Any]:
    for number in range(4):
        yield numpy.full((2, 1), number, numpy.float32)


class TestIterations:
    def test_is_a_tf_data_dataset(self, tmp_path: Path) -> None:
        dataset = DALIDataset(numbers(tmp_path, batch_size=2), tf.int32, (2, 1))
        assert isinstance(dataset, tf.data.Dataset)
        assert dataset.element_spec == (tf.TensorSpec((2, 1), tf.int32),)
        assert lists(dataset.map(lambda x: (x * 10,)).take(2)) == [[0, 10], [20, 30]]
        batch, other = next(iter(tf.data.Dataset.zip((dataset, dataset.skip(1)))))
        assert (lists([batch]), lists([other])) == ([[0, 1]], [[2, 3]])

    def test_readers_continue_across_iterations(self, tmp_path: Path) -> None:
        dataset = DALIDataset(numbers(tmp_path, batch_size=2), output_dtypes=(tf.int32,))
        for _ in range(2):
            assert lists(dataset.take(5)) == [[0, 1], [2, 3], [4, 5], [6, 0], [1, 2]]

    def test_arguments_replace_those_of_the_pipeline(self, tmp_path: Path) -> None:
        pipeline = numbers(tmp_path, batch_size=2)
        dataset = DALIDataset(
            pipeline, tf.int32, batch_size=3, num_threads=2, device_id=None, exec_separated=True
        )
        assert lists(dataset.take(1)) == [[0, 1, 2]]
        assert lists(DALIDataset(numbers(tmp_path), tf.int32).take(2)) == [[0], [1]]

    @pytest.mark.parametrize("cycle", [None, "raise"])
    def test_a_source_ends_it_and_starts_over(self, cycle: str | None) -> None:
        dataset = DALIDataset(source_pipeline(counting, cycle=cycle), tf.float32)
        assert lists(dataset.take(1)) == [[0, 0]]
        for _ in range(2):
            iterator = iter(dataset)
            assert lists(iterator) == [[0, 0], [1, 1], [2, 2], [3, 3]]
            with pytest.raises(StopIteration):
                next(iterator)
        assert len(lists(dataset.repeat(2))) == 8

    def test_stale_iteration_over_python_code_raises(self) -> None:
        dataset = DALIDataset(source_pipeline(counting, cycle="quiet"), tf.float32)
        older = iter(dataset)
        next(older)
        assert lists(dataset.take(2)) == [[0, 0], [1, 1]]
        with pytest.raises(tf.errors.UnknownError, match="one iterator at a time"):
            lists(older)  # TensorFlow may have taken some batches ahead

    def test_in_graphs(self, tmp_path: Path) -> None:
        dataset = DALIDataset(numbers(tmp_path, batch_size=2), tf.int32)

        @tf.function
        def total(batches: Any) -> Any:
            result = 0
            for (batch,) in batches:
                result += tf.reduce_sum(batch)
            return result

        assert int(total(dataset.take(3))) == 15
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            batches = DALIDataset(numbers(tmp_path, batch_size=2), tf.int32).take(1)
            (batch,) = tf.compat.v1.data.make_one_shot_iterator(batches).get_next()
            assert session.run(batch).tolist() == [[0], [1]]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(batch)


class TestEpochs:
    @pytest.mark.parametrize(
        ("policy", "pad", "epochs"),
        [
            (FILL, False, [[[0, 1], [2, 3], [4, 5], [6, 0]], [[1, 2], [3, 4], [5, 6]]]),
            (FILL, True, [[[0, 1], [2, 3], [4, 5], [6, 6]]] * 2),
            (DROP, False, [[[0, 1], [2, 3], [4, 5]], [[1, 2], [3, 4], [5, 6]]]),
            (DROP, True, [[[0, 1], [2, 3], [4, 5]]] * 2),
            (PARTIAL, True, [[[0, 1], [2, 3], [4, 5], [6]]] * 2),
        ],
    )
    @pytest.mark.filterwarnings("ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning")
    def test_policies(
        self, tmp_path: Path, policy: LastBatchPolicy, pad: bool, epochs: list[Any]
    ) -> None:
        pipeline = numbers(tmp_path, batch_size=2, pad_last_batch=pad)
        dataset = DALIDataset(pipeline, tf.int32, reader_name="numbers", last_batch_policy=policy)
        for expected in epochs:
            assert lists(dataset) == expected
        unknown = tf.data.UNKNOWN_CARDINALITY
        varies = policy is FILL and not pad
        assert dataset.cardinality() == (unknown if varies else len(epochs[0]))

    def test_size(self) -> None:
        dataset = DALIDataset(source_pipeline(counting), tf.float32, size=5, last_batch_policy=DROP)
        assert lists(dataset) == [[0, 0], [1, 1]]

    def test_epochs_are_shuffled_anew_and_abandoned_ones_come_again(self, tmp_path: Path) -> None:
        pipeline = numbers(
            tmp_path, 20, batch_size=5, seed=1, random_shuffle=True, pad_last_batch=True
        )
        dataset = DALIDataset(pipeline, tf.int32, reader_name="numbers")
        first_batch = lists(dataset.take(1))
        first, second = lists(dataset), lists(dataset)
        assert first[:1] == first_batch
        assert first != second
        for epoch in (first, second):
            assert sorted(itertools.chain(*epoch)) == list(range(20))

    def test_shards(self, tmp_path: Path) -> None:
        given = [
            lists(
                DALIDataset(
                    numbers(tmp_path, 8, batch_size=2, shard_id=shard, num_shards=2),
                    tf.int32,
                    reader_name="numbers",
                )
            )
            for shard in range(2)
        ]
        assert given == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]


class TestShapesAndTypes:
    def test_dimensions_of_extent_1_are_removed_if_need_be(self, tmp_path: Path) -> None:
        pipeline = numbers(tmp_path, batch_size=2)
        for shape in ((2,), (None,), (2, 1), (None, 1), None):
            (batch,) = next(iter(DALIDataset(pipeline, tf.int32, shape)))
            assert batch.shape == ((2, 1) if shape is None else (2, 1)[: len(shape)])
        assert squeezed((1, 4, 1, 3), (4, 3)) == (4, 3)
        assert squeezed((1, 1, 2), (1, None)) == (1, 2)
        assert squeezed((1, 1), ()) == ()
        assert squeezed((2, 3), (3,)) is None
        assert squeezed((2,), (2, 1)) is None

    @pytest.mark.parametrize(
        ("dtypes", "shapes", "message"),
        [
            (tf.int64, None, "output 0 must be of output_dtypes, tf.int64 .got tf.int32"),
            (tf.int32, (3, 1), r"output 0 must be of output_shapes, \(3, 1\).*got \(2, 1\)"),
        ],
    )
    def test_mismatched_shapes_and_dtypes_raise(
        self, tmp_path: Path, dtypes: Any, shapes: Any, message: str
    ) -> None:
        dataset = DALIDataset(numbers(tmp_path, batch_size=2), dtypes, shapes)
        with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.UnknownError), match=message):
            next(iter(dataset))

    def test_ragged_batches(self) -> None:
        ragged = [[numpy.zeros(3, numpy.float32), numpy.zeros(2, numpy.float32)]]
        with pytest.raises(tf.errors.UnknownError, match=r"same shape \(got \[\(3,\), \(2,\)\]"):
            next(iter(DALIDataset(source_pipeline(ragged), tf.float32)))

    def test_iteration_continues_after_an_error(self) -> None:
        def batches() -> Iterator[Any]:
            for number in range(4):
                yield numpy.full((3 if number == 1 else 2, 1), number, numpy.float32)

        dataset = DALIDataset(source_pipeline(batches), tf.float32)
        assert lists(dataset.ignore_errors()) == [[0, 0], [2, 2], [3, 3]]
        iterator = iter(dataset)
        next(iterator)
        with pytest.raises(tf.errors.UnknownError, match="at most batch_size = 2"):
            next(iterator)
        assert lists(iterator) == [[2, 2], [3, 3]]


class TestMemory:
    def test_batches_are_zero_copy(self, monkeypatch: pytest.MonkeyPatch) -> None:
        addresses = []
        original = HostAdapter.represent

        def represent(self: HostAdapter, batch: Any, kind: str, num_valid: int) -> Any:
            addresses.append(batch.as_tensor().data_ptr())
            return original(self, batch, kind, num_valid)

        monkeypatch.setattr(HostAdapter, "represent", represent)
        dataset = DALIDataset(source_pipeline(counting), tf.float32, (2,))
        given = [numpy.asarray(memoryview(batch)).ctypes.data for (batch,) in dataset]
        assert given == addresses
        assert len(given) == 4

    def test_batches_are_never_overwritten(self) -> None:
        def batches() -> Iterator[Any]:
            for number in range(24):
                yield numpy.full((2, 64), number, numpy.float32)

        pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipeline:
            node = fn.external_source(source=batches, batch=True)
            pipeline.set_outputs(node, node)  # the same memory twice
        dataset = DALIDataset(pipeline, (tf.float32, tf.float32)).prefetch(2)
        # An operation may write to the memory of an argument that nobody else refers to.
        changed = dataset.map(lambda x, y: (tf.negative(x), y))
        held = [*changed]
        assert [set(y.numpy().ravel()) for _, y in held] == [{number} for number in range(24)]
        assert [set(x.numpy().ravel()) for x, _ in held] == [{-number} for number in range(24)]


class TestWrongArguments:
    @pytest.mark.parametrize(
        ("arguments", "error", "message"),
        [
            ({"output_dtypes": None}, ArgumentTypeError, r"a tf\.DType or a tuple of them"),
            ({"output_dtypes": [tf.int32]}, ArgumentTypeError, r"a tf\.DType or a tuple of them"),
            ({"output_dtypes": (tf.int32,) * 2}, ArgumentValueError, r"got 2 for 1 outputs"),
            ({"output_shapes": ((2, 1), (2, 1))}, ArgumentTypeError, "must hold shapes"),
            ({"output_shapes": "abc"}, ArgumentTypeError, "must hold shapes"),
            ({"output_dtypes": (tf.int32,), "output_shapes": 3}, ArgumentValueError, "an entry"),
            ({"shapes": [(2, 1)], "output_shapes": (2, 1)}, ArgumentConflictError, "not both"),
            ({"reader_name": "other"}, GraphError, "no reader named 'other'"),
            ({"batch_size": 0}, ArgumentValueError, "batch_size"),
        ],
    )
    def test_invalid_arguments_raise(
        self, tmp_path: Path, arguments: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        pipeline = numbers(tmp_path, batch_size=2)
        with pytest.raises(error, match=message):
            DALIDataset(pipeline, **{"output_dtypes": tf.int32, **arguments})

    def test_missing_pipeline_raises(self) -> None:
        with pytest.raises(ArgumentTypeError, match="pipeline must be a Pipeline"):
            DALIDataset(numbers, tf.int32)

    def test_pipelines_with_python_code_keep_their_arguments(self) -> None:
        pipeline = source_pipeline(counting)
        with pytest.raises(ArgumentConflictError, match=r"batch_size must be .*, 2, .*got 3"):
            DALIDataset(pipeline, tf.float32, batch_size=3)
        assert len(lists(DALIDataset(pipeline, tf.float32, batch_size=2))) == 4

    def test_former_names(self, tmp_path: Path) -> None:
        pipeline = numbers(tmp_path, batch_size=2)
        with pytest.warns(DeprecationWarning, match="Use output_") as warnings:
            dataset = DALIDataset(pipeline, dtypes=[tf.int32], shapes=[(2,)])
        assert [str(one.message).split()[1] for one in warnings] == ["dtypes", "shapes"]
        assert warnings[0].filename == __file__
        assert lists(dataset.take(1)) == [[0, 1]]

    def test_outputs_on_a_gpu(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class OnDevice:
            pass

        module = importlib.import_module("dali_core_tensorflow.adapter")
        monkeypatch.setattr(module, "TensorListGPU", OnDevice)
        with pytest.raises(AdapterError, match=r"on the host.*output\.cpu\(\)"):
            HostAdapter(copies_from_gpu=False).represent(OnDevice(), "dense", 2)


def test_training(tmp_path: Path) -> None:
    def batches() -> Iterator[Any]:
        for number in range(8):
            yield numpy.full((4, 1), number % 2, numpy.float32)

    dataset = DALIDataset(
        source_pipeline(batches, batches, batch_size=4, cycle="raise"),
        (tf.float32, tf.float32),
        ((4, 1), (4, 1)),
        size=32,
        last_batch_policy=DROP,
    )
    keras = tf.keras
    network = keras.Sequential([keras.layers.Dense(1, use_bias=False)])
    network.compile(keras.optimizers.SGD(0.1), "mse", run_eagerly=False)
    history = network.fit(dataset, epochs=2, verbose=0, shuffle=False).history["loss"]
    assert history[1] < history[0]
    assert len(history) == 2
