"""Tensors and batches as values: indexing, arithmetic, conversion, printing."""

from __future__ import annotations

import copy
import operator
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dali_core.dynamic as dd

_ENTRIES = st.one_of(
    st.integers(-5, 5),
    st.builds(slice, *[st.none() | st.integers(-6, 6)] * 2, st.sampled_from([None, 1, 2, -1, -2])),
    st.just(Ellipsis),
)


@given(st.lists(_ENTRIES, max_size=4), st.lists(st.integers(0, 4), max_size=3))
def test_indices_are_those_of_numpy(entries: list[Any], shape: list[int]) -> None:
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    if entries.count(Ellipsis) > 1:
        entries = [entry for entry in entries if entry is not Ellipsis]
    index = tuple(entries)
    tensor = dd.as_tensor(array)
    try:
        expected = array[index]
    except IndexError:
        with pytest.raises((IndexError, ValueError), match="test_values"):
            tensor[index]
        return
    np.testing.assert_array_equal(np.asarray(tensor[index]), expected)


def test_layouts_of_elements() -> None:
    image = dd.as_tensor(np.zeros((4, 5, 3)), layout="HWC")
    assert [image[0].layout, image[:, 1].layout, image[..., 0].layout] == ["WC", "HC", "HW"]
    assert image[0, 0, 0].layout is None


@pytest.mark.parametrize(
    ("index", "kind"),
    [
        (7, IndexError),
        ((0, 0, 0), ValueError),
        (slice(0, 1, 0), ValueError),
        (None, TypeError),
        (1.5, TypeError),
        ([0, 1], TypeError),
        ("a", TypeError),
    ],
)
def test_impossible_indices_are_refused_at_once(index: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"test_values\.py:\d+"):
        dd.as_tensor(np.zeros((2, 3)))[index]


def test_tensors_as_indices() -> None:
    tensor = dd.as_tensor([10, 20, 30])
    assert tensor[dd.as_tensor(1)].item() == 20
    assert tensor[np.int64(-1)].item() == 30
    assert [element.item() for element in tensor] == [10, 20, 30]
    assert (len(tensor), list(range(5))[dd.as_tensor(2)]) == (3, 2)


def test_truth_and_numbers() -> None:
    assert not dd.as_tensor(0)
    assert dd.as_tensor([3]) > 2
    assert (int(dd.as_tensor(2.5)), float(dd.as_tensor(2))) == (2, 2.0)
    with pytest.raises(ValueError, match="truth"):
        bool(dd.as_tensor([1, 2]))
    with pytest.raises(TypeError, match="truth"):
        bool(dd.as_batch([1]))
    with pytest.raises(ValueError, match="one element"):
        dd.as_tensor([1, 2]).item()


def test_values_are_no_keys_nor_pickled() -> None:
    for value in (dd.as_tensor([1]), dd.as_batch([1])):
        with pytest.raises(TypeError):
            hash(value)
        for function in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="pickled"):
                function(value)
        value.remark = "kept"
        assert copy.copy(value).remark == "kept"


def test_batches_are_not_taken_for_arrays() -> None:
    batch = dd.as_batch([[1], [2]])
    with pytest.raises(TypeError, match="no array"):
        np.array(batch)
    with pytest.raises(TypeError, match="select"):
        batch[0]
    with pytest.raises(TypeError, match="batch_size"):
        len(batch)


def test_selection_of_samples() -> None:
    batch = dd.as_batch([[0], [1, 1], [2]])
    assert np.asarray(batch.select(-1)).tolist() == [2]
    for which, expected in ((slice(None, None, -1), [2, 1, 0]), ([2, 0], [2, 0]), ([], [])):
        found = batch.select(which)
        assert [t[0].item() for t in found] == expected
        assert [t[0].item() for t in batch.tensors[which].tolist()] == expected
    assert batch.select(...) is batch
    assert batch.tensors[1:][0].shape == (2,)
    with pytest.raises(IndexError, match="3"):
        batch.select(3)
    for which in ((0, 1), 1.0, dd.as_tensor(0)):
        with pytest.raises(TypeError, match="integer"):
            batch.select(which)


