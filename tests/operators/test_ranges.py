"""Numbers that no operator can mean are refused alike, as constants and with each sample."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core._graph.registry import all_specs
from dali_core._spec import Arg, Range
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import (
    Example,
    find_examples,
    function_of,
    pipeline,
    present_names,
    run,
    sources,
)

NOT_FINITE = (math.nan, math.inf, -math.inf, 1e39)


def outside(arg: Arg) -> Iterator[float]:
    """Give numbers that the argument must not be, among them those just outside its range."""
    if arg.item_type is float and arg.finite:
        yield from NOT_FINITE
    if arg.range is None:
        return
    step: Any = 1 if arg.item_type is int else 0.25
    if arg.range.least > -math.inf:
        yield arg.range.least if arg.range.above else arg.range.least - step
    if arg.range.most < math.inf:
        yield arg.range.most + step


def ranged(*, tensor: bool) -> list[Any]:
    return [
        pytest.param(operator, arg, id=f"{operator}-{arg.name}")
        for operator in present_names()
        for arg in all_specs()[operator].args
        if any(True for _ in outside(arg)) and (arg.tensor or not tensor)
    ]


def calls(operator: str, arg: Arg, folder: Path) -> Iterator[tuple[Example, dict[str, Any], Any]]:
    """Give an example that has the argument, its other arguments, and its value in it."""
    for example in find_examples(operator):
        arguments = example.arguments_in(folder)
        if arg.name in arguments:
            yield example, arguments, arguments.pop(arg.name)
            return


@pytest.mark.parametrize(("operator", "arg"), ranged(tensor=False))
def test_constants(operator: str, arg: Arg, tmp_path: Path) -> None:
    example = find_examples(operator)[0]
    arguments = example.arguments_in(tmp_path)
    for number in outside(arg):
        with pipeline() as made, made, pytest.raises(ArgumentValueError) as caught:
            function_of(operator)(*sources(example), **{**arguments, arg.name: number})
        message = str(caught.value)
        assert message.startswith(f"fn.{operator} at {__file__}:"), message
        assert f"argument {arg.name!r}" in message
        assert f" must be {arg.rule} (got {arg.item_type(number)!r})." in message


@pytest.mark.parametrize(("operator", "arg"), ranged(tensor=True))
def test_values_of_samples(operator: str, arg: Arg, tmp_path: Path) -> None:
    is_whole = arg.item_type is int
    for example, arguments, value in calls(operator, arg, tmp_path):
        for number in outside(arg):
            wrong = np.full(np.shape(value), number, np.int64 if is_whole else np.float64)
            with pytest.raises(SampleError) as caught:
                run(operator, example, arguments, per_sample={arg.name: wrong}, num_samples=1)
            error = caught.value
            assert (error.operator, error.sample) == (operator, 0)
            assert "suite.py" in error.location
            assert error.message.startswith(f"argument '{arg.name}'"), error.message
            assert f" must be {arg.rule} (got {number:.9g})." in error.message


@pytest.mark.parametrize("operator", present_names())
def test_defaults_are_allowed(operator: str) -> None:
    for arg in all_specs()[operator].args:
        values = arg.default if isinstance(arg.default, list) else [arg.default]
        for value in values:
            if isinstance(value, (int, float)) and arg.limits is not None:
                assert value in arg.limits, arg.name


def test_ends_belong_to_a_range_unless_they_are_excluded() -> None:
    assert all(number in Range(0, 1) for number in (0, 0.5, 1))
    assert all(number not in Range(0, 1) for number in (-1e-9, 1.001, math.nan, math.inf))
    assert 0 not in Range(0, above=True)
    assert math.inf in Range(0)
    texts = {str(Range(0, 1)), str(Range(0, above=True)), str(Range(1)), str(Range(most=2))}
    assert texts == {"from 0 to 1", "above 0", "at least 1", "at most 2"}


def test_every_sample_is_checked_by_itself() -> None:
    factors = [np.float32(1), np.float32(np.nan), np.float32(2), np.float32(np.inf)]
    image = np.full((2, 2, 3), 7, np.uint8)
    with pipeline(batch_size=4) as made:
        with made:
            data = fn.external_source(source=lambda: [image] * 4, layout="HWC")
            factor = fn.external_source(source=lambda: factors)
            made.set_outputs(fn.brightness(data, brightness=factor))
        with pytest.raises(SampleError, match=r"sample 1: argument 'brightness' must be finite"):
            made.run()


def test_operators_that_run_as_one_check_all_of_their_arguments() -> None:
    image = np.zeros((8, 8, 3), np.uint8)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [image], layout="HWC")
            small = fn.resize(fn.crop(data, crop=[6.0, 6.0]), size=[4.0, 4.0])
            angle = fn.external_source(source=lambda: [np.float32(-1.0)])
            made.set_outputs(fn.crop(small, crop_w=angle, crop_h=2.0))
        with pytest.raises(SampleError, match=r"fn.crop, at .*'crop_w' must be at least 0"):
            made.run()


def test_filters_that_do_not_exist() -> None:
    image = np.zeros((4, 4, 3), np.uint8)
    with pipeline(batch_size=1) as made:
        with made:
            data = fn.external_source(source=lambda: [image], layout="HWC")
            filters = fn.external_source(source=lambda: [np.int32(len(types.DALIInterpType))])
            made.set_outputs(fn.resize(data, size=2.0, interp_type=filters))
        with pytest.raises(SampleError, match=r"'interp_type' must be from 0 to 5 \(got 6\)"):
            made.run()
