"""Requirements of every operator, checked with the examples in its test module."""

from __future__ import annotations

import enum
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dali_core import fn
from dali_core._registry.specs import all_specs
from dali_core._spec import Arg
from dali_core.testing import descriptions, misuse, results
from dali_core.testing.misuse import Unsuitable
from tests.operators.checksums import checksums
from tests.operators.suite import (
    Example,
    all_examples,
    find_examples,
    function_of,
    pipeline,
    present_names,
    sources,
)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Operators that write into the working directory do so in another."""
    monkeypatch.chdir(tmp_path)


OPERATORS = Path(fn.__file__).parent / "operators"
EVERY_OPERATOR = pytest.mark.parametrize("operator", present_names())


# Tests that not all examples suit.
SUITABLE: dict[str, Callable[[str, Example], bool]] = {
    "test_inputs_are_not_modified": lambda operator, example: not results.joins_samples(operator),
    "test_batch_of_no_samples": lambda operator, example: bool(example.inputs),
    "test_fused_results_are_the_same": results.is_in_chains,
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests for each example; `-k resize` imports the examples of these operators only."""
    if "example" not in metafunc.fixturenames:
        return
    is_suitable = SUITABLE.get(metafunc.function.__name__, lambda operator, example: True)
    parameters = [
        pytest.param(operator, example, id=f"{operator}-{example.name}")
        for operator, example in all_examples(metafunc.config.getoption("keyword"))
        if is_suitable(operator, example)
    ]
    metafunc.parametrize(("operator", "example"), parameters)


# Descriptions


@EVERY_OPERATOR
def test_examples_give_every_argument_that_may_come_with_a_sample(operator: str) -> None:
    descriptions.check_examples(operator, find_examples(operator))


@EVERY_OPERATOR
def test_folder_is_the_name(operator: str) -> None:
    folder = OPERATORS.joinpath(*operator.split("."))
    assert (folder / "__init__.py").is_file()
    assert all_specs()[operator].name == operator
    assert function_of(operator).__name__ == folder.name


@EVERY_OPERATOR
def test_documentation(operator: str) -> None:
    descriptions.check_documentation(operator)


# Results


def test_results_do_not_depend_on_how_they_are_computed(
    operator: str, example: Example, tmp_path: Path
) -> None:
    results.check_ways_to_compute(operator, example, example.arguments_in(tmp_path))


@pytest.fixture(scope="module")
def our_checksums() -> dict[str, str]:
    """Return the checksums of all examples with what this processor has."""
    return checksums()


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_results_do_not_depend_on_the_instruction_set(
    level: str, our_checksums: dict[str, str]
) -> None:
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
    theirs = json.loads(done.stdout)
    assert theirs.keys() == our_checksums.keys()
    assert [name for name, ours in our_checksums.items() if ours != theirs[name]] == []


def test_type_layout_and_dimensions_are_stable(
    operator: str, example: Example, tmp_path: Path
) -> None:
    results.check_stable(operator, example, example.arguments_in(tmp_path))


def test_class_and_function_agree(operator: str, example: Example, tmp_path: Path) -> None:
    results.check_class(operator, example, example.arguments_in(tmp_path))


@pytest.mark.parametrize("operator", [name for name in present_names() if all_specs()[name].random])
def test_random_results_depend_on_the_seeds(operator: str, tmp_path: Path) -> None:
    results.check_seeds(operator, find_examples(operator), tmp_path)


def test_inputs_are_not_modified(operator: str, example: Example, tmp_path: Path) -> None:
    results.check_inputs_untouched(operator, example, example.arguments_in(tmp_path))


def test_batch_of_no_samples(operator: str, example: Example, tmp_path: Path) -> None:
    results.check_empty_batch(operator, example, example.arguments_in(tmp_path))


def test_argument_of_each_sample_equals_constant(
    operator: str, example: Example, tmp_path: Path
) -> None:
    results.check_arguments_per_sample(operator, example, example.arguments_in(tmp_path))


def test_fused_results_are_the_same(operator: str, example: Example, tmp_path: Path) -> None:
    results.check_fused(operator, example, example.arguments_in(tmp_path))


# Errors


@pytest.mark.parametrize("check", misuse.ARGUMENT_CHECKS)
def test_wrong_arguments(
    operator: str, example: Example, check: misuse.Check, tmp_path: Path
) -> None:
    check(operator, example, example.arguments_in(tmp_path))


@pytest.mark.parametrize("check", misuse.INPUT_CHECKS)
def test_wrong_inputs(operator: str, example: Example, check: misuse.Check, tmp_path: Path) -> None:
    check(operator, example, example.arguments_in(tmp_path))


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


def test_unsuitable_examples_raise() -> None:
    assert not isinstance(Unsuitable(), (int, float, str, bool, Arg))
