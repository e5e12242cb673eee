"""Arguments that all operators have which call a function of the user."""

from __future__ import annotations

import numbers
from typing import Any

from dali_core._spec import MAX_OUTPUTS, Arg, Range

FUNCTION_ARGS = (
    Arg("function", object, "What to call: with one argument for each input."),
    Arg(
        "num_outputs",
        int,
        "How many results the function returns.",
        1,
        range=Range(0, MAX_OUTPUTS),
    ),
    Arg(
        "output_layouts",
        list[str],
        "Layout of all outputs, or a list of one each; if that is shorter, the others have none.",
        None,
    ),
    Arg(
        "preserve",
        bool,
        "Call the function even if nothing uses its results, since it may do something else.",
        True,
    ),
)


def num_results(arguments: dict[str, Any]) -> int | None:
    """Return the number of outputs; None if it is one, which is not in a list then."""
    return None if arguments["num_outputs"] == 1 else int(arguments["num_outputs"])


def bind_layouts(inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """Return the layouts of all outputs, if there is one for all."""
    layouts = keywords.get("output_layouts")
    count = keywords.get("num_outputs", 1)
    # A number that is out of range is refused later, by the check of all arguments.
    is_number = isinstance(count, numbers.Integral) and 0 < int(count) <= MAX_OUTPUTS
    if isinstance(layouts, str) and is_number:
        keywords = {**keywords, "output_layouts": [layouts] * int(count)}
    return inputs, keywords
