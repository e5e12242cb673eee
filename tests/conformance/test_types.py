"""Enumerations and conversions are those of NVIDIA DALI.

Where this library differs on purpose:

* A number that is not the value of a member is rejected. Members of two enumerations are never
equal, whatever
  their numbers.
* `to_dali_type` supports `int`, big-endian types of NumPy, and its other names for C types.
* `to_numpy_type` of a type without numbers is a `TypeError`; the reference raises a `KeyError`.
* `SampleInfo` and `BatchInfo` have a `repr` with their values.
* A `TensorLayout` is a string, and has at most eight letters; the reference truncates after
  fifteen.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest

import dali_core.types as ours

theirs = pytest.importorskip("nvidia.dali.types", reason="not available: NVIDIA DALI")
torch = pytest.importorskip("torch", reason="not available: PyTorch")

ENUMERATIONS = ("DALIDataType", "DALIInterpType", "DALIImageType", "PipelineAPIType")
NUMBERS = ["BOOL", "FLOAT", "FLOAT16", "FLOAT64"] + [
    f"{sign}INT{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64)
]


def members(types: Any, enumeration: str) -> list[tuple[str, int, str, str, str]]:
    """Describe every public member; the data types of lists are not public."""
    found = getattr(types, enumeration).__members__
    return [
        (name, member.value, repr(member), str(member), f"{member}")
        for name, member in found.items()
        if not name.startswith("_")
    ]


@pytest.mark.parametrize("enumeration", ENUMERATIONS)
def test_members(enumeration: str) -> None:
    assert members(ours, enumeration) == members(theirs, enumeration)
    for name, value, *_ in members(ours, enumeration):
        for types in (ours, theirs):
            member = getattr(getattr(types, enumeration), name)
            assert member.name == name
            assert getattr(types, enumeration)(value) == member
            assert pickle.loads(pickle.dumps(member)) == copy.deepcopy(member) == member


@pytest.mark.parametrize("enumeration", ENUMERATIONS[:3])
def test_members_are_numbers(enumeration: str) -> None:
    for name, value, *_ in members(ours, enumeration):
        for types in (ours, theirs):
            member = getattr(types, name)
            assert member == value
            assert value == member
            assert member != value + 1
            assert (int(member), hash(member), bool(member)) == (value, hash(value), True)
            assert {value: "found"}[member] == {member: "found"}[value] == "found"
            assert range(-1, 30)[member] == range(-1, 30)[value]
            assert not isinstance(member, int)
            with pytest.raises(TypeError):
                member < types.UINT8  # noqa: B015


def test_constants() -> None:
    names = ("NCHW", "NHWC", "NFCHW", "NFHWC", "SAME", "CPU_ONLY_DEVICE_ID")
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]


@pytest.mark.parametrize("name", NUMBERS)
def test_types_of_numpy(name: str) -> None:
    expected = theirs.to_numpy_type(getattr(theirs, name))
    assert ours.to_numpy_type(getattr(ours, name)) is expected
    assert ours.to_numpy_type(int(getattr(ours, name))) is expected  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", ["STRING", "NO_TYPE", "PYTHON_OBJECT", "FEATURE", "IMAGE_TYPE"])
def test_types_without_numbers(wrong: str) -> None:
    for types in (ours, theirs):
        with pytest.raises((TypeError, KeyError)):
            types.to_numpy_type(getattr(types, wrong))


NAMES = ["bool", "bool_", "half", "float", "double", "long", "torch.float32"]
SPELLINGS = [
    *(name.lower() for name in NUMBERS if name != "FLOAT"),
    *NAMES,
    *(theirs.to_numpy_type(getattr(theirs, name)) for name in NUMBERS),
    *(np.dtype(theirs.to_numpy_type(getattr(theirs, name))) for name in NUMBERS),
    *(np.intc, np.uint, np.int_, np.intp, np.byte, np.single, float, bool),
    *(getattr(torch, name) for name in ("float", "half", "double", "long", "int", "short", "bool")),
    *(getattr(torch, f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)),
]


@pytest.mark.parametrize("spelling", SPELLINGS, ids=repr)
def test_types_of_frameworks(spelling: Any) -> None:
    assert ours.to_dali_type(spelling).name == theirs.to_dali_type(spelling).name


WRONG = [
    *("", "f4", "<f4", "FLOAT", "UINT8", "complex64", "object", 0, None, object, str, np.str_),
    *(np.complex64, np.longdouble, torch.bfloat16, torch.complex64, np.array([1.0]), np.float32(3)),
]


@pytest.mark.parametrize("spelling", WRONG, ids=repr)
def test_other_types_raise(spelling: Any) -> None:
    for types in (ours, theirs):
        with pytest.raises(TypeError):
            types.to_dali_type(spelling)


def test_types_of_jax() -> None:
    jnp = pytest.importorskip("jax.numpy", reason="not available: JAX")
    for name in ("float32", "float16", "int8", "uint64", "bool_"):
        for spelling in (getattr(jnp, name), jnp.dtype(name.rstrip("_"))):
            assert ours.to_dali_type(spelling).name == theirs.to_dali_type(spelling).name
    with pytest.raises(TypeError):
        ours.to_dali_type(jnp.bfloat16)


def test_infos() -> None:
    for types in (ours, theirs):
        sample = types.SampleInfo(1, 2, 3, 4)
        named = types.SampleInfo(idx_in_epoch=1, idx_in_batch=2, iteration=3, epoch_idx=4)
        batch = types.BatchInfo(iteration=3, epoch_idx=4)
        expected = {"idx_in_epoch": 1, "idx_in_batch": 2, "iteration": 3, "epoch_idx": 4}
        assert vars(sample) == vars(named) == expected
        assert vars(batch) == {"iteration": 3, "epoch_idx": 4}
        assert sample != named
        for info in (sample, batch):
            assert vars(pickle.loads(pickle.dumps(info))) == vars(copy.copy(info)) == vars(info)
            info.epoch_idx = 9
            info.note = "any attribute"
        assert (sample.epoch_idx, batch.epoch_idx) == (9, 9)
        with pytest.raises(TypeError):
            types.SampleInfo(1, 2, 3)


def test_layouts() -> None:
    for types in (ours, theirs):
        layout = types.TensorLayout("HWC")
        assert (str(layout), len(layout)) == ("HWC", 3)
        assert layout == "HWC"
        assert layout == "HWC"
        assert layout == types.TensorLayout("HWC")
        assert layout != "CHW"
        assert repr(layout).endswith("TensorLayout('HWC')")
        assert (str(types.TensorLayout("")), len(types.TensorLayout(""))) == ("", 0)
        for wrong in (3, None):
            with pytest.raises(TypeError):
                types.TensorLayout(wrong)
