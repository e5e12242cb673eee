"""Readers of the imperative API: epochs, steps, states, random numbers of their samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dali_core.dynamic as dd
from dali_core import Pipeline, fn, pipeline_def
from dali_core.dynamic._steps import Step
from dali_core.errors import SampleError, StateMismatchError
from tests.generated_images import jpeg, photo_like


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("samples")
    (root / "a").mkdir()
    for number in range(10):
        (root / "a" / f"{number}.jpg").write_bytes(bytes([number] * 4))
    return root


def reader(folder: Path, **arguments: Any) -> Any:
    return dd.readers.File(file_root=str(folder), **arguments)


def names(batch: Any) -> str:
    tensors = [batch] if isinstance(batch, dd.Tensor) else batch
    return "".join(str(t[0].item()) for t in tensors)


def epoch(source: Any, size: int | None = 4, count: int | None = None) -> list[str]:
    found = []
    for data, _ in source.next_epoch(size):
        found.append(names(data))
        if len(found) == count:
            break
    return found


def test_epochs_run_on_without_padding(folder: Path) -> None:
    source = reader(folder)
    assert [epoch(source), epoch(source)] == [["0123", "4567", "8901"], ["2345", "6789", "0123"]]


def test_epochs_with_padding_are_alike(folder: Path) -> None:
    source = reader(folder, pad_last_batch=True)
    assert [epoch(source), epoch(source)] == [["0123", "4567", "8999"]] * 2


def test_single_samples_are_exactly_the_shard(folder: Path) -> None:
    assert epoch(reader(folder), None) == list("0123456789")
    assert epoch(reader(folder, num_shards=3, shard_id=1), None) == list("345")


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_epoch_after_a_break_is_that_after_a_whole_one(folder: Path, pad: bool, count: int) -> None:
    left, whole = reader(folder, pad_last_batch=pad), reader(folder, pad_last_batch=pad)
    epoch(left, 4, count)
    epoch(whole)
    assert epoch(left) == epoch(whole)
    assert epoch(left, 3) == epoch(whole, 3)


def test_two_loops_at_once_are_refused(folder: Path) -> None:
    source = reader(folder)
    first, second = source.next_epoch(4), source.next_epoch(4)
    next(second)
    with pytest.raises(RuntimeError, match="latest epoch"):
        next(first)


def test_steps_by_themselves(folder: Path) -> None:
    source = reader(folder)
    data, label = source()
    assert (names(data), label.shape) == ("0", (1,))
    assert [names(source(4)[0]) for _ in range(3)] == ["1234", "5678", "9012"]
    assert source.get_metadata()["epoch_size"] == 10


def test_arguments_are_checked_when_the_reader_is_made(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"test_readers\.py:\d+.*file_rot.*file_root"):
        dd.readers.File(file_rot="x")
    missing = dd.readers.File(file_root=str(tmp_path / "missing"))
    with pytest.raises(RuntimeError, match="missing"):
        next(missing.next_epoch(2))
    source = dd.readers.File(max_batch_size=2, file_root=str(tmp_path))
    for size in (3, 0, -1):
        with pytest.raises(ValueError, match="batch_size"):
            source.next_epoch(size)


@pytest.mark.parametrize("position", range(5))
@pytest.mark.parametrize("size", [4, 3, None])
def test_state_leaves_exactly_the_rest(folder: Path, position: int, size: int | None) -> None:
    arguments: dict[str, Any] = {"random_shuffle": True, "seed": 5, "pad_last_batch": True}
    source = reader(folder, **arguments)
    given_names = "".join(epoch(source, 2, position) if position else [])
    if not position:
        with pytest.raises(RuntimeError, match="first step"):
            source.get_state()
        return
    resumed = reader(folder, **arguments)
    resumed.set_state(source.get_state())
    if position == 5:
        given_names = ""
    rest = "".join(epoch(resumed, size))
    assert sorted((given_names + rest)[:10]) == list("0123456789")
    assert set((given_names + rest)[10:]) <= {rest[-1:]}
    whole = reader(folder, **arguments)
    epoch(whole, 2)
    if position == 5:
        assert rest[:10] == "".join(epoch(whole, 2))
    else:
        assert "".join(epoch(resumed, 2)) == "".join(epoch(whole, 2))


@pytest.mark.parametrize(
    "state", ["", "{}", "[1]", "null", b"\xff", '{"kind": "dali_core.dynamic reader", "left": -1}']
)
def test_states_of_other_things_are_refused(folder: Path, state: Any) -> None:
    with pytest.raises(StateMismatchError, match="get_state"):
        reader(folder).set_state(state)


def test_states_are_set_before_the_first_step(folder: Path) -> None:
    source = reader(folder)
    epoch(source, 2, 1)
    with pytest.raises(RuntimeError, match="before the first step"):
        source.set_state(source.get_state())
    with pytest.raises(TypeError, match="text"):
        source.set_state(None)
    other = dd.readers.Numpy(file_root=str(folder))
    with pytest.raises(StateMismatchError, match="Numpy"):
        other.set_state(source.get_state())


def turned(data: Any, rng: Any = None) -> Any:
    values = dd.cast(dd.reshape(data, shape=[2, 2, 1]), dtype=dd.float32)
    angles = dd.random.uniform(data, range=[0.0, 1.0], rng=rng).slice[:1]
    noisy = dd.noise.gaussian(values, stddev=2.0, rng=rng)
    return dd.flip(noisy, horizontal=dd.random.coin_flip(data, rng=rng).slice[0]) + angles


def by_sample(
    folder: Path, size: int | None, num_threads: int = 2, **arguments: Any
) -> dict[str, bytes]:
    dd.random.set_seed(11)
    source = reader(folder, **arguments)
    found: dict[str, bytes] = {}
    with dd.EvalContext(num_threads=num_threads):
        for data, _ in source.next_epoch(size):
            result = turned(data)
            tensors = [(data, result)] if size is None else zip(data, result, strict=True)
            for sample, tensor in tensors:
                found.setdefault(names(sample), np.asarray(tensor).tobytes())
    return found


@given(st.sampled_from([1, 2, 3, 4, 7, 10, None]), st.sampled_from([1, 3]), st.booleans())
def test_random_numbers_depend_on_the_sample_only(
    folder: Path, size: int | None, num_threads: int, shuffled: bool
) -> None:
    arguments = {"random_shuffle": shuffled, "seed": 3, "pad_last_batch": True}
    expected = by_sample(folder, 5, **arguments)
    assert len(set(expected.values())) == 10
    assert by_sample(folder, size, num_threads, **arguments) == expected


def test_random_numbers_are_those_of_the_pipeline(folder: Path) -> None:
    @pipeline_def(batch_size=5, num_threads=1, seed=11)
    def pipeline() -> Any:
        data, _ = fn.readers.file(file_root=str(folder), random_shuffle=True, seed=3, name="reader")
        values = fn.cast(fn.reshape(data, shape=[2, 2, 1]), dtype=dd.float32.type_id)
        angles = fn.random.uniform(data, range=[0.0, 1.0])[:1]
        noisy = fn.noise.gaussian(values, stddev=2.0)
        return data, fn.flip(noisy, horizontal=fn.random.coin_flip(data)[0]) + angles

    pipe = pipeline()
    expected = {}
    for _ in range(2):
        data, results = pipe.run()
        for sample, result in zip(data, results, strict=True):
            expected[names(dd.as_tensor(np.array(sample)))] = np.array(result).tobytes()
    assert by_sample(folder, 4, random_shuffle=True, seed=3, pad_last_batch=True) == expected


def test_calls_of_a_step_draw_different_numbers(folder: Path) -> None:
    dd.random.set_seed(1)
    for data, _ in reader(folder).next_epoch(10):
        one, other = (dd.random.uniform(data) for _ in range(2))
        part = dd.random.uniform(data.select([0, 1]))
        again = dd.random.uniform(data)
        values = [value.tensors[0][0].item() for value in (one, other, part, again)]
        assert len(set(values)) == 4


def test_branches_and_recomputation_give_the_same_numbers(folder: Path) -> None:
    dd.random.set_seed(1)
    (data, _) = next(reader(folder).next_epoch(10))
    noise = dd.random.uniform(data)
    doubled = noise * 2
    np.testing.assert_array_equal(
        np.asarray(dd.as_tensor(doubled)), np.asarray(dd.as_tensor(noise)) * 2
    )


def test_samples_of_other_formats(tmp_path: Path) -> None:
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.full((2, number + 1), number))
    source = dd.readers.Numpy(file_root=str(tmp_path), files=["0.npy", "2.npy"])
    ((batch,),) = source.next_epoch(2)
    assert batch.shape == [(2, 1), (2, 3)]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Note for each computation of a step whether it was computed ahead."""
    found: list[bool] = []
    take = Step.take

    def noting(self: Step, structure: Any, leaves: Any) -> Any:
        batch = take(self, structure, leaves)
        found.append(batch is not None)
        return batch

    monkeypatch.setattr(Step, "take", noting)
    return found


