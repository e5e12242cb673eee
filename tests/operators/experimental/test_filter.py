"""The former name of filtering with windows of numbers."""

from __future__ import annotations

import pytest

from tests.operators import test_filter
from tests.operators.suite import Example, run

EXAMPLES = test_filter.EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_does_what_the_new_name_does(example: Example) -> None:
    assert not callable(example.arguments)
    arguments = dict(example.arguments)
    expected = run("filter", example, arguments)
    run("experimental.filter", example, arguments).check_equals(expected)