def test_slices_inside_of_samples() -> None:
    arrays = [np.arange(12).reshape(3, 4), np.arange(10).reshape(2, 5)]
    batch = dd.as_batch(arrays)
    np.testing.assert_array_equal(np.asarray(batch.slice[0, ::2].tensors[1]), arrays[1][0, ::2])
    starts = dd.as_batch([1, 0])
    for number, tensor in enumerate(batch.slice[starts:, 1]):
        np.testing.assert_array_equal(np.asarray(tensor), arrays[number][[1, 0][number] :, 1])
    with pytest.raises(RuntimeError, match="test_values"):
        batch.slice[2].evaluate()


_OPERATORS = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.eq,
    operator.lt,
    operator.ge,
]


@given(
    st.sampled_from(_OPERATORS),
    st.lists(st.integers(-100, 100), min_size=1, max_size=5),
    st.integers(-100, 100),
)
def test_arithmetic_is_that_of_numpy(function: Any, numbers: list[int], other: int) -> None:
    array = np.array(numbers, np.int32)
    expected = function(array, np.int32(other))
    for left, right in ((array, other), (dd.as_tensor(array), other), (array, dd.as_tensor(other))):
        if isinstance(left, np.ndarray) and isinstance(right, int):
            continue
        np.testing.assert_array_equal(np.asarray(function(left, right)), expected)
    batch = function(dd.as_batch([array, array[:1]]), other)
    np.testing.assert_array_equal(np.asarray(batch.tensors[1]), expected[:1])
    assert isinstance(function(array, dd.as_tensor(other)), dd.Tensor)


def test_types_of_results() -> None:
    byte = dd.as_tensor(np.uint8(200))
    cases: list[tuple[Any, str]] = [
        (byte + 100, "i32"),
        (byte + byte, "u8"),
        (byte + np.int8(1), "i16"),
        (byte / 2, "f32"),
        (-7 // dd.as_tensor(2), "i32"),
        (byte + 1.5, "f32"),
        (byte + np.float64(1), "f64"),
        (byte > 3, "bool"),
    ]
    assert [str(value.dtype) for value, _ in cases] == [name for _, name in cases]
    assert (-7 // dd.as_tensor(2)).item() == -3
    for wrong in (None, "a"):
        with pytest.raises(TypeError, match="operands"):
            byte + wrong
    with pytest.raises(OverflowError, match="32 bits"):
        byte + 2**31


def test_functions_of_elements() -> None:
    array = np.array([0.25, 1.0, 4.0], np.float32)
    np.testing.assert_allclose(np.asarray(dd.math.sqrt(array)), np.sqrt(array))
    batch = dd.math.clamp(dd.as_batch([array, array * 10]), 0.5, 2)
    np.testing.assert_allclose(np.asarray(batch.tensors[1]), np.clip(array * 10, 0.5, 2))
    assert dd.math.max(3, dd.as_tensor([1, 5]))[1].item() == 5


def test_batches_of_different_sizes_are_refused_at_once() -> None:
    with pytest.raises(ValueError, match=r"same number of samples.*got 2 and 3"):
        dd.as_batch([1, 2]) + dd.as_batch([1, 2, 3])
    with pytest.raises(ValueError, match="got 3 and 2"):
        dd.random.uniform(dd.as_batch([1, 2]), batch_size=3)


def test_printed_values() -> None:
    text = repr(dd.as_tensor(np.array([1, 2], np.int32), layout="A") + 0)
    assert text.startswith("Tensor(\n    [1 2],\n    dtype=i32,\n")
    text = repr(dd.as_batch([[1], [2, 3]]))
    assert "num_samples=2" in text
    assert "shape=[(1,), (2,)]" in text
    assert "<table" in dd.as_batch([[1], [2, 3]])._repr_html_()


def test_types_of_elements_are_values() -> None:
    assert dd.dtype("u8") == dd.uint8 == dd.dtype(np.uint8)
    assert (dd.float32.bits, dd.float32.exponent_bits, dd.int8.kind.name) == (32, 8, "signed")
    assert len({dd.uint8, dd.dtype("u8"), dd.int8}) == 2
    assert dd.float32([1, 2]).dtype == dd.float32
    assert dd.uint8 != "u8"
    assert pickle.loads(pickle.dumps(dd.uint8)) == dd.uint8


def test_streams_need_a_device() -> None:
    assert dd.stream(None) is None
    assert (dd.get_current_stream(), dd.get_default_stream()) == (None, None)
    dd.set_current_stream(None)
    dd.set_default_stream(None)
    for call in (dd.stream, dd.Stream, lambda: dd.set_current_stream(3)):
        with pytest.raises(RuntimeError, match="host only"):
            call()
    assert dd.capture.invariant([1]) == [1]