def test_steps_of_a_regular_loop_are_computed_ahead(folder: Path, taken: list[bool]) -> None:
    source = reader(folder)
    for _ in range(2):
        for data, label in source.next_epoch(2):
            (dd.cast(data, dtype=dd.float32) * 2).evaluate()
            (label + 1).evaluate()
    assert taken == [False] * 4 + [True] * 16


@given(st.lists(st.sampled_from("abc"), min_size=5, max_size=5), st.integers(1, 5))
def test_irregular_loops_are_right(folder: Path, bodies: list[str], count: int) -> None:
    dd.random.set_seed(4)
    source = reader(folder)
    for number, (data, _) in enumerate(source.next_epoch(2)):
        value = dd.cast(data, dtype=dd.int32)
        expected = np.array([[2 * number] * 4, [2 * number + 1] * 4])
        match bodies[number]:
            case "a":
                value, expected = value + 1, expected + 1
            case "b":
                value, expected = value * dd.as_tensor([number]), expected * number
            case _:
                value = value + dd.random.uniform(data)
        array = np.asarray(dd.as_tensor(value))
        if bodies[number] == "c":
            assert (abs(array - expected) <= 1).all()
        else:
            np.testing.assert_array_equal(array, expected)
        if number + 1 == count:
            break
    assert epoch(source, 2)[0] == "01"
    state = reader(folder)
    state.set_state(source.get_state())
    assert epoch(state, 2) == epoch(source, 2)


