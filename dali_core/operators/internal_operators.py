"""Operators by their roles, and groups of which nothing is in `fn`.

A lookup here imports no descriptions of operators.
"""

from __future__ import annotations

OPERATORS_OF_ROLES = {
    "array function": "array_function",
    "constant tensor": "constant",
    "expression": "arithmetic",
    "fed": "experimental.inputs.video",
    "index": "subscript",
    "merge": "conditional.merge",
    "mixture": "readers.mixture",
    "parameter": "parameter_value",
    "predicate": "conditional.predicate",
    "property": "get_property",
    "shape": "shapes",
    "to device": "device_copies.to_device",
    "to host": "device_copies.to_host",
}

INTERNAL_GROUPS = ("conditional", "device_copies", "video")
"""Groups of operators that only other operators and expressions use."""

FORMER_IDENTITIES = {
    "moves.to_device": "device_copies.to_device",
    "moves.to_host": "device_copies.to_host",
}
"""Names of internal operators in documents of earlier versions."""
