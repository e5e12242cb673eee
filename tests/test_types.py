"""Enumerations and conversions of element types."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy
import pytest

from dali_core import types
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.tensors import TensorCPU

NUMPY_TYPES = {
    types.UINT8: numpy.uint8,
    types.UINT16: numpy.uint16,
    types.UINT32: numpy.uint32,
    types.UINT64: numpy.uint64,
    types.INT8: numpy.int8,
    types.INT16: numpy.int16,
    types.INT32: numpy.int32,
    types.INT64: numpy.int64,
    types.FLOAT16: numpy.float16,
    types.FLOAT: numpy.float32,
    types.FLOAT64: numpy.float64,
    types.BOOL: numpy.bool_,
}
ENUMERATIONS = (types.DALIDataType, types.DALIInterpType, types.DALIImageType)


@pytest.mark.parametrize(("data_type", "numpy_type"), NUMPY_TYPES.items())
def test_types_of_numbers_convert_both_ways(
    data_type: types.DALIDataType, numpy_type: type[numpy.generic]
) -> None:
    assert types.to_numpy_type(data_type) is numpy_type
    assert types.to_dali_type(numpy_type) is data_type
    assert types.to_dali_type(numpy.dtype(numpy_type)) is data_type


@pytest.mark.parametrize("data_type", sorted(set(types.DALIDataType) - set(NUMPY_TYPES), key=int))
def test_other_types_have_no_numpy_type(data_type: types.DALIDataType) -> None:
    with pytest.raises(TypeError, match=rf"dali_type must be a type of numbers \(got {data_type}"):
        types.to_numpy_type(data_type)


def test_python_types_convert() -> None:
    # As in the reference, numbers of Python have 32 bits.
    assert types.to_dali_type(float) is types.FLOAT
    assert types.to_dali_type(int) is types.INT32
    assert types.to_dali_type(bool) is types.BOOL


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("half", types.FLOAT16),
        ("double", types.FLOAT64),
        ("long", types.INT64),
        ("bool_", types.BOOL),
        (numpy.longlong, types.INT64),
        (numpy.dtype(">f4"), types.FLOAT),
    ],
    ids=str,
)
def test_other_names(spelling: object, expected: types.DALIDataType) -> None:
    assert types.to_dali_type(spelling) is expected


class _FrameworkType:
    """Like a dtype of PyTorch: neither named nor a class."""

    def __repr__(self) -> str:
        return "framework.float16"


def test_types_of_frameworks_convert_by_their_text() -> None:
    assert types.to_dali_type(_FrameworkType()) is types.FLOAT16


@pytest.mark.parametrize("wrong", [str, "float33", numpy.dtype("S3"), numpy.complex64, object])
def test_other_types_raise(wrong: object) -> None:
    with pytest.raises(TypeError, match="framework_type must be a type of numbers"):
        types.to_dali_type(wrong)


@pytest.mark.parametrize("member", [member for kind in ENUMERATIONS for member in kind], ids=str)
def test_members_are_names_and_numbers(member: types.DALIDataType) -> None:
    kind = type(member)
    assert kind(int(member)) is member
    assert str(member) == f"{kind.__name__}.{member.name}"
    assert repr(member) == f"<{kind.__name__}.{member.name}: {int(member)}>"
    assert member == int(member)
    assert {int(member): "found"}[member] == "found"
    assert getattr(types, member.name) is member
    assert pickle.loads(pickle.dumps(member)) is member
    assert copy.deepcopy(member) is member


def test_members_of_different_enumerations_differ() -> None:
    assert types.UINT8 != types.INTERP_NN
    assert types.UINT8 != "UINT8"
    assert "abc"[types.INTERP_LINEAR] == "b"


def test_numbers_are_those_of_the_reference() -> None:
    numbers = {"UINT8": 0, "INT32": 6, "INT64": 7, "FLOAT16": 8, "FLOAT": 9, "BOOL": 11}
    assert {name: int(getattr(types, name)) for name in numbers} == numbers
    assert [int(kind) for kind in types.DALIImageType] == [0, 1, 2, 3, 4]


def test_layout_constants() -> None:
    assert (types.NCHW, types.NHWC, types.NFCHW, types.NFHWC) == ("CHW", "HWC", "FCHW", "FHWC")
    assert types.SAME == ""


def test_layouts_are_strings() -> None:
    layout = types.TensorLayout("HWC")
    assert isinstance(layout, str)
    assert (layout, str(layout), repr(layout)) == ("HWC", "HWC", "TensorLayout('HWC')")
    assert (len(layout), layout[1], layout.find("C"), types.TensorLayout(layout)) == (
        3,
        "W",
        2,
        layout,
    )
    assert TensorCPU(numpy.zeros((1, 2, 3)), layout).layout() == "HWC"
    assert pickle.loads(pickle.dumps(layout)) == layout


@pytest.mark.parametrize("wrong", ["HWCHWCHWC", "HÄC", "H\0"])
def test_layouts_of_wrong_letters(wrong: str) -> None:
    with pytest.raises(ArgumentValueError, match="must have at most 8 ASCII characters"):
        types.TensorLayout(wrong)


@pytest.mark.parametrize("wrong", [3, None, b"HWC"])
def test_layouts_of_other_things(wrong: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="layout must be a string"):
        types.TensorLayout(wrong)


def test_repr_of_sample_and_batch_info() -> None:
    sample = types.SampleInfo(5, 1, 2, 3)
    assert (sample.idx_in_epoch, sample.idx_in_batch, sample.iteration, sample.epoch_idx) == (
        *(5, 1),
        *(2, 3),
    )
    assert repr(sample) == ("SampleInfo(idx_in_epoch=5, idx_in_batch=1, iteration=2, epoch_idx=3)")
    batch = types.BatchInfo(4, 9)
    assert (batch.iteration, batch.epoch_idx) == (4, 9)
    assert repr(batch) == "BatchInfo(iteration=4, epoch_idx=9)"
