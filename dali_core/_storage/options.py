"""Options for reading objects, from `storage_options` and environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from dali_core.errors import ArgumentTypeError, ArgumentValueError


@dataclass(frozen=True)
class StorageOptions:
    """Limits of requests, and settings of the store.

    Attributes
    ----------
    max_in_flight : int
        How many requests run at a time.
    max_bytes_in_flight : int
        How many bytes their answers may have; a single one may have more. Objects of unknown size
        count as the mean of those that were read.
    timeout, deadline : float
        Seconds until a request is given up, and until it is not tried again.
    max_retries : int
        How often a request is tried again after errors of the server or the network.
    store : dict
        Everything else, for the store.
    """

    max_in_flight: int = 64
    max_bytes_in_flight: int = 256 << 20
    timeout: float = 30.0
    deadline: float = 60.0
    max_retries: int = 5
    store: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def from_argument(cls, given: Any) -> StorageOptions:
        """Check the argument `storage_options`.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If it is no dict, or a limit is no number above 0.
        """
        if given is None:
            return cls()
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise ArgumentTypeError(
                "storage_options must be a dict whose keys are strings (got "
                f"{type(given).__name__}). Pass the names and values of options."
            )
        own = {
            entry.name: _number(entry.name, given[entry.name], entry.default)
            for entry in fields(cls)
            if entry.name != "store" and entry.name in given
        }
        rest = {name: value for name, value in given.items() if name not in own}
        return cls(**own, store=rest)


def _number(name: str, value: Any, default: Any) -> Any:
    kinds = int if isinstance(default, int) else (int, float)
    is_number = isinstance(value, kinds) and not isinstance(value, bool)
    least = 0 if name == "max_retries" else 1e-3
    if not is_number or not least <= value <= 2**40:
        raise ArgumentValueError(
            f"storage_options: {name} must be {'an integer' if kinds is int else 'a number'} "
            f"{'of at least' if least == 0 else 'above'} 0 (got {value!r}). Change it."
        )
    return value
