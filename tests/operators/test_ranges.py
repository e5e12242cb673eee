"""Numbers out of range raise the same error, as constants and per sample."""

from __future__ import annotations

import enum
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any, get_origin

import numpy as np
import pytest

from dali_core import fn, ops, types
from dali_core._registry.specs import all_specs
from dali_core._spec import REQUIRED, UNSET, Arg, Range
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


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that write into the working directory do so in another."""
    monkeypatch.chdir(tmp_path)


NOT_FINITE = (math.nan, math.inf, -math.inf, 1e39)
# What else must hold for these arguments, and does not for numbers at the border.
OTHER_RULES = {
    ("audio_resample", "in_rate"): "the output's length must be from 0",
    ("full", "shape"): "fill_value must have the output's shape",
    ("gaussian_blur", "sigma"): "sigma or window_size must be given",
    ("multi_paste", "output_size"): "region 0 must lie inside the canvas",
    ("random.choice", "p"): "p must sum up to 1",
}
# Sizes at larger borders are allowed, but would take all of the memory.
LARGEST_RUN = 2**17


def beside(number: float, direction: float) -> float:
    """Return the next number of 32 bits, which is what operators compute with."""
    return float(np.nextafter(np.float32(number), np.float32(direction)))


def outside(arg: Arg) -> Iterator[float]:
    """Return invalid numbers for the argument, among them those just outside its range."""
    if arg.item_type is float and arg.finite:
        yield from NOT_FINITE
    if arg.range is None:
        return
    least, most = arg.range.least, arg.range.most
    is_whole = arg.item_type is int
    if least > -math.inf and not arg.range.above:
        yield from (least - 1,) if is_whole else (least - 0.25, beside(least, -math.inf))
    elif least > -math.inf:
        yield least
    if most < math.inf:
        yield from (most + 1,) if is_whole else (most + 0.25, beside(most, math.inf))


def borders(arg: Arg) -> Iterator[float]:
    """Return the first and the last valid number of the argument's range, as far as it has them."""
    if arg.range is None:
        return
    if arg.range.least > -math.inf:
        yield beside(arg.range.least, math.inf) if arg.range.above else arg.range.least
    if arg.range.most < math.inf:
        yield arg.range.most


def other_kinds(arg: Arg) -> Iterator[float]:
    """Return numbers that the argument's enumeration does not have, or that are no boolean."""
    is_enum = isinstance(arg.item_type, type) and issubclass(arg.item_type, enum.Enum)
    if arg.limits is not None and (is_enum or arg.item_type is bool):
        yield from (arg.limits.least - 1, arg.limits.most + 1)


def ranged(numbers: Callable[[Arg], Iterator[float]], *, tensor: bool) -> list[Any]:
    """Return the operators and arguments for which there are such numbers."""
    return [
        pytest.param(operator, arg, id=f"{operator}-{arg.name}")
        for operator in present_names()
        for arg in all_specs()[operator].args
        if any(True for _ in numbers(arg)) and (arg.tensor or not tensor)
    ]


def calls(operator: str, arg: Arg, folder: Path) -> Iterator[tuple[Example, dict[str, Any], Any]]:
    """Yield examples that have the argument, their other arguments, and its value."""
    for example in find_examples(operator):
        arguments = example.arguments_in(folder)
        if arg.name in arguments:
            yield example, arguments, arguments.pop(arg.name)
            return


@pytest.mark.parametrize(("operator", "arg"), ranged(outside, tensor=False))
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


@pytest.mark.parametrize(("operator", "arg"), ranged(outside, tensor=True))
def test_values_of_samples(operator: str, arg: Arg, tmp_path: Path) -> None:
    is_whole = arg.item_type is int
    for example, arguments, value in calls(operator, arg, tmp_path):
        for number in outside(arg):
            wrong = np.full(np.shape(value), number, np.int64 if is_whole else np.float64)
            with pytest.raises(SampleError) as caught:
                run(operator, example, arguments, per_sample={arg.name: wrong}, num_samples=1)
            error = caught.value
            assert (error.operator, error.sample) == (operator, 0)
            assert Path(__file__).name in error.location
            assert error.message.startswith(f"argument '{arg.name}'"), error.message
            assert f" must be {arg.rule} (got {number:.9g})." in error.message