@pytest.mark.parametrize("count", [3, 4])
def test_state_of_a_loop_that_is_computed_ahead(folder: Path, count: int) -> None:
    source = reader(folder)
    for number, (data, _) in enumerate(source.next_epoch(2), 1):
        (data + 1).evaluate()
        if number == count:
            state = source.get_state()
            break
    resumed = reader(folder)
    resumed.set_state(state)
    assert "".join(epoch(resumed, 2)) == "0123456789"[2 * count :]
    data, _ = source(2)
    assert names(data) == "0123456789"[2 * count : 2 * count + 2]


def test_bad_samples_of_later_steps_do_not_disturb_a_step(tmp_path: Path) -> None:
    for number in range(8):
        content = jpeg(photo_like(8, 8)) if number != 5 else b"no image"
        (tmp_path / f"{number}.jpg").write_bytes(content)
    source = dd.readers.File(files=[str(tmp_path / f"{n}.jpg") for n in range(8)])
    found = []
    for data, _ in source.next_epoch(1):
        try:
            found.append(dd.decoders.image(data).shape[0])
        except SampleError as error:
            found.append(str(error.source).rpartition("/")[2])
    assert found == [(8, 8, 3)] * 5 + ["5.jpg"] + [(8, 8, 3)] * 2


def parquet_rows(folder: Path) -> tuple[type[Any], dict[str, Any]]:
    """A reader that fetches samples in Python."""
    pa = pytest.importorskip("pyarrow", reason="not available: pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="not available: pyarrow")
    path = folder / "rows.parquet"
    parquet.write_table(pa.table({"number": list(range(10))}), path, row_group_size=3)
    return dd.readers.Parquet, {"paths": str(path), "columns": ["number"]}


def lines(folder: Path) -> tuple[type[Any], dict[str, Any]]:
    """Another one."""
    (folder / "lines.txt").write_text("\n".join(map(str, range(10))))
    return dd.readers.Text, {"paths": str(folder / "lines.txt")}


@pytest.mark.parametrize("make", [parquet_rows, lines])
def test_readers_in_python_have_epochs_and_states(make: Any, tmp_path: Path) -> None:
    made, arguments = make(tmp_path)
    arguments |= {"random_shuffle": True, "seed": 4}

    def numbers(batch: Any) -> list[int]:
        arrays = [np.asarray(sample) for sample in batch]
        return [int(array.tobytes()) if array.ndim else int(array) for array in arrays]

    def joined(batches: list[list[int]]) -> list[int]:
        return [number for batch in batches for number in batch]

    source = made(**arguments)
    assert source.get_metadata()["epoch_size"] == 10
    epochs = [[numbers(data) for (data,) in source.next_epoch(5)] for _ in range(2)]
    assert [sorted(joined(batches)) for batches in epochs] == [list(range(10))] * 2
    assert epochs[0] != epochs[1]

    pipeline = Pipeline(5, 2, None)
    with pipeline:
        call = fn.readers.parquet if make is parquet_rows else fn.readers.text
        pipeline.set_outputs(call(**arguments))
    assert [numbers(pipeline.run()[0]) for _ in range(4)] == epochs[0] + epochs[1]

    source = made(**arguments)
    first = next(source.next_epoch(3))
    resumed = made(**arguments)
    resumed.set_state(source.get_state())
    rest = [number for (data,) in resumed.next_epoch(7) for number in numbers(data)]
    assert numbers(first[0]) + rest == joined(epochs[0])
