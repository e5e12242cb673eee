"""Bad samples with ``on_sample_error="replace"``: replacements, records and limits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, errors, fn, pipeline_def, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, BadSampleLimitError, SampleError
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy

COUNT = 20
BAD = (3, 4, 11, 19)
"""Files that are missing: two in a row, and the last one."""


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Arguments of a reader of `COUNT` files, whose content is their index."""
    for number in set(range(COUNT)) - set(BAD):
        (tmp_path / f"{number:02}").write_bytes(b"%02d" % number)
    return {"file_root": str(tmp_path), "files": [f"{number:02}" for number in range(COUNT)]}


def reading(files: dict[str, Any], batch_size: int = 4, **arguments: Any) -> Pipeline:
    """Return a pipeline with random numbers, and a reader that gets the other arguments."""
    own = {
        name: arguments.pop(name)
        for name in list(arguments)
        if name not in {"num_threads", "prefetch_queue_depth", "max_bad_samples", "exec_async"}
    }
    arguments = {"num_threads": 2, "seed": 5, "on_sample_error": "replace"} | arguments
    with Pipeline(batch_size, device_id=None, **arguments) as pipeline:
        data, labels = fn.readers.file(**files, name="reader", **own)
        pipeline.set_outputs(data, labels, fn.random.uniform())
    return pipeline


def samples(pipeline: Pipeline, count: int) -> list[tuple[int, str, int, float]]:
    """Return content, source, label and random number of the first samples."""

    def each() -> Iterator[tuple[int, str, int, float]]:
        while True:
            data, labels, draws = pipeline.run()
            for i in range(len(data)):
                content = int(data.at(i).tobytes())
                yield content, data[i].source_info(), int(labels.at(i)[0]), float(draws.at(i))

    found = list(itertools.islice(each(), count))
    pipeline.close()
    return found


def test_next_good_sample_replaces_a_bad_one(files: dict[str, Any]) -> None:
    pipeline = reading(files)
    found = samples(pipeline, 2 * COUNT)
    expected = [{3: 5, 4: 5, 11: 12, 19: 0}.get(number, number) for number in range(COUNT)]
    assert [content for content, *_ in found] == expected * 2
    assert [(source, label) for _, source, label, _ in found] == [
        (f"{number:02}", number) for number in expected * 2
    ]
    # The random numbers are those of the replaced sample.
    with Pipeline(1, 1, None, seed=5) as plain:
        plain.set_outputs(fn.random.uniform())
    draws = [draw for *_, draw in found]
    assert draws[:COUNT] == [float(plain.run()[0].at(0)) for _ in range(COUNT)]
    assert len(set(draws)) == len(draws)


def test_bad_samples_are_recorded_in_order(files: dict[str, Any]) -> None:
    pipeline = reading(files)
    assert pipeline.bad_samples == []
    samples(pipeline, 2 * COUNT)
    bad = pipeline.bad_samples
    assert [sample.source for sample in bad] == [f"{number:02}" for number in BAD] * 2
    assert [sample.epoch for sample in bad] == [0] * 4 + [1] * 4
    assert [4 * sample.iteration + sample.sample for sample in bad] == [
        COUNT * epoch + number for epoch in range(2) for number in BAD
    ]
    assert {sample.operator for sample in bad} == {"readers.file"}
    assert all("No such file" in sample.message for sample in bad)
    assert all(Path(__file__).name in sample.location for sample in bad)
    with pytest.raises(AttributeError):
        bad[0].source = "other"  # type: ignore[misc]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("batch_size", [1, 3, 64])
@pytest.mark.parametrize(("num_threads", "depth"), [(1, 1), (4, 3)])
def test_replacement_is_deterministic(
    shuffle: bool, batch_size: int, num_threads: int, depth: int, files: dict[str, Any]
) -> None:
    def read(**arguments: Any) -> list[Any]:
        return samples(reading(files, random_shuffle=shuffle, **arguments), 3 * COUNT)

    expected = read(batch_size=4, read_ahead=False)
    assert not {content for content, *_ in expected} & set(BAD)
    assert expected == read(
        batch_size=batch_size, num_threads=num_threads, prefetch_queue_depth=depth
    )


