"""Comparisons and differences for each operator and argument."""

from __future__ import annotations

import datetime
import platform
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import dali_core
from tests.conformance.recording import Call, Comparison


@dataclass
class Tally:
    """Numbers of comparisons and largest differences.

    Attributes
    ----------
    comparisons : int
        Batches whose numbers were compared.
    random : int
        Batches of random numbers, of which only type and layout can be compared.
    unlike : int
        Batches of another type, shape or layout than the reference's.
    integer, wide, floating : float, optional
        Largest difference of two elements.
    integer_places : float, optional
        Largest share of the integers of a batch that differ.
    wide_share, floating_share, half_share : float, optional
        Largest difference as a share of the largest number in the batch, also for 16-bit floats.
    """

    comparisons: int = 0
    random: int = 0
    unlike: int = 0
    integer: float | None = None
    integer_places: float | None = None
    wide: float | None = None
    wide_share: float | None = None
    floating: float | None = None
    floating_share: float | None = None
    half_share: float | None = None

    def add(self, comparison: Comparison) -> None:
        found = comparison.found
        if comparison.origin.is_random and found.same_kind:
            self.random += 1
        elif not found.is_alike:
            self.unlike += 1
        else:
            self.comparisons += 1
            if found.kind != "half":
                self._enlarge(found.kind, found.largest)
            if found.kind == "integer":
                self._enlarge("integer_places", found.share)
            else:
                self._enlarge(f"{found.kind}_share", found.relative)

    def _enlarge(self, name: str, value: float) -> None:
        setattr(self, name, max(getattr(self, name) or 0.0, value))

    def as_dict(self) -> dict[str, Any]:
        return {name: shown(value) for name, value in vars(self).items() if value is not None}


def shown(value: float) -> float | int | str:
    """Round to three digits; JSON has no infinity."""
    if np.isinf(value):
        return "infinite"
    return int(value) if value == int(value) else float(f"{value:.2e}")


@dataclass
class OperatorTally:
    """Comparisons of one operator; arguments as (name, whether it was per sample)."""

    call: Tally = field(default_factory=Tally)
    behind: Tally = field(default_factory=Tally)
    arguments: dict[tuple[str, bool], Tally] = field(default_factory=dict)
    arguments_behind: dict[tuple[str, bool], Tally] = field(default_factory=dict)

    def add(self, call: Call, comparison: Comparison, *, is_last: bool) -> None:
        (self.call if is_last else self.behind).add(comparison)
        arguments = self.arguments if is_last else self.arguments_behind
        for name, text in call.arguments.items():
            arguments.setdefault((name, text is None), Tally()).add(comparison)

    def as_dict(self) -> dict[str, Any]:
        arguments: dict[str, Any] = {}
        for place, tallies in (("last", self.arguments), ("behind", self.arguments_behind)):
            for (name, per_sample), tally in sorted(tallies.items()):
                entry = arguments.setdefault(name, {})
                form = entry.setdefault("per_sample" if per_sample else "constant", {})
                form[place] = tally.as_dict()
        return {
            "last": self.call.as_dict(),
            "behind": self.behind.as_dict(),
            "arguments": dict(sorted(arguments.items())),
        }


class Report:
    """Collects the comparisons of all tests."""

    def __init__(self) -> None:
        self.num_tests = 0
        self._operators: dict[str, OperatorTally] = {}

    def add(self, comparisons: Iterable[Comparison]) -> None:
        """Add the comparisons of a test that passed."""
        self.num_tests += 1
        for comparison in comparisons:
            last = comparison.origin.last
            if last is not None:
                self._of(last).add(last, comparison, is_last=True)
            for call in comparison.origin.before:
                self._of(call).add(call, comparison, is_last=False)

    def _of(self, call: Call) -> OperatorTally:
        return self._operators.setdefault(call.operator, OperatorTally())

    def as_dict(self, reference: Any) -> dict[str, Any]:
        """Return everything as plain values."""
        return {
            "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
            "versions": {
                "dali_core": dali_core.__version__,
                "NVIDIA DALI": reference.__version__,
                "NumPy": np.__version__,
                "Python": platform.python_version(),
                "processor": platform.machine(),
            },
            "tests": self.num_tests,
            "reference": reference_operators(reference),
            "reference_on_device": reference_on_device(reference),
            "operators": {name: tally.as_dict() for name, tally in sorted(self._operators.items())},
        }


def reference_operators(reference: Any) -> dict[str, Any]:
    """Return the reference's operators that run on the CPU, with their arguments."""
    from tests.conformance.recording import functions_below

    backend = reference.backend
    on_cpu = set(backend.RegisteredCPUOps())
    operators = {}
    for module, name, path in functions_below(reference.fn):
        schema_name = getattr(getattr(module, name), "_schema_name", None)
        if ".hidden." in f".{path}" or schema_name is None:
            continue
        schema = backend.GetSchema(schema_name)
        if schema_name not in on_cpu and not runs_in_python(path):
            continue
        operators[path] = {
            "deprecated": schema.DeprecatedInFavorOf() if schema.IsDeprecated() else None,
            "arguments": {
                argument: {
                    "per_sample": schema.IsTensorArgument(argument),
                    "deprecated": schema.IsDeprecatedArg(argument),
                }
                for argument in sorted(schema.GetArgumentNames())
            },
        }
    return dict(sorted(operators.items()))


def reference_on_device(reference: Any) -> list[str]:
    """Return the reference's operators that run on a GPU or decode for one, under current names."""
    from tests.conformance.recording import functions_below

    backend = reference.backend
    on_device = {*backend.RegisteredGPUOps(), *backend.RegisteredMixedOps()}
    return sorted(
        path
        for module, name, path in functions_below(reference.fn)
        if (schema_name := getattr(getattr(module, name), "_schema_name", None)) in on_device
        and ".hidden." not in f".{path}"
        and not backend.GetSchema(schema_name).IsDeprecated()
    )


def runs_in_python(path: str) -> bool:
    """Return whether an operator of the reference that is not registered runs on the CPU anyway."""
    return path in ("python_function", "readers.tfrecord")
