"""Conversion of functions that decide on data, under the module name of NVIDIA DALI."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dali_core.pipeline.conditionals.conversion import convert_definition
from dali_core.pipeline.conditionals.marks import do_not_convert as do_not_convert


def convert(
    recursive: bool = False,
    user_requested: bool = True,
    **_: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that converts a function; what it calls is converted in any case."""
    return convert_definition
