"""Statistics as a report shows them: rates, bars of time, and the calls behind the operators."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dali_core._graph.node import OperatorNode
from dali_core.inspection.calls import OperatorCall, operator_call
from dali_core.statistics import OperatorStatistics, PipelineStatistics

_THREAD_STATES = {
    "working": "working",
    "waiting_for_consumer": "waiting for the training loop",
    "waiting_for_python": "waiting for Python or a device",
    "waiting_for_files": "waiting for files",
    "waiting_for_others": "waiting for other threads",
}


@dataclass(frozen=True)
class TimeShare:
    """A part of the time of the native threads.

    Attributes
    ----------
    state : str
        Attribute of `ThreadStatistics`, and class of the style sheet.
    text : str
        The state in words.
    seconds, share : float
        Time in it, over all threads, and that time divided by the time of all states.
    """

    state: str
    text: str
    seconds: float
    share: float


@dataclass(frozen=True)
class OperatorTimes:
    """Operators that run as one, with the calls that made them."""

    statistics: OperatorStatistics
    calls: tuple[OperatorCall, ...]


@dataclass(frozen=True)
class Performance:
    """Statistics of a pipeline as a report shows them.

    Attributes
    ----------
    samples_per_second, batches_per_second : float
        How fast the training loop got them, after the first batch; 0 if there were fewer than two.
    unit : str
        What samples are: ``"images"``, or ``"samples"``.
    threads : tuple of TimeShare
        What the native threads did.
    operators : tuple of OperatorTimes
        The operators, those with most time first.
    """

    samples_per_second: float
    batches_per_second: float
    unit: str
    threads: tuple[TimeShare, ...]
    operators: tuple[OperatorTimes, ...]


def performance_of(
    statistics: PipelineStatistics, nodes: Mapping[str, OperatorNode]
) -> Performance:
    """Prepare statistics for a report; `nodes` are the operators by their names."""
    consumer = statistics.consumer
    samples, batches = rates(statistics)
    states = {state: getattr(statistics.threads, state) for state in _THREAD_STATES}
    total = sum(states.values()) or 1.0
    has_images = any(node.operator.startswith("decoders.image") for node in nodes.values())
    return Performance(
        samples,
        batches,
        "images" if has_images else "samples",
        tuple(
            TimeShare(state, _THREAD_STATES[state], seconds, seconds / total)
            for state, seconds in states.items()
            if consumer.batches and seconds > 0
        ),
        tuple(
            OperatorTimes(
                entry, tuple(operator_call(nodes[name]) for name in entry.nodes if name in nodes)
            )
            for entry in statistics.operators
        ),
    )


def rates(statistics: PipelineStatistics) -> tuple[float, float]:
    """Return samples and batches per second that the training loop got, after the first batch."""
    consumer = statistics.consumer
    seconds = consumer.waiting + consumer.working
    if consumer.batches < 2 or seconds <= 0:
        return 0.0, 0.0
    batches = (consumer.batches - 1) / seconds
    return batches * consumer.samples / consumer.batches, batches