@pytest.mark.parametrize(("operator", "arg"), ranged(borders, tensor=False))
def test_constants_at_the_border(operator: str, arg: Arg, tmp_path: Path) -> None:
    example = find_examples(operator)[0]
    rivals = {*arg.excludes, *arg.alternatives} | {
        other.name
        for other in all_specs()[operator].args
        if arg.name in (*other.excludes, *other.alternatives)
    }
    arguments = {
        name: value for name, value in example.arguments_in(tmp_path).items() if name not in rivals
    }
    is_list = get_origin(arg.type) is list
    for number in borders(arg):
        value = [number] * max(1, int(arg.lengths.least)) if is_list else number
        with pipeline() as made, made:
            function_of(operator)(*sources(example), **{**arguments, arg.name: value})
            nodes = made._definition.graph.nodes
        assert value in [node.arguments.get(arg.name) for node in nodes]


@pytest.mark.parametrize(("operator", "arg"), ranged(borders, tensor=True))
def test_values_of_samples_at_the_border(operator: str, arg: Arg, tmp_path: Path) -> None:
    is_whole = arg.item_type is int
    for example, arguments, value in calls(operator, arg, tmp_path):
        for number in borders(arg):
            if number < LARGEST_RUN:
                right = np.full(np.shape(value), number, np.int64 if is_whole else np.float64)
                other = OTHER_RULES.get((operator, arg.name))
                with pytest.raises(SampleError, match=other) if other else nullcontext():
                    run(operator, example, arguments, per_sample={arg.name: right}, num_samples=1)


def with_checks(attribute: str, *, tensor: bool = False) -> list[Any]:
    return [
        pytest.param(operator, arg, id=f"{operator}-{arg.name}")
        for operator in present_names()
        for arg in all_specs()[operator].args
        if getattr(arg, attribute) not in (None, ()) and (arg.tensor or not tensor)
    ]


def refused(operator: str, arguments: dict[str, Any], folder: Path) -> str:
    example = find_examples(operator)[0]
    arguments = {**example.arguments_in(folder), **arguments}
    with pipeline() as made, made, pytest.raises(ArgumentValueError) as caught:
        function_of(operator)(*sources(example), **arguments)
    message = str(caught.value)
    assert message.startswith(f"fn.{operator} at {__file__}:"), message
    return message


def wrong_lengths(arg: Arg) -> Iterator[int]:
    if arg.lengths.least > 0:
        yield int(arg.lengths.least) - 1
    if arg.lengths.most < math.inf:
        yield int(arg.lengths.most) + 1


@pytest.mark.parametrize(("operator", "arg"), with_checks("choices"))
def test_other_choices(operator: str, arg: Arg, tmp_path: Path) -> None:
    others = [""] if arg.item_type is str else list(arg.item_type)
    for other in others:
        is_left_out = other is types.NO_TYPE and arg.default is UNSET
        if other in arg.choices or is_left_out:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            message = refused(operator, {arg.name: other}, tmp_path)
        assert f"argument {arg.name!r} must be " in message
        name = other.name if isinstance(other, enum.Enum) else repr(other)
        assert f" (got {name}). Use one of them." in message


@pytest.mark.parametrize(("operator", "arg"), with_checks("length"))
def test_wrong_lengths(operator: str, arg: Arg, tmp_path: Path) -> None:
    for length in wrong_lengths(arg):
        message = refused(
            operator, {arg.name: ["1" if arg.item_type is str else 1] * length}, tmp_path
        )
        assert f"argument {arg.name!r} must have {arg.length_rule} (got {length})." in message


@pytest.mark.parametrize(("operator", "arg"), with_checks("length", tensor=True))
def test_wrong_lengths_of_samples(operator: str, arg: Arg, tmp_path: Path) -> None:
    for example, arguments, _ in calls(operator, arg, tmp_path):
        for length in wrong_lengths(arg):
            wrong = np.ones(length, np.int32 if arg.item_type is int else np.float32)
            with pytest.raises(SampleError) as caught:
                run(operator, example, arguments, per_sample={arg.name: wrong}, num_samples=1)
            rule = f"argument '{arg.name}' must have {arg.length_rule} (got {length})."
            assert caught.value.message.startswith(rule), caught.value.message


