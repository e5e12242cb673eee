"""Deprecated names of operators are equivalent to their current ones, and warn."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import fn
from dali_core._registry.specs import all_specs
from tests.operators.suite import (
    Result,
    class_of,
    find_examples,
    function_of,
    images,
    pipeline,
    run,
    run_on,
)

FORMER = {name: spec for name, spec in all_specs().items() if spec.deprecated}
EVERY_FORMER_NAME = pytest.mark.parametrize("name", FORMER)


def present_name(name: str) -> str:
    return FORMER[name].deprecated.removeprefix("fn.")


@EVERY_FORMER_NAME
def test_description(name: str) -> None:
    present = all_specs()[present_name(name)]
    assert not present.deprecated
    assert f"Former name of `{present.name}`" in FORMER[name].doc
    assert [arg.name for arg in FORMER[name].args] == [arg.name for arg in present.args]
    assert FORMER[name].native.name == present.native.name


@EVERY_FORMER_NAME
def test_warning_names_the_line_of_the_user(name: str, tmp_path: Path) -> None:
    example = find_examples(present_name(name))[0]
    message = re.escape(f"fn.{name} at {__file__}:")
    with pipeline() as made, made:
        inputs = [fn.external_source(source=list) for _ in example.inputs]
        arguments = example.arguments_in(tmp_path)
        with pytest.warns(DeprecationWarning, match=message) as caught:
            function_of(name)(*inputs, **arguments)
        assert [warning.filename for warning in caught] == [__file__]


@EVERY_FORMER_NAME
@pytest.mark.parametrize("as_class", [False, True])
def test_results(name: str, as_class: bool, tmp_path: Path) -> None:
    example = find_examples(present_name(name))[0]
    arguments: dict[str, Any] = example.arguments_in(tmp_path)
    if name.startswith("fast_"):
        arguments["antialias"] = True

    def result(operator: str) -> Result:
        if as_class:
            return run(operator, example, {}, function=class_of(operator)(**arguments))
        return run(operator, example, arguments)

    expected = result(present_name(name))
    with pytest.warns(DeprecationWarning, match="is deprecated. Use fn."):
        former = result(name)
    former.check_equals(expected)


def test_fast_resize_crop_mirror_does_not_antialias() -> None:
    array = images(smallest=60).make(0)
    with pytest.warns(DeprecationWarning, match="Use fn.resize_crop_mirror"):
        fast = run_on("fast_resize_crop_mirror", [array], "HWC", size=7)[0]
    expected = run_on("resize_crop_mirror", [array], "HWC", size=7, antialias=False)[0]
    np.testing.assert_array_equal(fast, expected)
