"""`Pipeline.run_sample` returns what batches have, and disturbs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, mix_readers, parameter, pipeline_def, samplers, types
from dali_core.batching.fixed import Fixed
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    CudaUnavailableError,
    GraphError,
    SampleIndexError,
    UnknownInputError,
)
from dali_core.inspection import InspectedSample
from tests.inspection.pipelines import everything, make_images, sound_of


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_images(tmp_path_factory.mktemp("files"))


def samples_of(pipeline: Pipeline, num_batches: int) -> list[tuple[np.ndarray, ...]]:
    """Run batches, and return their samples one after the other."""
    found = []
    for _ in range(num_batches):
        outputs = pipeline.run()
        found += [tuple(np.array(output[i]) for output in outputs) for i in range(len(outputs[0]))]
    return found


def assert_same(sample: InspectedSample, expected: tuple[np.ndarray, ...]) -> None:
    assert sample.error is None
    assert len(sample.outputs) == len(expected)
    for found, wanted in zip(sample.outputs, expected, strict=True):
        assert found is not None
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("options", [{}, {"on_sample_error": "replace"}, {"batch_size": 4}])
def test_outputs_equal_those_of_the_batch(images: Path, options: dict[str, Any]) -> None:
    pipeline = everything(images, **options)
    expected = samples_of(pipeline, 5)
    for epoch, index in ((0, 0), (0, 4), (0, 6), (1, 0), (1, 3)):
        assert_same(pipeline.run_sample(index, epoch), expected[7 * epoch + index])


READERS = [
    {"pad_last_batch": True},
    {"num_shards": 3, "shard_id": 1},
    {"num_shards": 2, "shard_id": 1, "pad_last_batch": True, "random_shuffle": True},
    {"num_shards": 2, "shard_id": 1, "stick_to_shard": True},
    {"num_shards": 2, "shard_id": 1, "interleaved_shards": True, "random_shuffle": True},
]


@pytest.mark.parametrize("reader", READERS, ids=str)
@pytest.mark.parametrize("whole", [False, True])
def test_every_order_of_readers(images: Path, reader: dict[str, Any], whole: bool) -> None:
    @pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=3)
    def define():
        encoded, _ = fn.readers.file(file_root=str(images), name="files", **reader)
        return (fn.pad(encoded) if whole else encoded), fn.random.uniform(range=[0, 1])

    pipeline = define()
    plan = pipeline._run.readers.find("files").plan if pipeline.epoch_size() else None
    assert plan is not None
    expected = samples_of(pipeline, 12)
    for epoch in range(3):
        start = Fixed(2).plan(plan).epoch_start(epoch)
        last = plan.shard_size(epoch) - 1
        for index in {0, last // 2, last}:
            assert_same(pipeline.run_sample(index, epoch), expected[start + index])


def test_batch_operators_get_the_whole_batch(images: Path) -> None:
    @pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=3)
    def define():
        encoded, label = fn.readers.file(file_root=str(images), name="files")
        image = fn.pad(fn.decoders.image(encoded))
        total = fn.python_function(
            label + fn.random.uniform(range=[0, 9], dtype=types.INT32),
            function=lambda batch: [array + sum(batch) for array in batch],
            batch_processing=True,
        )
        return image, total, fn.permute_batch(label, indices=fn.batch_permutation())

    pipeline = define()
    expected = samples_of(pipeline, 3)
    for index in (0, 2, 5):
        assert_same(pipeline.run_sample(index), expected[index])


def test_values_inside_of_fused_chains(images: Path) -> None:
    pipeline = everything(images)
    assert "fused" in pipeline.plan()
    sample = pipeline.run_sample(2)
    (decoded,), (resized,) = sample["decoded"].values, sample["resized"].values
    assert decoded.layout == "HWC"
    assert decoded.array.ndim == 3
    assert resized.array.shape == (30, 40, 3)
    assert resized.source.startswith("a/")
    assert sample.source == resized.source
    assert sample["resized"].operator == "fn.resize"
    assert "pipelines.py:" in sample["resized"].location
    assert sample["resized"].inputs == ("decoded",)
    assert list(sample) == [node.name for node in pipeline._inspected().live_nodes]
    assert "resized): HWC 30 x 40 x 3 uint8" in str(sample)


def test_branches_that_a_sample_does_not_take(images: Path) -> None:
    pipeline = everything(images)
    samples = [pipeline.run_sample(index) for index in range(7)]
    taken = {bool(sample["mirror"].arrays[0]) for sample in samples}
    assert taken == {True, False}, "the seed must lead to both branches"
    for sample in samples:
        flipped = sample["flipped"]
        if sample["mirror"].arrays[0]:
            np.testing.assert_array_equal(flipped.arrays[0], sample["resized"].arrays[0][:, ::-1])
        else:
            assert flipped.values == ()
            assert flipped.error is None
            assert "is False" in flipped.reason


def test_inspection_does_not_change_the_pipeline(images: Path) -> None:
    undisturbed, pipeline = everything(images), everything(images)
    expected = samples_of(undisturbed, 6)
    found = []
    for number in range(6):
        found += samples_of(pipeline, 1)
        before = json.dumps(pipeline.state_dict())
        pipeline.run_sample(number)
        pipeline.run_sample(1, 2)
        assert json.dumps(pipeline.state_dict()) == before
    for one, other in zip(found, expected, strict=True):
        for array, wanted in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, wanted)
    assert pipeline.statistics().consumer.batches == 6


def test_checkpoints_with_another_seed(images: Path) -> None:
    pipeline = everything(images, seed=None)
    expected = samples_of(pipeline, 2)
    resumed = everything(images, seed=None, checkpoint=pipeline.checkpoint())
    for index in (1, 4):
        assert_same(resumed.run_sample(index), expected[index])


def test_bad_samples(tmp_path: Path) -> None:
    images = make_images(tmp_path, 4)
    (images / "a" / "1.png").write_bytes(b"no image")

    @pipeline_def(batch_size=2, num_threads=1, device_id=None, seed=2, on_sample_error="replace")
    def define():
        encoded, label = fn.readers.file(file_root=str(images), name="files")
        image = fn.decoders.image(encoded, name="decoded")
        image = fn.resize(image, size=[10, 10], name="resized")
        other = fn.python_function(label, function=lambda a: a + 1, name="other")
        return fn.pad(image, name="padded"), other, fn.random.uniform(name="noise")

    pipeline = define()
    files = ["0.png", "1.png", "2.png"]
    listed = [pipeline.run_sample(index).source for index in range(3)]
    assert listed == [f"a/{name}" for name in files]
    sample = pipeline.run_sample(1)
    error = sample["decoded"].error
    assert error is not None
    assert sample.error is error
    assert (error.operator, error.source, error.sample) == ("decoders.image", "a/1.png", 1)
    assert sample["decoded"].values == ()
    assert sample["files"].arrays[0].tobytes() == b"no image"
    assert sample["resized"].reason == "not run: a step before it failed"
    assert sample["other"].arrays[0].tolist() == [1]
    assert sample.outputs[0] is None
    expected = samples_of(pipeline, 2)
    assert sample.outputs[2] == expected[1][2]
    # The others of its batch are as in the batch, in which a good sample takes its place.
    assert_same(pipeline.run_sample(0), expected[0])
    assert_same(pipeline.run_sample(2), expected[2])


def test_functions_that_raise(images: Path) -> None:
    def refuse(array: np.ndarray) -> np.ndarray:
        raise KeyError("no such thing")

    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        _, label = fn.readers.file(file_root=str(images), name="files")
        return fn.python_function(label, function=refuse, name="refused"), fn.copy(label)

    sample = define().run_sample(3)
    error = sample["refused"].error
    assert error is not None
    assert "no such thing" in error.message
    assert isinstance(error.__cause__, KeyError)
    assert sample.outputs[1] is not None


def test_sources() -> None:
    calls = []

    def sample_of(info: types.SampleInfo) -> np.ndarray:
        calls.append(info)
        return np.array([info.idx_in_epoch, info.idx_in_batch, info.iteration, info.epoch_idx])

    def batch_of(number: int) -> list[np.ndarray]:
        return [np.array([number, i]) for i in range(3)]

    listed = [[np.array(10 * number + i) for i in range(3)] for number in range(5)]

    def define(*sources: Any, **arguments: Any) -> Pipeline:
        with Pipeline(3, 1, None, seed=1) as pipeline:
            nodes = [fn.external_source(source, **arguments) for source in sources]
            pipeline.set_outputs(*nodes, fn.random.uniform())
        return pipeline

    alone = define(sample_of, batch=False)
    sample = alone.run_sample(7)
    assert [info.idx_in_epoch for info in calls] == [7], "only this sample is asked for"
    assert_same(sample, samples_of(alone, 3)[7])
    batches = define(batch_of, listed)
    expected = samples_of(batches, 5)
    for index in (0, 7, 14):
        assert_same(batches.run_sample(index), expected[index])
    with pytest.raises(SampleIndexError, match="sources end before"):
        batches.run_sample(15)
    parallel = define(sound_of, batch=False, parallel=True)
    assert_same(parallel.run_sample(4), samples_of(parallel, 2)[4])


def test_epochs_of_sources() -> None:
    def source(info: types.SampleInfo) -> np.ndarray:
        if info.idx_in_epoch >= 4:
            raise StopIteration
        return np.array([info.idx_in_epoch, info.epoch_idx])

    with Pipeline(2, 1, None, seed=1) as pipeline:
        pipeline.set_outputs(fn.external_source(source, batch=False), fn.random.uniform())
    samples_of(pipeline, 2)
    with pytest.raises(StopIteration):
        pipeline.run()
    with pytest.raises(ArgumentValueError, match="epoch must be 0 or that"):
        pipeline.run_sample(0, 1)
    pipeline.reset()
    expected = samples_of(pipeline, 2)
    assert_same(pipeline.run_sample(3, 1), expected[3])
    with pytest.raises(SampleIndexError):
        pipeline.run_sample(4, 1)


def test_sources_that_are_fed() -> None:
    with Pipeline(3, 1, None, seed=1) as pipeline:
        image = fn.external_source(name="image", layout="HWC")
        items = fn.external_source(iter([[np.zeros(2)] * 3]), name="items")
        pipeline.set_outputs(fn.flip(image, name="flipped"), items)
    pixels = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)
    with pytest.raises(ArgumentTypeError, match="inputs=.'image'"):
        pipeline.run_sample(0)
    with pytest.raises(ArgumentTypeError, match="must say which data is wanted"):
        pipeline.run_sample(0, inputs={"image": pixels})
    with pytest.raises(UnknownInputError, match="'image', 'items'"):
        pipeline.run_sample(0, inputs={"photo": pixels})
    sample = pipeline.run_sample(0, inputs={"image": pixels, "items": np.ones(5)})
    np.testing.assert_array_equal(sample["flipped"].arrays[0], pixels[:, ::-1])
    np.testing.assert_array_equal(sample["items"].arrays[0], np.ones(5))
    pipeline.feed_input("image", [pixels] * 3)
    assert np.array_equal(pipeline.run()[1].as_array(), np.zeros((3, 2))), "nothing was taken"


@pytest.mark.parametrize(("index", "epoch"), [(7, 0), (-1, 0), (0, -1)])
def test_sample_numbers_out_of_range_raise(images: Path, index: int, epoch: int) -> None:
    with pytest.raises(ArgumentValueError, match="index"):
        everything(images).run_sample(index, epoch)


def test_numbers_of_samples(images: Path) -> None:
    pipeline = everything(images)
    assert pipeline.run_sample(np.int64(2)).index == 2  # type: ignore[arg-type]
    for wrong in (1.0, True, "1", None):
        with pytest.raises(ArgumentTypeError, match="index must be an int"):
            pipeline.run_sample(wrong)  # type: ignore[arg-type]


def test_missing_devices_raise(images: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        encoded, _ = fn.readers.file(file_root=str(images))
        return fn.flip(fn.decoders.image(encoded).gpu())

    with pytest.raises((GraphError, CudaUnavailableError), match="device"):
        define().run_sample(0)


def test_closed_pipelines(images: Path) -> None:
    pipeline = everything(images)
    pipeline.build()
    pipeline.close()
    with pytest.raises(RuntimeError, match="must be open"):
        pipeline.run_sample(0)


def test_parameters_have_the_values_of_the_batch() -> None:
    @pipeline_def(batch_size=3, num_threads=1, device_id=None)
    def define():
        number = fn.readers.python(range(9), name="numbers")
        return number * parameter("factor", 2)

    pipeline = define()
    pipeline.build()
    pipeline.set_parameter("factor", 5, from_batch=2)
    expected = samples_of(pipeline, 4)
    for index in (0, 5, 6, 8):
        sample = pipeline.run_sample(index)
        assert_same(sample, expected[index])
        (factor,) = sample["factor"].values
        assert factor.array == (2 if index < 6 else 5)


@pytest.mark.parametrize(
    "sampler",
    [[3, 3, 0, 1], samplers.Weighted([1, 2, 3, 4, 5, 6]), samplers.Repeated(2)],
    ids=["listed", "weighted", "repeated"],
)
def test_samplers(sampler: Any) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def define():
        number = fn.readers.python(range(6), sampler=sampler, random_shuffle=True, seed=7, name="n")
        return number, fn.random.uniform(range=[0, 1])

    pipeline = define()
    length = pipeline.epoch_size("n")
    expected = samples_of(pipeline, length)
    for epoch in (0, 1):
        for index in (0, length // 2, length - 1):
            assert_same(pipeline.run_sample(index, epoch), expected[epoch * length + index])


def test_mixtures() -> None:
    def read(start: int, **options: Any) -> Any:
        return fn.readers.python(range(start, start + 5), **options)

    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def define():
        number = mix_readers(
            [lambda **options: read(0, **options), lambda **options: read(100, **options)],
            weights=[1, 2],
            length=12,
        )
        return number, fn.random.uniform(range=[0, 1])

    pipeline = define()
    expected = samples_of(pipeline, 6)
    for epoch in (0, 1):
        for index in range(12):
            assert_same(pipeline.run_sample(index, epoch), expected[12 * epoch + index])
