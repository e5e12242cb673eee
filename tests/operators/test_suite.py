"""Requirements of every operator, checked with the examples in its test module."""

from __future__ import annotations

import enum
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, get_origin

import numpy as np
import pytest

from dali_core import fn
from dali_core._graph.arguments import all_args
from dali_core._graph.registry import all_specs
from dali_core._runtime.executor import chain_role
from dali_core._spec import REQUIRED, Arg
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.operators.checksums import checksums
from tests.operators.suite import (
    Example,
    all_examples,
    as_sample,
    class_of,
    feed,
    find_examples,
    function_of,
    name_of_fed,
    pipeline,
    present_names,
    run,
    sources,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that write into the working directory do so in another."""
    monkeypatch.chdir(tmp_path)


OPERATORS = Path(fn.__file__).parent / "operators"
EVERY_OPERATOR = pytest.mark.parametrize("operator", present_names())


def parametrize_examples(
    chosen: Callable[[Example], bool] = lambda example: True,
    of: Callable[[str], bool] = lambda operator: True,
) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("operator", "example"),
        [
            pytest.param(operator, example, id=f"{operator}-{example.name}")
            for operator, example in all_examples()
            if of(operator) and chosen(example)
        ],
    )


EVERY_EXAMPLE = parametrize_examples()
EVERY_EXAMPLE_WITH_INPUTS = parametrize_examples(lambda example: bool(example.inputs))
SENTENCES = re.compile(r"[`A-Z].*[.!?`)]\Z", re.DOTALL)


def no_samples() -> list[np.ndarray]:
    return []


class Unsuitable:
    """A value of a type that is valid for no argument."""


# Descriptions


@EVERY_OPERATOR
def test_has_examples(operator: str) -> None:
    *groups, name = operator.split(".")
    module = "/".join(("tests/operators", *groups, f"test_{name}.py"))
    assert find_examples(operator), f"{module} must have a list EXAMPLES that is not empty"


@EVERY_OPERATOR
def test_folder_is_the_name(operator: str) -> None:
    folder = OPERATORS.joinpath(*operator.split("."))
    assert (folder / "__init__.py").is_file()
    assert all_specs()[operator].name == operator
    assert function_of(operator).__name__ == folder.name


@EVERY_OPERATOR
def test_documentation(operator: str) -> None:
    spec = all_specs()[operator]
    first, _, rest = spec.doc.strip().partition("\n\n")
    assert SENTENCES.match(first), first
    assert first.count(". ") == 0, "the first line is one sentence"
    assert "\n" not in first, "the first sentence fits on a line"
    assert rest == "" or SENTENCES.match(rest.strip()), rest
    for arg in all_args(spec):
        assert SENTENCES.match(arg.doc), f"{arg.name}: {arg.doc!r}"
    _, most = spec.input_range
    if most <= 8:
        assert len(spec.input_docs) == most, "every input is described"


@EVERY_OPERATOR
def test_docstring_names_all_arguments(operator: str) -> None:
    text = function_of(operator).__doc__ or ""
    for arg in all_args(all_specs()[operator]):
        assert f"\n{arg.name} : " in text


@EVERY_OPERATOR
def test_examples_give_every_argument_that_may_come_with_a_sample(
    operator: str, tmp_path: Path
) -> None:
    given = {name for example in find_examples(operator) for name in example.arguments_in(tmp_path)}
    tensors = {arg.name for arg in all_specs()[operator].args if arg.tensor}
    assert tensors <= given, "examples are how per-sample arguments are checked"


# Results


@EVERY_EXAMPLE
def test_results_do_not_depend_on_how_they_are_computed(
    operator: str, example: Example, tmp_path: Path
) -> None:
    arguments = example.arguments_in(tmp_path)
    expected = run(operator, example, arguments)
    for settings in (
        {},
        {"num_threads": 4},
        {"batch_size": 1},
        {"batch_size": 8, "num_threads": 2},
        {"prefetch_queue_depth": 1},
        {"prefetch_queue_depth": 5, "batch_size": 2},
        {"exec_pipelined": False, "exec_async": False},
    ):
        if not (example.depends_on_batch and "batch_size" in settings):
            run(operator, example, arguments, **settings).check_equals(expected)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_results_do_not_depend_on_the_instruction_set(level: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.operators.checksums"],
        # Nor on what was in new memory, which the C library fills with bytes.
        env={**os.environ, "DALI_CORE_SIMD": level, "MALLOC_PERTURB_": "165"},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    theirs, ours = json.loads(done.stdout), checksums()
    assert theirs.keys() == ours.keys()
    assert [name for name in ours if ours[name] != theirs[name]] == []


@EVERY_EXAMPLE
def test_type_layout_and_dimensions_are_stable(
    operator: str, example: Example, tmp_path: Path
) -> None:
    result = run(operator, example, example.arguments_in(tmp_path))
    for samples, types, layouts in zip(result.samples, result.types, result.layouts, strict=True):
        assert len(types) == len(layouts) == 1
        (layout,) = layouts
        assert {sample.ndim for sample in samples} == {samples[0].ndim}
        assert len(layout) in (0, samples[0].ndim)


@EVERY_EXAMPLE
def test_class_does_what_the_function_does(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    result = run(operator, example, {}, function=class_of(operator)(**arguments))
    result.check_equals(run(operator, example, arguments))


@pytest.mark.parametrize("operator", [name for name in present_names() if all_specs()[name].random])
def test_random_results_depend_on_the_seeds(operator: str, tmp_path: Path) -> None:
    def everything(pipeline_seed: int, **seed: int) -> list[bytes]:
        return [
            sample.tobytes()
            for example in find_examples(operator)
            for sample in run(
                operator, example, {**example.arguments_in(tmp_path), **seed}, seed=pipeline_seed
            ).samples[0]
        ]

    assert everything(1) == everything(1) != everything(2)
    assert everything(1, seed=7) == everything(2, seed=7) != everything(2, seed=8)


@EVERY_EXAMPLE
def test_inputs_stay_what_they_are(operator: str, example: Example, tmp_path: Path) -> None:
    with pipeline(batch_size=4) as made:
        with made:
            inputs = sources(example)
            arguments = example.arguments_in(tmp_path) | name_of_fed(example)
            outputs = function_of(operator)(*inputs, **arguments)
            outputs = outputs if isinstance(outputs, list) else [outputs]
            made.set_outputs(*outputs, *inputs)
        feed(made, example)
        batch = made.run()
    for tensors, data in zip(batch[len(outputs) :], example.inputs, strict=True):
        for number in range(4):
            np.testing.assert_array_equal(np.array(tensors.at(number)), data.make(number))


@EVERY_EXAMPLE_WITH_INPUTS
def test_batch_of_no_samples(operator: str, example: Example, tmp_path: Path) -> None:
    with pipeline() as made:
        with made:
            inputs = [
                fn.external_source(source=no_samples, layout=data.layout or None)
                for data in example.inputs
            ]
            outputs = function_of(operator)(*inputs, **example.arguments_in(tmp_path))
            made.set_outputs(*(outputs if isinstance(outputs, list) else [outputs]))
        for tensors in made.run():
            assert len(tensors) == 0


@EVERY_EXAMPLE
def test_argument_of_each_sample_equals_constant(
    operator: str, example: Example, tmp_path: Path
) -> None:
    spec = all_specs()[operator]
    arguments = example.arguments_in(tmp_path)
    # Adding operators changes the seed of a random operator, unless it has its own.
    arguments |= {"seed": 7} if spec.random else {}
    tensors = {
        arg.name: as_sample(arg, arguments[arg.name])
        for arg in spec.args
        if arg.tensor and arg.name in arguments
    }
    expected = run(operator, example, arguments)
    for name, tensor in tensors.items():
        others = {other: value for other, value in arguments.items() if other != name}
        result = run(operator, example, others, per_sample={name: tensor}, num_threads=2)
        result.check_equals(expected)
    others = {name: value for name, value in arguments.items() if name not in tensors}
    run(operator, example, others, per_sample=tensors).check_equals(expected)


# Errors


def call_fails(operator: str, example: Example, arguments: dict[str, Any], *more: Any) -> str:
    """Call an operator wrongly and return the message."""
    with pipeline() as made, made, pytest.raises(ArgumentTypeError) as caught:
        function_of(operator)(*sources(example), *more, **arguments)
    message = str(caught.value)
    assert message.startswith(f"fn.{operator} at {__file__}:"), message
    return message


@EVERY_EXAMPLE
def test_unknown_argument(operator: str, example: Example, tmp_path: Path) -> None:
    own = [arg.name for arg in all_specs()[operator].args] or ["preserve"]
    arguments = example.arguments_in(tmp_path)
    for name in own:
        misspelt = name + name[-1]
        if misspelt in own:
            continue
        message = call_fails(operator, example, {**arguments, misspelt: 1})
        assert repr(misspelt) in message
        assert f"Did you mean {name!r}?" in message


@EVERY_EXAMPLE
def test_argument_of_wrong_type(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    for arg in all_args(all_specs()[operator]):
        if arg.type is object:
            continue
        values = [Unsuitable()] if get_origin(arg.type) is list else Unsuitable()
        message = call_fails(operator, example, {**arguments, arg.name: values})
        assert repr(arg.name) in message
        assert "Unsuitable" in message


@EVERY_EXAMPLE
def test_deprecated_argument(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    for arg in all_specs()[operator].args:
        if not arg.deprecated:
            continue
        value = next(iter(arg.type)) if issubclass(arg.type, enum.Enum) else arg.type(1)
        arguments.pop(arg.deprecated, None)  # its new name; only one of them may be passed
        with pipeline() as made, made:
            inputs = sources(example)
            with pytest.warns(DeprecationWarning, match=f"{arg.name!r} is deprecated") as caught:
                function_of(operator)(*inputs, **{**arguments, arg.name: value})
        assert [warning.filename for warning in caught] == [__file__]


@EVERY_EXAMPLE
def test_constant_arguments_refuse_samples(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    with pipeline() as made, made:
        node = fn.external_source(source=lambda: [np.zeros(())])
        for arg in all_args(all_specs()[operator]):
            if arg.tensor or arg.type is object:
                continue
            with pytest.raises(
                ArgumentTypeError, match="must be the same for all samples"
            ) as caught:
                function_of(operator)(*sources(example), **{**arguments, arg.name: node})
            assert repr(arg.name) in str(caught.value)


@EVERY_EXAMPLE
def test_device_that_it_does_not_run_on(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    with pipeline() as made, made:
        inputs = sources(example)
        with pytest.raises(ArgumentValueError, match="device must be one of") as caught:
            function_of(operator)(*inputs, **{**arguments, "device": "abacus"})
    assert str(caught.value).startswith(f"fn.{operator} at {__file__}:")


@EVERY_EXAMPLE
def test_missing_argument(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    required = [arg for arg in all_specs()[operator].args if arg.default is REQUIRED]
    for arg in required:
        others = {name: value for name, value in arguments.items() if name != arg.name}
        message = call_fails(operator, example, others)
        assert f"argument {arg.name!r} must be given" in message


@EVERY_EXAMPLE
def test_wrong_number_of_inputs(operator: str, example: Example, tmp_path: Path) -> None:
    spec = all_specs()[operator]
    least, most = spec.input_range
    arguments = example.arguments_in(tmp_path)
    if spec.bind is None:
        with pipeline() as made, made:
            more = [fn.external_source(source=no_samples) for _ in range(most + 1)]
            with pytest.raises(ArgumentTypeError, match="inputs must be passed"):
                function_of(operator)(*more, **arguments)
    if least > 0:
        without = Example(example.name, (), example.arguments)
        assert "inputs must be passed" in call_fails(operator, without, arguments)


@EVERY_EXAMPLE_WITH_INPUTS
def test_input_that_is_no_node(operator: str, example: Example, tmp_path: Path) -> None:
    without = Example(example.name, example.inputs[1:], example.arguments)
    arguments = example.arguments_in(tmp_path)
    message = call_fails(operator, without, arguments, "image")
    assert "must be a DataNode" in message


def test_unsuitable_is_unsuitable() -> None:
    assert not isinstance(Unsuitable(), (int, float, str, bool, Arg))


# Chains


def in_chain(operator: str, value: Any, /, *others: Any, **arguments: Any) -> Any:
    """Call an operator between two others that it may be fused with."""
    result = function_of(operator)(fn.flip(value), *others, **arguments)
    is_last = chain_role(operator) == "finish" or isinstance(result, list)
    return result if is_last else fn.flip(result, vertical=1)


@parametrize_examples(
    lambda example: len(example.inputs) == 1 and example.inputs[0].layout == "HWC",
    lambda operator: chain_role(operator) not in ("", "source"),
)
def test_fused_results_are_the_same(operator: str, example: Example, tmp_path: Path) -> None:
    arguments = example.arguments_in(tmp_path)
    function = partial(in_chain, operator)
    plain = run(operator, example, arguments, function=function, optimize=False)
    run(operator, example, arguments, function=function).check_equals(plain)