def some_value(arg: Arg) -> Any:
    value = {int: 1, float: 1.0, str: "H", bool: True}[arg.item_type]
    return [value] * max(1, int(arg.lengths.least)) if get_origin(arg.type) is list else value


@pytest.mark.parametrize(("operator", "arg"), with_checks("excludes"))
def test_exclusions(operator: str, arg: Arg, tmp_path: Path) -> None:
    args = {arg.name: arg for arg in all_specs()[operator].args}
    for other in arg.excludes:
        pair = {name: some_value(args[name]) for name in (arg.name, other)}
        message = refused(operator, pair, tmp_path)
        assert "must not be given together with" in message


@pytest.mark.parametrize(("operator", "arg"), with_checks("alternatives"))
def test_exactly_one_must_be_given(operator: str, arg: Arg, tmp_path: Path) -> None:
    example = find_examples(operator)[0]
    arguments = example.arguments_in(tmp_path)
    names = (arg.name, *arg.alternatives)
    assert len([arguments.pop(name) for name in names if name in arguments]) == 1
    both = {name: [1, 1] for name in names}
    for given, got in (({}, "none"), (both, " and ".join(map(repr, names)))):
        with pipeline() as made, made, pytest.raises(ArgumentValueError) as caught:
            function_of(operator)(*sources(example), **arguments, **given)
        message = str(caught.value)
        assert message.startswith(f"fn.{operator} at {__file__}:"), message
        assert f"exactly one of the arguments {' and '.join(map(repr, names))} must" in message
        assert f"(got {got}). Pass one of them." in message


def test_constructors_wait_for_the_call() -> None:
    shear = ops.transforms.Shear()
    with pytest.raises(ArgumentValueError, match=r"exactly one .* \(got none\)"):
        shear()
    with pytest.raises(ArgumentValueError, match=r"exactly one .* \(got 'shear' and 'angles'\)"):
        ops.transforms.Shear(shear=[0.1, 0.2], angles=[1.0, 2.0])
    assert shear(angles=[1.0, 2.0]) is not None


def test_values_of_samples_are_numbers() -> None:
    """So none of them can be a text, or a member of an enumeration with gaps in its numbers."""
    for operator in present_names():
        for arg in all_specs()[operator].args:
            if arg.tensor:
                assert arg.item_type is not str, (operator, arg.name)
                assert not arg.choices, (operator, arg.name)
            if arg.tensor and issubclass(arg.item_type, enum.Enum):
                numbers = sorted(member.value for member in arg.item_type)
                assert numbers == list(range(numbers[0], numbers[-1] + 1)), (operator, arg.name)


@pytest.mark.parametrize(("operator", "arg"), ranged(other_kinds, tensor=True))
def test_other_kinds_of_samples(operator: str, arg: Arg, tmp_path: Path) -> None:
    for example, arguments, value in calls(operator, arg, tmp_path):
        for number in other_kinds(arg):
            wrong = np.full(np.shape(value), number, np.int32)
            with pytest.raises(SampleError) as caught:
                run(operator, example, arguments, per_sample={arg.name: wrong}, num_samples=1)
            assert caught.value.operator == operator
            assert caught.value.message.startswith(f"argument '{arg.name}'"), caught.value.message
            assert f" must be {arg.rule} (got {number})." in caught.value.message


@pytest.mark.parametrize("operator", present_names())
def test_defaults_are_allowed(operator: str) -> None:
    for arg in all_specs()[operator].args:
        values = arg.default if isinstance(arg.default, list) else [arg.default]
        for value in values:
            if isinstance(value, (int, float)) and arg.limits is not None:
                assert value in arg.limits, arg.name
        if arg.choices and arg.default not in (REQUIRED, UNSET):
            assert arg.default in arg.choices, arg.name


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
