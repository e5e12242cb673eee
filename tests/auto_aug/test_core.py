"""The decorator, magnitude bins and `select`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.auto_aug.core import _Augmentation, augmentation, select, signed_bin
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    SampleError,
)
from tests.auto_aug.augmenting import PHOTO, indices, run


@augmentation(mag_range=(1, 5))
def parameter(data: Any, value: Any, scale: float = 1.0) -> Any:
    return value * scale


@augmentation(mag_range=(1, 5), randomly_negate=True)
def negated(data: Any, value: Any) -> Any:
    return value + 0


@augmentation
def nothing(data: Any, value: Any) -> Any:
    assert value is None
    return data


def values(define: Any, count: int = 1, **options: Any) -> list[Any]:
    return [sample.tolist() for sample in run(define, [PHOTO[:2, :2]] * count, **options)]


# The decorator


def test_attributes() -> None:
    assert isinstance(parameter, _Augmentation)
    assert (parameter.name, parameter.mag_range, parameter.param_device) == (
        "parameter",
        (1, 5),
        "cpu",
    )
    assert (parameter.randomly_negate, negated.randomly_negate) == (False, True)
    assert parameter.mag_to_param(3) == 3
    assert parameter.op.__name__ == "parameter"
    with pytest.raises(AttributeError):
        parameter.mag_range = (0, 1)  # type: ignore[misc]


def test_settings_can_be_changed() -> None:
    changed = negated.augmentation(mag_range=(0, 1), name="other", mag_to_param=lambda m: [m, m])
    assert changed.op is negated.op
    assert (changed.mag_range, changed.name, changed.randomly_negate) == ((0, 1), "other", True)
    assert negated.mag_range == (1, 5)
    restored = changed.augmentation(name=None, mag_to_param=None, randomly_negate=False)
    assert (restored.name, restored.mag_range) == ("negated", (0, 1))
    assert values(lambda x: restored(x, magnitude_bin=1, num_magnitude_bins=2)) == [1.0]
    assert "mag_range=(0, 1)" in repr(restored)
    assert "name" not in repr(restored)


def test_class_of_the_result() -> None:
    class Own(_Augmentation):
        pass

    made = augmentation(lambda data, value: value, augmentation_cls=Own)
    assert type(made) is Own
    assert type(made.augmentation(name="x")) is Own
    assert type(parameter.augmentation(augmentation_cls=Own)) is Own


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (3, "must decorate a function"),
        (lambda data: data, "takes 1"),
        (lambda *data: data, "takes 0"),
        (lambda data, *, value: data, "takes 1"),
        (parameter, r"parameter\.augmentation\(\.\.\.\)"),
    ],
)
def test_functions_that_cannot_be_decorated(function: Any, message: str) -> None:
    with pytest.raises(ArgumentTypeError, match=message):
        augmentation(function, mag_range=(0, 1))


# Magnitudes


def test_bins_per_pipeline_and_per_sample() -> None:
    def define(image: Any) -> Any:
        own = parameter(image, magnitude_bin=indices([0, 1, 4]), num_magnitude_bins=5)
        return own * 100 + parameter(image, magnitude_bin=2, num_magnitude_bins=5)

    assert values(define, 3) == [103, 203, 503]


def test_arguments_that_are_not_taken_are_ignored() -> None:
    result = values(lambda x: parameter(x, magnitude_bin=0, num_magnitude_bins=2, scale=3, other=4))
    assert result == [3]


def test_magnitudes_as_an_array() -> None:
    one = parameter.augmentation(mag_range=np.array([3, 7, 9]))
    assert values(lambda x: one(x, magnitude_bin=1)) == [7]
    with pytest.raises(ArgumentValueError, match=r"'num_magnitude_bins' must be .* 3 \(got 5\)"):
        values(lambda x: one(x, magnitude_bin=1, num_magnitude_bins=5))


def test_signs() -> None:
    def define(image: Any) -> Any:
        signed = signed_bin(1, random_sign=indices([0, 1, 0]))
        own = signed_bin(indices([0, 1, 2]), random_sign=indices([0, 1, 1]))
        unsigned = parameter(image, magnitude_bin=signed, num_magnitude_bins=3)
        found = (negated(image, magnitude_bin=one, num_magnitude_bins=3) for one in (signed, own))
        return fn.stack(*found, unsigned)

    assert values(define, 3) == [[3, 1, 3], [-3, -3, 3], [3, -5, 3]]


def test_signs_are_drawn() -> None:
    def define(image: Any) -> Any:
        with pytest.warns(UserWarning, match="'negated': draws signs"):
            alone = negated(image, magnitude_bin=1, num_magnitude_bins=2)
        signed = signed_bin(1, shape=(2,), seed=7)
        several = [negated(image, magnitude_bin=signed[i], num_magnitude_bins=2) for i in range(2)]
        again = negated(image, magnitude_bin=signed_bin(1, seed=7), num_magnitude_bins=2)
        return fn.stack(alone, *several, again)

    found = np.array(values(define, 64))
    assert set(np.abs(found).ravel()) == {5}
    for column in found.T:
        assert 10 < (column < 0).sum() < 54
    assert (found[:, 1] == found[:, 3]).all()
    assert (found[:, 1] != found[:, 2]).any()


def test_dtypes_of_parameters() -> None:
    def dtype(convert: Any) -> str:
        one = parameter.augmentation(mag_to_param=convert)
        (found,) = run(lambda x: one(x, magnitude_bin=1, num_magnitude_bins=2, scale=1))
        return found.dtype.name

    assert dtype(None) == "float32"
    assert dtype(int) == "int32"
    assert dtype(np.int16) == "int32"  # int16 by an int32
    bytes_ = augmentation(lambda data, value: value, mag_range=(0, 9), mag_to_param=np.uint8)
    (found,) = run(lambda x: bytes_(x, magnitude_bin=1, num_magnitude_bins=2))
    assert found.dtype == np.uint8


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "'num_magnitude_bins' must be given"),
        ({"num_magnitude_bins": 3}, "'magnitude_bin' must be given"),
        ({"magnitude_bin": 1}, "'num_magnitude_bins' must be given"),
        ({"magnitude_bin": 3, "num_magnitude_bins": 3}, r"from 0 to 2 \(got 3\)"),
        ({"magnitude_bin": -1, "num_magnitude_bins": 3}, r"from 0 to 2 \(got -1\)"),
        ({"magnitude_bin": 1.5, "num_magnitude_bins": 3}, r"from 0 to 2 \(got 1.5\)"),
        ({"magnitude_bin": 0, "num_magnitude_bins": -1}, "positive"),
    ],
)
def test_invalid_bins(keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentValueError, match=f"augmentation 'parameter'.*{message}"):
        values(lambda x: parameter(x, **keywords))


@pytest.mark.parametrize("mag_range", [3, (1,), (1, 2, 3), ("a", "b")])
def test_invalid_ranges(mag_range: Any) -> None:
    one = parameter.augmentation(mag_range=mag_range)
    with pytest.raises(ArgumentValueError, match=r"'mag_range' must be two numbers"):
        values(lambda x: one(x, magnitude_bin=0, num_magnitude_bins=2))


@pytest.mark.parametrize("convert", [lambda m: "a", lambda m: np.zeros(int(m)), lambda m: None])
def test_invalid_parameters(convert: Any) -> None:
    one = parameter.augmentation(mag_to_param=convert)
    with pytest.raises(ArgumentValueError, match="'parameter': 'mag_to_param' must return"):
        values(lambda x: one(x, magnitude_bin=indices([0]), num_magnitude_bins=3))


def test_bins_of_samples_beyond_the_range() -> None:
    with pytest.raises(SampleError, match="sample 1"):
        values(lambda x: parameter(x, magnitude_bin=indices([0, 3]), num_magnitude_bins=3), 2)


def test_invalid_signs() -> None:
    with pytest.raises(ArgumentValueError, match=r"'magnitude_bin' must be .* \(got 2.5\)"):
        signed_bin(2.5)  # type: ignore[arg-type]

    def define(image: Any) -> Any:
        sign = fn.random.coin_flip()
        with pytest.raises(ArgumentConflictError, match="'random_sign'"):
            signed_bin(1, sign, seed=3)
        with pytest.raises(ArgumentConflictError, match="'random_sign'"):
            signed_bin(1, sign, shape=(2,))
        with pytest.raises(ArgumentTypeError, match="'seed' must be an integer"):
            signed_bin(1, seed="a")  # type: ignore[arg-type]
        return image

    run(define)


# Functions with branches, and select


def test_augmentations_with_data_dependent_conditions() -> None:
    @augmentation(mag_range=(0, 4))
    def decide(data: Any, value: Any) -> Any:
        return value + 10 if value > 2 else -value

    bins = [0, 1, 2, 3, 4]
    result = values(
        lambda x: decide(x, magnitude_bin=indices(bins), num_magnitude_bins=5), len(bins)
    )
    assert result == [0, -1, -2, 13, 14]


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_select(count: int) -> None:
    def shifted(number: int) -> Any:
        return lambda data, step: data * 0 + types.Constant(number).int32() + step

    chosen = [*range(count), -1, count + 3]

    def define(_: Any) -> Any:
        number = indices(chosen)
        return select([shifted(10 * i) for i in range(count)], number, number, 1)

    expected = [10 * min(max(i, 0), count - 1) + 1 for i in chosen]
    assert values(define, len(chosen)) == expected


def test_only_selected_operations_run() -> None:
    def failing(data: Any) -> Any:
        return fn.crop(data, crop=[500, 500], out_of_bounds_policy="error")

    def define(image: Any) -> Any:
        return select([failing, lambda data: data], indices([1, 1]), image)

    assert len(values(define, 2)) == 2
    with pytest.raises(SampleError, match=r"fn\.crop.* sample 1"):
        values(lambda image: select([failing, lambda x: x], indices([1, 0]), image), 2)


def test_select_by_an_integer() -> None:
    assert values(lambda x: select([nothing, parameter], 0, x, num_magnitude_bins=3))
    for index in (2, -1, 0.5):
        with pytest.raises(ArgumentValueError, match="'selected_op_idx' must be"):
            values(lambda x, index=index: select([nothing, parameter], index, x))


def test_invalid_selections() -> None:
    with pytest.raises(ArgumentValueError, match="'ops' must have at least one"):
        values(lambda x: select([], indices([0]), x))
    with pytest.raises(GraphError, match="alike"):
        values(lambda x: select([lambda d: d, lambda d: (d, d)], indices([0]), x))
