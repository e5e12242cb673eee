"""Joining the sequences of a batch to rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import fn
from dali_core._runtime.step import StepContext
from dali_core._spec import UNSET
from dali_core.batching import Pack
from dali_core.errors import DaliCoreError, GraphError, SampleError
from dali_core.operators.pack import SPEC
from dali_core.operators.pack.step import PackStep
from dali_core.tensors import TensorListCPU
from tests.operators.suite import ALL_TYPES, Example, Input, numbers, pipeline


def of_length(length: int, dtype: str = "int32") -> Input:
    return Input(lambda number: numbers(dtype, (length + number % 3, 2), number))


EXAMPLES = [
    Example("one_row", [of_length(2)], depends_on_batch=True),
    Example(
        "labels",
        [of_length(4), of_length(4, "float32")],
        {"capacity": 24, "pad_to": 4, "fill_values": [7.0, -1.0], "labels": [0]},
        depends_on_batch=True,
    ),
    Example(
        "rows",
        [of_length(3, "uint8"), Input(lambda number: np.float32([number, 2]))],
        {
            "per_segment": [1],
            "row_lengths": [1, 2],
            "overflow": "truncate",
            "capacity": 7,
            "padding_segment": True,
        },
        depends_on_batch=True,
    ),
]

NAMES = ("ids", "positions", "borders", "longest", "mask", "samples")


def packed(
    arrays: Sequence[np.ndarray], *others: Sequence[np.ndarray], **arguments: Any
) -> tuple[list[list[np.ndarray]], dict[str, list[np.ndarray]]]:
    """Return the rows of each input, and what describes them."""
    with pipeline(batch_size=max(len(arrays), 1), num_threads=2) as made:
        with made:
            values = [
                fn.external_source(source=partial(list, given)) for given in (arrays, *others)
            ]
            made.set_outputs(*fn.pack(*values, **arguments))
        outputs = [[np.array(batch.at(i)) for i in range(len(batch))] for batch in made.run()]
    described = dict(zip(NAMES, outputs[-len(NAMES) :], strict=True))
    return outputs[: -len(NAMES)], described


def split(count: int, row_lengths: Sequence[int]) -> list[list[int]]:
    """Return the samples of each row."""
    ends = np.cumsum([0, *row_lengths]).tolist()
    assert ends[-1] == count
    return [list(range(start, end)) for start, end in pairwise(ends)]


@given(
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=7),
    cuts=st.sets(st.integers(1, 6)),
    pad_to=st.integers(1, 4),
    room=st.none() | st.integers(0, 5),
    padding_segment=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_values(
    lengths: list[int], cuts: set[int], pad_to: int, room: int | None, padding_segment: bool
) -> None:
    count = len(lengths)
    row_lengths = np.diff([0, *sorted(cut for cut in cuts if cut < count), count]).tolist()
    tokens = [np.arange(1, length + 1) + 100 * i for i, length in enumerate(lengths)]
    weights = [array.astype(np.float32) / 7 for array in tokens]
    ends = [
        sum(-(-lengths[sample] // pad_to) * pad_to for sample in row)
        for row in split(count, row_lengths)
    ]
    capacity = None if room is None else max(ends) + room or 1
    rows, found = packed(
        tokens,
        weights,
        tokens,
        row_lengths=row_lengths,
        pad_to=pad_to,
        fill_values=[-1, 0.5, 0],
        labels=[2],
        padding_segment=padding_segment,
        **({} if capacity is None else {"capacity": capacity}),
    )
    for row, members in enumerate(split(count, row_lengths)):
        expected: dict[str, list[Any]] = {name: [] for name in NAMES}
        values: list[list[Any]] = [[], [], []]
        for sample in members:
            if lengths[sample] == 0:
                continue
            gap = -lengths[sample] % pad_to
            expected["borders"].append(len(expected["ids"]))
            expected["samples"].append(sample)
            expected["ids"] += [len(expected["samples"])] * lengths[sample] + [0] * gap
            expected["positions"] += [*range(lengths[sample]), *([0] * gap)]
            values[0] += [*tokens[sample], *([-1] * gap)]
            values[1] += [*weights[sample], *([0.5] * gap)]
            values[2] += [-100, *tokens[sample][1:], *([-100] * gap)]
        expected["borders"].append(len(expected["ids"]))
        end = len(expected["ids"])
        rest = 0 if capacity is None else capacity - end
        if padding_segment and rest:
            expected["borders"].append(capacity)
        expected["ids"] += [0] * rest
        expected["positions"] += [0] * rest
        expected["mask"] = [position > 0 for position in expected["positions"]]
        for name in ("ids", "positions", "borders", "mask", "samples"):
            dtype = bool if name == "mask" else np.int32
            wanted = np.array(expected[name], dtype)
            np.testing.assert_array_equal(found[name][row], wanted, err_msg=name, strict=True)
        assert found["longest"][row] == max(np.diff(expected["borders"]), default=0)
        for value, wanted, fill in zip(rows, values, (-1, 0.5, -100), strict=True):
            assert value[row].tolist() == [*wanted, *([fill] * rest)]
    assert [array.dtype for (array, *_) in rows] == [np.int64, np.float32, np.int64]


@given(lengths=st.lists(st.integers(0, 9), min_size=1, max_size=6), pad_to=st.integers(1, 3))
@settings(max_examples=20, deadline=None)
def test_unpack_is_the_inverse(lengths: list[int], pad_to: int) -> None:
    arrays = [numbers("float32", (length, 2), i) for i, length in enumerate(lengths)]
    full = [i for i, length in enumerate(lengths) if length]
    with pipeline(batch_size=len(arrays)) as made:
        with made:
            row, ids, *_ = fn.pack(fn.external_source(source=lambda: list(arrays)), pad_to=pad_to)
            segments = [fn.unpack(row, ids, segment=i + 1) for i in range(len(full))]
            made.set_outputs(fn.unpack(row, ids, segment=len(full) + 1), *segments)
        nothing, *found = (np.array(batch.at(0)) for batch in made.run())
    assert len(nothing) == 0
    for sample, array in zip(full, found, strict=True):
        np.testing.assert_array_equal(array, arrays[sample], strict=True)


def test_bins_of_a_plan() -> None:
    lengths = [3, 6, 5, 2, 8, 1]
    bins = list(Pack(8).plan(np.int32(lengths), shuffle=False))
    arrays = [np.full(lengths[sample], sample) for samples in bins for sample in samples]
    (rows,), found = packed(arrays, row_lengths=[len(samples) for samples in bins], capacity=8)
    expected = [[s for sample in samples for s in [sample] * lengths[sample]] for samples in bins]
    assert [row[ids > 0].tolist() for row, ids in zip(rows, found["ids"], strict=True)] == expected
    assert sorted(map(set, expected), key=sorted) == [{0, 2}, {1, 3}, {4}, {5}]


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_types(dtype: str) -> None:
    arrays = [numbers(dtype, (length, 1, 2), length) for length in (2, 3)]
    (row,) = packed(arrays, capacity=6, fill_values=1)[0][0]
    expected = np.concatenate([*arrays, np.ones((1, 1, 2), dtype)])
    np.testing.assert_array_equal(row, expected, strict=True)


def test_padding_is_rounded_to_the_type() -> None:
    for dtype, fill, expected in (("uint8", -3, 0), ("int8", 300, 127), ("uint16", 2.6, 3)):
        assert packed([np.zeros(1, dtype)], capacity=2, fill_values=fill)[0][0][0][1] == expected


@pytest.mark.parametrize("length", range(5))
def test_one_sample(length: int) -> None:
    ((row,),), found = packed([np.arange(length)])
    assert row.tolist() == list(range(length))
    assert found["borders"][0].tolist() == ([0, length] if length else [0])
    assert found["longest"][0] == length


def test_rows_without_samples() -> None:
    arrays = [np.arange(2), np.arange(3), np.arange(1)]
    (rows,), found = packed(arrays, row_lengths=[0, 3, 0], capacity=7)
    assert [row.tolist() for row in rows] == [[0] * 7, [0, 1, 0, 1, 2, 0, 0], [0] * 7]
    assert [samples.tolist() for samples in found["samples"]] == [[], [0, 1, 2], []]


def test_overflow() -> None:
    arrays = [np.arange(3), np.arange(4), np.arange(1)]
    assert packed(arrays, capacity=5, overflow="truncate")[0][0][0].tolist() == [0, 1, 2, 0, 1]
    found = packed(arrays, capacity=5, overflow="drop")[1]
    assert found["samples"][0].tolist() == [0, 2]
    with pytest.raises(SampleError, match=r"at most 5 elements in all \(got 7 in row 0\)") as error:
        packed(arrays, capacity=5)
    assert error.value.sample == 1


def test_following_operators_run_on_rows() -> None:
    lengths = [2, 3, 1, 4, 2, 5]

    def run(threads: int) -> list[np.ndarray]:
        with pipeline(batch_size=6, num_threads=threads) as made:
            with made:
                data = fn.external_source(source=lambda: [np.ones(length) for length in lengths])
                twice = data * 2
                row, *_ = fn.pack(twice, row_lengths=[2, 1, 3])
                scale = fn.random.uniform(range=(0, 1))
                made.set_outputs(*fn.pad_batch(row * scale, pad_to=4))
            return [np.array(batch.as_array()) for batch in made.run()]

    values, mask, counts = run(1)
    assert values.shape == mask.shape == (3, 12)
    assert counts.tolist() == [5, 1, 11]
    assert len(set(values[:, 0])) == 3
    for mine, other in zip((values, mask, counts), run(4), strict=True):
        np.testing.assert_array_equal(mine, other, strict=True)


def test_random_numbers_of_a_row_are_those_of_its_first_sample() -> None:
    def first_of_rows(row_lengths: list[int]) -> list[float]:
        with pipeline(batch_size=6) as made:
            with made:
                row, *_ = fn.pack(
                    fn.external_source(source=lambda: [np.zeros(1, np.float32)] * 6),
                    row_lengths=row_lengths,
                    capacity=6,
                )
                made.set_outputs(row + fn.random.uniform(range=(0, 1), seed=3))
            return np.array(made.run()[0].as_array())[:, 0].tolist()

    alone = first_of_rows([1] * 6)
    assert len(set(alone)) == 6
    assert first_of_rows([2, 1, 3]) == [alone[0], alone[2], alone[3]]


def test_place_of_a_bad_sample_is_padding() -> None:
    def broken(array: np.ndarray) -> np.ndarray:
        if array[0] == 2:
            raise ValueError("damaged")
        return array

    with pipeline(batch_size=4, on_sample_error="replace") as made:
        with made:
            data = fn.external_source(source=lambda: [np.full(2, i) for i in range(4)])
            checked = fn.python_function(data, function=broken)
            row, *others = fn.pack(checked, row_lengths=[2, 2], capacity=4)
            made.set_outputs(row, others[-1])
        rows, samples = made.run()
        assert [row.tolist() for row in rows.as_array()] == [[0, 0, 1, 1], [3, 3, 0, 0]]
        assert [np.array(samples.at(i)).tolist() for i in range(2)] == [[0, 1], [3]]
        assert [bad.sample for bad in made.bad_samples] == [2]


@pytest.mark.parametrize(
    ("arrays", "arguments", "message"),
    [
        ([np.zeros(())], {}, "must be sequences of one length"),
        ([np.zeros((1, 2)), np.zeros((1, 1))], {}, "elements of sequences must have one"),
        ([np.zeros(1)], {"row_lengths": [2]}, "must have a sum of 1"),
        ([np.zeros(1)], {"row_lengths": [1, 0]}, "at most as many entries"),
        ([np.zeros(1)], {"fill_values": [1, 2]}, "one for each of the 1 inputs"),
        ([np.zeros(1)], {"labels": [1]}, "labels must be numbers of inputs, from 0 to 0"),
        ([np.zeros(1)], {"per_segment": [1]}, "per_segment must be numbers of inputs, from 0 to 0"),
        ([np.zeros(1, np.uint8)], {"labels": [0]}, "number of the type of the labels"),
    ],
)
def test_invalid(arrays: list[np.ndarray], arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(DaliCoreError, match=message):
        packed(arrays, **arguments)


def test_features_of_segments() -> None:
    arrays = [np.arange(length) for length in (2, 0, 3, 1)]
    sizes = [np.int32([i, 10 + i]) for i in range(4)]
    classes = [np.uint8(i) for i in range(4)]
    rows, found = packed(arrays, sizes, classes, row_lengths=[3, 1], capacity=6, per_segment=[1, 2])
    assert [row.tolist() for row in rows[1]] == [[[0, 10], [2, 12]], [[3, 13]]]
    assert [row.tolist() for row in rows[2]] == [[0, 2], [3]]
    assert (rows[1][0].dtype, rows[2][0].dtype) == (np.int32, np.uint8)
    assert [samples.tolist() for samples in found["samples"]] == [[0, 2], [3]]
    with pytest.raises(SampleError, match="features of segments must have one shape"):
        packed(arrays, arrays, per_segment=[1])
    with pytest.raises(DaliCoreError, match="labels and per_segment must be different"):
        packed(arrays, sizes, per_segment=[1], labels=[1])


def test_inputs_of_other_lengths() -> None:
    with pytest.raises(SampleError, match=r"one length along .* \(got shapes \(2,\), \(3,\)\)"):
        packed([np.zeros(2)], [np.zeros(3)])


@pytest.mark.parametrize("vectors", [[[2], [1, 1]], [1, 1]])
def test_row_lengths_that_differ_from_sample_to_sample(vectors: list[Any]) -> None:
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: [np.zeros(2)] * 2)
            lengths = fn.external_source(source=lambda: [np.int32(vector) for vector in vectors])
            made.set_outputs(*fn.pack(data, row_lengths=lengths))
        with pytest.raises(SampleError, match="the same one for all samples of the batch"):
            made.run()


def test_inputs_are_not_modified() -> None:
    arrays = [np.arange(3), np.arange(2)]
    inputs = TensorListCPU(arrays)
    defaults = {arg.name: arg.default for arg in SPEC.args if arg.default is not UNSET}
    step = PackStep({**defaults, "labels": [0]})
    (row,) = step.run(StepContext(0, 0, 0, 2, lambda: False), [inputs])[0].samples
    assert row.tolist() == [-100, 1, 2, -100, 1]
    assert [np.asarray(inputs.at(i)).tolist() for i in range(2)] == [[0, 1, 2], [0, 1]]


def test_rows_of_the_plan() -> None:
    defaults = {arg.name: arg.default for arg in SPEC.args if arg.default is not UNSET}
    inputs = TensorListCPU([np.arange(length) for length in (1, 2, 3)])
    for planned, expected in (([2, 1], [3, 3]), ([1, 2], [1, 5]), ([4], [6]), ([], [6])):
        context = StepContext(
            0, 0, 0, 3, lambda: False, row_lengths=lambda planned=planned: planned
        )
        rows = PackStep(defaults).run(context, [inputs])[0].samples
        assert [len(row) for row in rows] == expected


def test_samples_and_rows_do_not_meet() -> None:
    def build(define: Any) -> None:
        with pipeline() as made:
            with made:
                data = fn.external_source(source=lambda: [np.zeros(2)] * 3)
                made.set_outputs(*define(data))
            made.build()

    for define, message in (
        (lambda data: [data, fn.pack(data)[0]], "outputs must all be samples, or else rows"),
        (lambda data: [fn.cat(data, fn.pack(data)[0])], "inputs must be samples, or else rows"),
        (lambda data: [fn.pack(data)[0], fn.pack(data * 2)[0]], "must be joined once"),
    ):
        with pytest.raises(GraphError, match=message):
            build(define)


def test_random_numbers_of_samples_and_of_rows() -> None:
    with pipeline() as made:
        with made:
            noise = fn.random.uniform(range=(0, 1))
            data = fn.external_source(source=lambda: [np.zeros(2)] * 3)
            made.set_outputs(fn.pack(data + noise)[0] + noise)
        with pytest.raises(GraphError, match="random numbers must be used with samples, or else"):
            made.build()


def test_single_samples_have_no_rows() -> None:
    with pipeline() as made:
        with made:
            made.set_outputs(*fn.pack(fn.external_source(source=lambda: [np.zeros(2)] * 3)))
        with pytest.raises(GraphError, match="run_sample: samples must not be joined"):
            made.run_sample(0)
