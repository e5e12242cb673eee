"""Operators by their roles, and groups of which nothing is in `fn`.

A lookup here imports no descriptions of operators.
"""

from __future__ import annotations

OPERATORS_OF_ROLES = {
    "array function": "array_function",
    "expression": "arithmetic",
    "fed": "experimental.inputs.video",
    "index": "subscript",
    "literal": "constant",
    "merge": "conditional.merge",
    "mixture": "readers.mixture",
    "parameter": "parameter_value",
    "predicate": "conditional.predicate",
    "property": "get_property",
    "shape": "shapes",
    "to device": "moves.to_device",
    "to host": "moves.to_host",
}

INTERNAL_GROUPS = ("conditional", "moves", "video")
"""Groups of operators that only other operators and expressions use."""
