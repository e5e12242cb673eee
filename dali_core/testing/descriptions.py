"""Checks of what an operator's description says."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from dali_core._call.arguments import all_args
from dali_core._registry.specs import find_spec
from dali_core._spec import OpSpec
from dali_core.testing.examples import Example, function_of

SENTENCES = re.compile(r"[`A-Z].*[.!?`)]\Z", re.DOTALL)


def spec_of(operator: str) -> OpSpec:
    """Return the description of an operator, also of another package."""
    spec = find_spec(operator)
    assert spec is not None, f"there must be an operator {operator!r}"
    return spec


def check_documentation(operator: str) -> None:
    """Sentences describe the operator, its inputs and arguments; the docstring has them all."""
    spec = spec_of(operator)
    first, _, rest = spec.doc.strip().partition("\n\n")
    assert SENTENCES.match(first), first
    assert first.count(". ") == 0, "the first line is one sentence"
    assert "\n" not in first, "the first sentence fits on a line"
    assert rest == "" or SENTENCES.match(rest.strip()), rest
    text = function_of(operator).__doc__ or ""
    for arg in all_args(spec):
        assert SENTENCES.match(arg.doc), f"{arg.name}: {arg.doc!r}"
        assert f"\n{arg.name} : " in text
    _, most = spec.input_range
    if most <= 8:
        assert len(spec.input_docs) == most, "every input is described"


def check_examples(operator: str, examples: Sequence[Example]) -> None:
    """There is an example, and all arguments that may come with a sample are in one."""
    assert examples, "there must be an example"
    with TemporaryDirectory() as folder:
        given = {name for example in examples for name in example.arguments_in(Path(folder))}
    tensors = {arg.name for arg in spec_of(operator).args if arg.tensor}
    assert tensors <= given, "examples are how per-sample arguments are checked"
