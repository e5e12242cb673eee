"""Shared parts of operator tests: small example calls, and different ways to run them.

Every test module of an operator has a list `EXAMPLES`; `test_suite.py` runs each of them through
the checks that all operators must pass.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core._registry.specs import all_specs
from dali_core.testing.examples import NUM_SAMPLES as NUM_SAMPLES
from dali_core.testing.examples import ODD_SIZES as ODD_SIZES
from dali_core.testing.examples import SEED as SEED
from dali_core.testing.examples import Example as Example
from dali_core.testing.examples import Input as Input
from dali_core.testing.examples import Result as Result
from dali_core.testing.examples import as_sample as as_sample
from dali_core.testing.examples import check_untouched as check_untouched
from dali_core.testing.examples import class_of as class_of
from dali_core.testing.examples import feed as feed
from dali_core.testing.examples import function_of as function_of
from dali_core.testing.examples import images as images
from dali_core.testing.examples import list_of as list_of
from dali_core.testing.examples import name_of_fed as name_of_fed
from dali_core.testing.examples import numbers as numbers
from dali_core.testing.examples import pipeline as pipeline
from dali_core.testing.examples import run as run
from dali_core.testing.examples import sources as sources

INTEGERS = ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"]
FLOATS = ["float16", "float32", "float64"]
ALL_TYPES = [*INTEGERS, *FLOATS, "bool"]


def type_of(dtype: str) -> types.DALIDataType:
    """Return the data type with the name of a NumPy type."""
    return types.to_dali_type(np.dtype(dtype))


def run_on(
    operator: str, samples: Sequence[np.ndarray], layout: str = "", **arguments: Any
) -> list[np.ndarray]:
    """Run an operator on one batch."""
    with pipeline(batch_size=len(samples)) as made:
        with made:
            data = fn.external_source(source=lambda: list(samples), layout=layout or None)
            made.set_outputs(function_of(operator)(data, **arguments))
        (batch,) = made.run()
        return [np.array(batch.at(i)) for i in range(len(samples))]


def shares_memory(operator: str, layout: str = "HWC", **arguments: Any) -> bool:
    """Return whether an operator passes uint8 images of 6 x 7 and 5 x 7 through without a copy."""
    # Outputs of one shape would be gathered in contiguous memory afterwards.
    samples = [numbers("uint8", (height, 7, 3), 0) for height in (6, 5)]
    with pipeline(batch_size=2) as made:
        with made:
            data = fn.external_source(source=lambda: samples, layout=layout)
            made.set_outputs(data, function_of(operator)(data, **arguments))
        before, after = made.run()
        return [tensor.data_ptr() for tensor in after] == [tensor.data_ptr() for tensor in before]


@cache
def find_examples(operator: str) -> tuple[Example, ...]:
    """Return the examples of an operator's test module; none if there is no such module.

    Raises
    ------
    pytest.skip.Exception
        If the module needs a package that is not installed.
    """
    *groups, name = operator.split(".")
    module = ".".join(("tests.operators", *groups, f"test_{name}"))
    try:
        found = importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the folder of the group is missing
        found = False
    return tuple(getattr(importlib.import_module(module), "EXAMPLES", ())) if found else ()


def present_names() -> list[str]:
    """Return the operators that are not deprecated names of others."""
    return [name for name, spec in all_specs().items() if not spec.deprecated]


def all_examples(selection: str = "") -> Iterator[tuple[str, Example]]:
    """Return the examples of all operators, except deprecated names.

    Examples that need a package that is not installed are left out. A `selection` that is part of
    the names of operators selects these, and no other test module is imported.
    """
    names = present_names()
    for operator in [name for name in names if selection in name] or names:
        try:
            examples = find_examples(operator)
        except pytest.skip.Exception:
            continue
        for example in examples:
            yield operator, example
