"""State of a running pipeline as the live view shows it, and as another process reads it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NoReturn

from dali_core.errors import ArgumentValueError
from dali_core.statistics import PipelineStatistics

_VERSION = 1
_LONGEST_TEXT = 2000
_MOST_OPERATORS = 1000


@dataclass(frozen=True)
class Snapshot:
    """Counters of a pipeline since its start, at one time.

    Attributes
    ----------
    program : str
        Name of the program.
    time : float
        When they were read: seconds since 1970.
    seconds : float
        Length of the time in which they were counted.
    batches, samples : int
        What the training loop has taken.
    waiting, working : float
        Seconds in which it waited for a batch, and in which it did something else.
    queued : float
        Sum, over the batches but the first, of how many were ready when one was asked for.
    depth : int
        The most that can be ready.
    operators : mapping of str to float
        Seconds in operators, by their names.
    diagnosis : str
        What limits the loop.
    """

    program: str
    time: float
    seconds: float
    batches: int
    samples: int
    waiting: float
    working: float
    queued: float
    depth: int
    operators: Mapping[str, float]
    diagnosis: str

    @classmethod
    def of(cls, statistics: PipelineStatistics, program: str, time: float) -> Snapshot:
        """Take what is shown from the statistics of a pipeline."""
        consumer = statistics.consumer
        operators: dict[str, float] = {}
        for entry in statistics.operators:
            operators[entry.name] = operators.get(entry.name, 0.0) + entry.seconds
        return cls(
            program=program,
            time=time,
            seconds=statistics.seconds,
            batches=consumer.batches,
            samples=consumer.samples,
            waiting=consumer.waiting,
            working=consumer.working,
            queued=consumer.mean_queue * max(0, consumer.batches - 1),
            depth=consumer.depth,
            operators=operators,
            diagnosis=statistics.diagnosis(),
        )

    def since(self, before: Snapshot | None) -> Snapshot:
        """Return what was counted after an earlier snapshot, or everything after a reset."""
        if before is None or before.batches > self.batches or before.seconds > self.seconds:
            return self
        operators = {
            name: max(0.0, seconds - before.operators.get(name, 0.0))
            for name, seconds in self.operators.items()
        }
        return Snapshot(
            program=self.program,
            time=self.time,
            seconds=self.seconds - before.seconds,
            batches=self.batches - before.batches,
            samples=self.samples - before.samples,
            waiting=max(0.0, self.waiting - before.waiting),
            working=max(0.0, self.working - before.working),
            queued=max(0.0, self.queued - before.queued),
            depth=self.depth,
            operators=operators,
            diagnosis=self.diagnosis,
        )

    def to_json(self) -> bytes:
        """Write it for another process."""
        return json.dumps({"version": _VERSION, **asdict(self)}).encode()

    @classmethod
    def from_json(cls, data: bytes) -> Snapshot:
        """Read what `to_json` has written.

        Raises
        ------
        ArgumentValueError
            If it is anything else.
        """
        try:
            document = json.loads(data, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise _not_a_snapshot(f"{type(error).__name__}") from error
        if not isinstance(document, dict) or document.pop("version", None) != _VERSION:
            raise _not_a_snapshot("another version")
        names = {field.name for field in fields(cls)}
        if set(document) != names:
            raise _not_a_snapshot(f"the keys {sorted(map(str, document))}"[:_LONGEST_TEXT])
        checks = {"str": _is_text, "int": _is_count, "float": _is_number}
        for field in fields(cls):
            check = checks.get(str(field.type), _are_times)
            if not check(document[field.name]):
                raise _not_a_snapshot(f"a wrong {field.name}")
        return cls(**document)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _not_a_snapshot(found: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"monitoring: the file must be the state of a running pipeline (got {found}). Use the same "
        "version of dali_core in both processes."
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_TEXT


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and 0 <= value < 1e18 and math.isfinite(value)


def _are_times(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and len(value) <= _MOST_OPERATORS
        and all(_is_text(name) and _is_number(seconds) for name, seconds in value.items())
    )