@pytest.mark.parametrize("num_shards", [2, 4])
@pytest.mark.parametrize("shuffle", [False, True])
def test_shards_give_equally_many_batches(
    num_shards: int, shuffle: bool, files: dict[str, Any]
) -> None:
    arguments = {"num_shards": num_shards, "pad_last_batch": True, "random_shuffle": shuffle}
    for shard in range(num_shards):
        pipeline = reading(files, 3, shard_id=shard, stick_to_shard=True, **arguments)
        size = COUNT // num_shards
        padded = -(-size // 3) * 3
        found = [content for content, *_ in samples(pipeline, 2 * padded)]
        own = set(range(shard * size, (shard + 1) * size))
        for epoch in (found[:padded], found[padded:]):
            assert set(epoch) == own - set(BAD)
            assert epoch[size:] == epoch[size - 1 : size] * (padded - size)
        # Padding repeats a sample; if that is bad, it is bad once.
        assert len(pipeline.bad_samples) == 2 * len(own & set(BAD))


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("num_shards", [2, 3, 4])
def test_interleaved_shards_replace_within_the_shard(
    num_shards: int, pad: bool, files: dict[str, Any]
) -> None:
    """The replacement is `num_shards` samples further on, or the shard's first."""

    def in_place_of(number: int) -> int:
        while number in BAD:
            number = number + num_shards if number + num_shards < COUNT else number % num_shards
        return number

    arguments = {"num_shards": num_shards, "interleaved_shards": True, "pad_last_batch": pad}
    for shard in range(num_shards):
        own = list(range(shard, COUNT, num_shards))
        size = -(-COUNT // num_shards // 4) * 4
        expected = own + [COUNT - 1] * (size - len(own)) if pad else own
        pipeline = reading(files, 4, shard_id=shard, max_bad_samples=1.0, **arguments)
        found = [content for content, *_ in samples(pipeline, len(expected))]
        assert found == list(map(in_place_of, expected))
        bad = [int(sample.source or -1) for sample in pipeline.bad_samples]
        assert bad[: len(set(expected) & set(BAD))] == sorted(set(expected) & set(BAD))


def test_all_readers_move_together(files: dict[str, Any]) -> None:
    numbers = [f"{number:02}" for number in range(COUNT) if number not in BAD]
    others = {"file_root": files["file_root"], "files": [*numbers, *numbers[:4]]}
    with Pipeline(COUNT, 2, None, on_sample_error="replace") as pipeline:
        first, first_labels = fn.readers.file(**files)
        _, second_labels = fn.readers.file(**others)
        pipeline.set_outputs(first, first_labels, second_labels)
    for _ in range(2):
        _, first_numbers, second_numbers = (output.as_array().ravel() for output in pipeline.run())
        assert first_numbers.tolist() == second_numbers.tolist()


def test_every_position_may_be_bad(tmp_path: Path) -> None:
    names = [f"{number}" for number in range(7)]
    pipeline = reading({"file_root": str(tmp_path), "files": names}, 2, max_bad_samples=1.0)
    with pytest.raises(
        SampleError, match="None of the next 6 samples can take its place"
    ) as caught:
        pipeline.run()
    assert [bad.source for bad in caught.value.failures] == ["0", "1"]
    for name in names:
        (tmp_path / name).write_bytes(name.encode())
    for _ in range(3):  # batches in flight
        try:
            found = pipeline.run()[0]
        except SampleError:
            continue
    assert found.at(0).tobytes().isdigit()
    pipeline.close()


def test_the_search_ends_after_a_hundred(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"1")
    names = [f"{number}" for number in range(101)] + ["good"]
    pipeline = reading({"file_root": str(tmp_path), "files": names}, 1, max_bad_samples=1000)
    with pytest.raises(SampleError, match="None of the next 100 samples"):
        pipeline.run()
    assert pipeline.run()[1].as_array().ravel().tolist() == [101]


# Failures after the reader's program


def labels_of(pipeline: Pipeline, count: int = 1) -> list[list[int]]:
    return [[int(label) for label in pipeline.run()[0].as_array().ravel()] for _ in range(count)]


def fails_on(*bad: int) -> Callable[[np.ndarray], np.ndarray]:
    def function(x: np.ndarray) -> np.ndarray:
        if int(x.ravel()[0]) in bad:
            raise ValueError(f"number {int(x.ravel()[0])}")
        return x * 10

    return function


@pytest.mark.parametrize("exec_async", [True, False])
def test_functions_that_fail(exec_async: bool, files: dict[str, Any]) -> None:
    with Pipeline(5, 2, None, on_sample_error="replace", exec_async=exec_async) as pipeline:
        data, labels = fn.readers.file(**files)
        tens = fn.python_function(labels, function=fails_on(1, 9))
        pipeline.set_outputs(labels, tens, data, fn.cast(tens, dtype=types.FLOAT))
    first, tens, data, floats = pipeline.run()
    assert first.as_array().ravel().tolist() == [0, 2, 2, 5, 5]
    assert tens.as_array().ravel().tolist() == [0, 20, 20, 50, 50]
    assert floats.as_array().ravel().tolist() == [0, 20, 20, 50, 50]
    assert data.at(1).tobytes() == b"02"
    assert data[1].source_info() == "02"
    assert labels_of(pipeline) == [[5, 6, 7, 8, 5]]
    assert [(bad.operator, bad.source) for bad in pipeline.bad_samples] == [
        ("python_function", "01"),
        ("readers.file", "03"),
        ("readers.file", "04"),
        ("python_function", "09"),
    ]
    assert "ValueError: number 1" in pipeline.bad_samples[0].message
    pipeline.close()


def test_functions_that_fail_on_a_whole_batch(files: dict[str, Any]) -> None:
    with Pipeline(3, 2, None, on_sample_error="replace") as pipeline:
        _, labels = fn.readers.file(**files)
        pipeline.set_outputs(fn.python_function(labels, function=fails_on(0, 1, 2)))
    with pytest.raises(
        SampleError, match="number 0.*2 more samples of this batch failed"
    ) as caught:
        pipeline.run()
    assert [bad.sample for bad in caught.value.failures] == [0, 1, 2]
    assert isinstance(caught.value.__cause__, ValueError)
    assert labels_of(pipeline) == [[50, 50, 50]]


def test_batch_functions_that_fail_raise(files: dict[str, Any]) -> None:
    def function(batch: list[np.ndarray]) -> list[np.ndarray]:
        if int(batch[0].ravel()[0]) == 0:
            raise ValueError("whole")
        return batch

    with Pipeline(3, 2, None, on_sample_error="replace") as pipeline:
        _, labels = fn.readers.file(**files)
        pipeline.set_outputs(fn.python_function(labels, function=function, batch_processing=True))
    with pytest.raises(SampleError, match="whole"):
        pipeline.run()
    assert labels_of(pipeline) == [[5, 5, 5]]
    assert [bad.operator for bad in pipeline.bad_samples] == ["readers.file"] * 2


def test_functions_whose_results_do_not_fit(files: dict[str, Any]) -> None:
    results = {5: np.zeros(1, np.float32), 6: object(), 7: np.zeros((2, 2), np.int32)}

    def function(x: np.ndarray) -> Any:
        return results.get(int(x[0]), x)

    with Pipeline(10, 2, None, on_sample_error="replace") as pipeline:
        _, labels = fn.readers.file(**files)
        pipeline.set_outputs(labels, fn.python_function(labels, function=function))
    # Samples 3 and 4 are replaced by 5 before, and so fail like it.
    assert labels_of(pipeline) == [[0, 1, 2, 8, 8, 8, 8, 8, 8, 9]]
    bad = [(bad.operator, bad.sample) for bad in pipeline.bad_samples]
    assert bad == [("readers.file", 3), ("readers.file", 4)] + [
        ("python_function", sample) for sample in (5, 6, 7)
    ]


def test_later_native_operators_that_fail() -> None:
    """After a source, it is replaced by the next good sample of the batch, in all values."""

    def batches(iteration: int) -> list[np.ndarray]:
        return [np.full((4 if i != 2 else 1, 4, 3), i, np.uint8) for i in range(4)]

    with Pipeline(4, 2, None, on_sample_error="replace") as pipeline:
        node = fn.external_source(batches)
        pipeline.set_outputs(node, fn.crop(node, crop=[2, 2]))
    for _ in range(3):
        whole, cropped = pipeline.run()
        assert whole.shape() == [(4, 4, 3)] * 4
        assert cropped.as_array()[:, 0, 0, 0].tolist() == [0, 1, 3, 3]
    assert [(bad.operator, bad.sample) for bad in pipeline.bad_samples] == [("crop", 2)] * 3


# External sources


@pytest.mark.parametrize("exec_async", [True, False])
def test_sources_that_fail_on_samples(exec_async: bool) -> None:
    def source(info: Any) -> tuple[np.ndarray, np.ndarray]:
        number = info.idx_in_epoch
        if number % 5 == 3:
            raise OSError(f"sample {number}")
        return np.int64(number), np.array([number], np.float32)

    with Pipeline(5, 2, None, on_sample_error="replace", exec_async=exec_async) as pipeline:
        numbers, floats = fn.external_source(source, batch=False, num_outputs=2)
        pipeline.set_outputs(numbers, floats, fn.cast(numbers, dtype=types.FLOAT))
    for iteration in range(3):
        numbers, floats, more = (output.as_array().ravel() for output in pipeline.run())
        assert (numbers - 5 * iteration).tolist() == [0, 1, 2, 4, 4]
        assert floats.tolist() == numbers.tolist()
        assert more.tolist() == numbers.tolist()
    assert [bad.message for bad in pipeline.bad_samples] == [
        f"OSError: sample {5 * i + 3}" for i in range(3)
    ]


@pytest.mark.parametrize(
    ("bad", "arguments"),
    [
        (np.zeros(3), {}),  # another type
        (np.zeros((3, 1), np.int32), {}),  # more dimensions
        (np.zeros(3), {"dtype": "int32", "ndim": 1}),
        (np.zeros((3, 1), np.int32), {"dtype": "int32", "ndim": 1}),
        ("text", {}),
        (None, {}),
    ],
)
def test_sources_with_data_of_another_kind(bad: Any, arguments: dict[str, Any]) -> None:
    if "dtype" in arguments:
        arguments = arguments | {"dtype": types.INT32}

    def batches(iteration: int) -> list[Any]:
        good = [np.full(3, i, np.int32) for i in range(4)]
        return [good[0], bad, good[2], bad]

    with Pipeline(4, 2, None, on_sample_error="replace") as pipeline:
        pipeline.set_outputs(fn.external_source(batches, **arguments))
    for _ in range(2):
        assert pipeline.run()[0].as_array()[:, 0].tolist() == [0, 2, 2, 0]
    assert [bad.sample for bad in pipeline.bad_samples] == [1, 3] * 2


# Limits


def test_a_number_of_bad_samples(files: dict[str, Any]) -> None:
    pipeline = reading(files, max_bad_samples=2)
    for _ in range(2):
        pipeline.run()
    with pytest.raises(BadSampleLimitError, match="at most 2 may be bad in an epoch") as caught:
        pipeline.run()
    text = str(caught.value)
    assert "got 3 among the 12 returned" in text
    assert all(f"{number:02}: " in text for number in BAD[:3])
    assert caught.value.source == "11"
    assert [bad.source for bad in caught.value.failures] == ["11"]
    assert int(pipeline.run()[0].at(0).tobytes()) == 12  # no further bad sample
    with pytest.raises(BadSampleLimitError, match="got 4 among the 20"):
        pipeline.run()
    for _ in range(2):
        pipeline.run()  # each epoch is counted separately
    assert len(pipeline.bad_samples) == 6


def test_a_share_of_bad_samples(tmp_path: Path) -> None:
    (tmp_path / "good").write_bytes(b"1")
    names = ["good", "missing"] * 40
    files = {"file_root": str(tmp_path), "files": names}
    for limit, count in ((0.5, 40), (0.49, 5), (0.1, 5), (None, 5)):
        pipeline = reading(files, max_bad_samples=limit)
        for _ in range(min(count, 5)):
            pipeline.run()  # ten bad samples are never too many
        if count == 40:
            samples(pipeline, 60)
            assert len(pipeline.bad_samples) == 40
            continue
        with pytest.raises(BadSampleLimitError, match="of all samples may be bad in an epoch"):
            pipeline.run()


def test_limits_of_several_epochs_in_one_batch(files: dict[str, Any]) -> None:
    pipeline = reading(files, 64, max_bad_samples=4)
    for _ in range(5):
        pipeline.run()
    assert len(pipeline.bad_samples) == 4 * 16


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"on_sample_error": "skip"}, ArgumentValueError, "must be 'raise' or 'replace'"),
        ({"max_bad_samples": 3}, ArgumentValueError, "must be left out with"),
        ({"max_bad_samples": -1}, ArgumentValueError, "an int from 0 on"),
        ({"max_bad_samples": 0.0}, ArgumentValueError, "a float above 0"),
        ({"max_bad_samples": 1.5}, ArgumentValueError, "a float above 0"),
        ({"max_bad_samples": float("nan")}, ArgumentValueError, "a float above 0"),
        ({"max_bad_samples": True}, ArgumentTypeError, "must be an int, a float or None"),
        ({"max_bad_samples": "1%"}, ArgumentTypeError, "must be an int, a float or None"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    if arguments.get("max_bad_samples") != 3:
        arguments = {"on_sample_error": "replace"} | arguments
    with pytest.raises(error, match=message):
        Pipeline(1, 1, None, **arguments)


def test_pipeline_def_takes_the_arguments(files: dict[str, Any]) -> None:
    @pipeline_def(batch_size=5, num_threads=1, on_sample_error="replace", max_bad_samples=0)
    def define() -> Any:
        return tuple(fn.readers.file(**files))

    assert len(define(max_bad_samples=0.5).run()) == 2
    with pytest.raises(BadSampleLimitError, match="at most 0 may be bad"):
        define().run()


def test_raising_lists_bad_samples_as_well(files: dict[str, Any]) -> None:
    with Pipeline(5, 2, None) as pipeline:
        pipeline.set_outputs(*fn.readers.file(**files))
    raised: list[errors.BadSample] = []
    for _ in range(4):
        try:
            pipeline.run()
        except SampleError as error:
            raised += error.failures
    assert pipeline.bad_samples == raised
    assert [bad.source for bad in pipeline.bad_samples] == [f"{number:02}" for number in BAD]


def test_memory_is_released(files: dict[str, Any]) -> None:
    with Pipeline(5, 2, None, on_sample_error="replace") as pipeline:
        data, labels = fn.readers.file(**files)
        tens = fn.python_function(labels, function=fails_on(1, 9))
        pipeline.set_outputs(data, tens)
    for _ in range(50):
        pipeline.run()
    runner = pipeline._run.runner
    assert runner is not None
    pipeline.close()
    assert runner.executor.memory_stats() == {"used_bytes": 0, "idle_bytes": 0}
    assert runner.executor.reading_stats() == (0, 0)


# Iterators


class Arrays:
    """The smallest adapter: batches as NumPy arrays."""

    name = "arrays"
    representations = ("dense",)

    def represent(self, batch: Any, kind: str, num_valid: int) -> Any:
        return batch.as_array()[:num_valid]

    def assemble(self, shards: list[Any]) -> Any:
        return shards


@pytest.mark.filterwarnings("ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning")
@pytest.mark.parametrize("policy", list(LastBatchPolicy))
@pytest.mark.parametrize("num_shards", [1, 2, 4])
@pytest.mark.parametrize("pad", [False, True])
def test_iterators_count_as_without_bad_samples(
    policy: LastBatchPolicy, num_shards: int, pad: bool, files: dict[str, Any], tmp_path: Path
) -> None:
    def lengths(on_sample_error: str, source: dict[str, Any]) -> list[list[list[int]]]:
        pipelines = []
        for shard in range(num_shards):
            with Pipeline(3, 2, None, on_sample_error=on_sample_error) as pipeline:
                _, labels = fn.readers.file(
                    **source,
                    name="reader",
                    num_shards=num_shards,
                    shard_id=shard,
                    pad_last_batch=pad,
                )
                pipeline.set_outputs(labels)
            pipelines.append(pipeline)
        iterator = BaseIterator(
            pipelines,
            ["labels"],
            Arrays(),  # type: ignore[arg-type]
            reader_name="reader",
            last_batch_policy=policy,
        )
        epochs = []
        for _ in range(3):
            batches = [[part["labels"] for part in batch] for batch in iterator]
            assert on_sample_error == "raise" or not set(BAD) & {
                int(label) for batch in batches for part in batch for label in part.ravel()
            }
            epochs.append([[len(part) for part in batch] for batch in batches])
            iterator.reset()
        return epochs

    sound = tmp_path / "sound"
    sound.mkdir()
    for name in files["files"]:
        (sound / name).write_bytes(b"1")
    assert lengths("replace", files) == lengths("raise", files | {"file_root": str(sound)})
