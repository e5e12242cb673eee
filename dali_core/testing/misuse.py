"""Checks that wrong calls of an operator raise errors that say what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, get_origin

import numpy as np

from dali_core import fn
from dali_core._call.arguments import all_args
from dali_core._spec import REQUIRED
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.testing.descriptions import spec_of
from dali_core.testing.examples import Example, function_of, pipeline, sources
from dali_core.testing.expected import expect
from dali_core.testing.results import no_samples


class Unsuitable:
    """A value of a type that is valid for no argument."""


def check_unknown(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """A misspelt argument is named, together with the right one."""
    own = [arg.name for arg in spec_of(operator).args] or ["preserve"]
    for name in own:
        misspelt = name + name[-1]
        if misspelt in own:
            continue
        message = _call_fails(operator, example, {**arguments, misspelt: 1})
        assert repr(misspelt) in message
        assert f"Did you mean {name!r}?" in message


def check_wrong_type(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """A value of a wrong type is named."""
    for arg in all_args(spec_of(operator)):
        if arg.type is object:
            continue
        values = [Unsuitable()] if get_origin(arg.type) is list else Unsuitable()
        message = _call_fails(operator, example, {**arguments, arg.name: values})
        assert repr(arg.name) in message
        assert "Unsuitable" in message


def check_constants(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """Arguments that are the same for all samples refuse others."""
    with pipeline() as made, made:
        node = fn.external_source(source=lambda: [np.zeros(())])
        for arg in all_args(spec_of(operator)):
            if arg.tensor or arg.type is object:
                continue
            call = partial(function_of(operator), *sources(example))
            message = expect(ArgumentTypeError, partial(call, **{**arguments, arg.name: node}))
            assert "must be the same for all samples" in message
            assert repr(arg.name) in message


def check_device(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """A device that it does not run on is refused."""
    with pipeline() as made, made:
        inputs = sources(example)
        message = expect(
            ArgumentValueError,
            lambda: function_of(operator)(*inputs, **{**arguments, "device": "abacus"}),
        )
    assert "device must be one of" in message
    assert message.startswith(f"fn.{operator} at "), message


def check_missing(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """A missing argument is named."""
    required = [arg for arg in spec_of(operator).args if arg.default is REQUIRED]
    for arg in required:
        others = {name: value for name, value in arguments.items() if name != arg.name}
        message = _call_fails(operator, example, others)
        assert f"argument {arg.name!r} must be given" in message


def check_number_of_inputs(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """Too many and too few inputs are refused."""
    spec = spec_of(operator)
    least, most = spec.input_range
    if spec.bind is None:
        with pipeline() as made, made:
            more = [fn.external_source(source=no_samples) for _ in range(most + 1)]
            message = expect(ArgumentTypeError, lambda: function_of(operator)(*more, **arguments))
            assert "inputs must be passed" in message
    if least > 0:
        without = Example(example.name, (), example.arguments)
        assert "inputs must be passed" in _call_fails(operator, without, arguments)


def check_input_that_is_no_node(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """Objects that are no values of a graph are refused."""
    if example.inputs:
        without = Example(example.name, example.inputs[1:], example.arguments)
        assert "must be a DataNode" in _call_fails(operator, without, arguments, "image")


Check = Callable[[str, Example, dict[str, Any]], None]
ARGUMENT_CHECKS: tuple[Check, ...] = (
    *(check_unknown, check_wrong_type, check_constants, check_device, check_missing),
)
INPUT_CHECKS: tuple[Check, ...] = (check_number_of_inputs, check_input_that_is_no_node)


def _call_fails(operator: str, example: Example, arguments: dict[str, Any], *more: Any) -> str:
    """Call an operator wrongly and return the message."""
    with pipeline() as made, made:
        inputs = sources(example)
        message = expect(
            ArgumentTypeError, lambda: function_of(operator)(*inputs, *more, **arguments)
        )
    assert message.startswith(f"fn.{operator} at "), message
    return message
