"""Metrics of running pipelines for Prometheus and OpenTelemetry; the extra is ``metrics``.

Both read `Pipeline.statistics` whenever the metrics are collected, and cost nothing in between.
Names, units and labels are the same:

============================================= ============ ==========================
name                                          unit         labels
============================================= ============ ==========================
``dali_core_batches_total``                   batches
``dali_core_samples_total``                   samples
``dali_core_consumer_seconds_total``          seconds      ``state``
``dali_core_thread_seconds_total``            seconds      ``state``
``dali_core_operator_seconds_total``          seconds      ``operator``, ``kind``
``dali_core_operator_samples_total``          samples      ``operator``, ``kind``
``dali_core_operator_output_bytes_total``     bytes        ``operator``, ``kind``
``dali_core_headroom_ratio``                  1
``dali_core_ready_batches``                   batches
============================================= ============ ==========================

All have the label ``pipeline``, too. Counters start again with `Pipeline.reset_statistics`, as
those of a process that was started again.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from dali_core._extras import install_command
from dali_core.errors import MissingModuleError
from dali_core.pipeline import Pipeline
from dali_core.statistics import PipelineStatistics

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Meter, Observation
    from prometheus_client.core import Metric
    from prometheus_client.registry import Collector, CollectorRegistry

__all__ = ["opentelemetry", "prometheus"]

_PREFIX = "dali_core_"

Values = Iterator[tuple[Mapping[str, str], float]]


@dataclass(frozen=True)
class _Instrument:
    """One metric: its name without prefix and suffix, its description, and its source."""

    name: str
    doc: str
    unit: str
    labels: tuple[str, ...]
    read: Callable[[PipelineStatistics], Values]
    is_counter: bool = True


def prometheus(
    pipeline: Pipeline, *, name: str = "pipeline", registry: CollectorRegistry | None = None
) -> Collector:
    """Let a registry of prometheus_client collect the metrics of a pipeline.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline. It is not kept alive; once it is gone, it has no metrics.
    name : str
        Value of the label ``pipeline``; another one for each pipeline of a process.
    registry : CollectorRegistry, optional
        By default that of the process, which ``prometheus_client.start_http_server`` serves.

    Returns
    -------
    Collector
        To be given to ``registry.unregister``.

    Raises
    ------
    MissingModuleError
        If prometheus_client is not installed.

    Examples
    --------
    >>> from dali_core import metrics
    >>> metrics.prometheus(pipeline)
    >>> prometheus_client.start_http_server(8000)
    """
    try:
        from prometheus_client import REGISTRY
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
        from prometheus_client.registry import Collector as Base
    except ImportError as error:
        raise _missing("prometheus", "prometheus_client") from error
    reference = weakref.ref(pipeline)

    class PipelineCollector(Base):  # type: ignore[misc, unused-ignore]
        """Reads the statistics of a pipeline."""

        def collect(self) -> Iterable[Metric]:
            """Return all metrics as they are now."""
            running = reference()
            statistics = running.statistics() if running is not None else None
            for instrument in _INSTRUMENTS:
                kind = CounterMetricFamily if instrument.is_counter else GaugeMetricFamily
                family = kind(
                    f"{_PREFIX}{instrument.name}",
                    instrument.doc,
                    labels=["pipeline", *instrument.labels],
                )
                for labels, value in instrument.read(statistics) if statistics is not None else ():
                    family.add_metric([name, *(labels[key] for key in instrument.labels)], value)
                yield family

        def describe(self) -> Iterable[Metric]:
            """Return no names: several pipelines have the same ones."""
            return ()

    collector = PipelineCollector()
    (REGISTRY if registry is None else registry).register(collector)
    return collector


def opentelemetry(
    pipeline: Pipeline, *, name: str = "pipeline", meter: Meter | None = None
) -> None:
    """Make observable instruments of OpenTelemetry for the metrics of a pipeline.

    Parameters
    ----------
    pipeline : Pipeline
        The pipeline. It is not kept alive; once it is gone, it has no metrics.
    name : str
        Value of the attribute ``pipeline``; another one for each pipeline of a process.
    meter : Meter, optional
        What makes the instruments; by default the global provider's meter ``dali_core``.

    Raises
    ------
    MissingModuleError
        If opentelemetry-api is not installed.

    Examples
    --------
    >>> from dali_core import metrics
    >>> metrics.opentelemetry(pipeline)
    """
    try:
        from opentelemetry.metrics import Observation, get_meter
    except ImportError as error:
        raise _missing("opentelemetry", "opentelemetry-api") from error
    reference = weakref.ref(pipeline)
    chosen = get_meter("dali_core") if meter is None else meter

    def observe(instrument: _Instrument) -> Callable[[CallbackOptions], Iterable[Observation]]:
        def callback(options: CallbackOptions) -> Iterable[Observation]:
            running = reference()
            if running is None:
                return
            for labels, value in instrument.read(running.statistics()):
                yield Observation(value, {"pipeline": name, **labels})

        return callback

    for instrument in _INSTRUMENTS:
        suffix = "_total" if instrument.is_counter else ""
        make: Any = (
            chosen.create_observable_counter
            if instrument.is_counter
            else chosen.create_observable_gauge
        )
        make(
            f"{_PREFIX}{instrument.name}{suffix}",
            callbacks=[observe(instrument)],
            unit=instrument.unit,
            description=instrument.doc,
        )


def _missing(function: str, package: str) -> MissingModuleError:
    return MissingModuleError(
        f"metrics.{function} needs {package} (got none). Run {install_command('metrics')}.",
        name=package,
    )


def _single(read: Callable[[PipelineStatistics], float]) -> Callable[[PipelineStatistics], Values]:
    return lambda statistics: iter([({}, read(statistics))])


def _consumer_seconds(statistics: PipelineStatistics) -> Values:
    consumer = statistics.consumer
    yield {"state": "waiting"}, consumer.waiting + consumer.first_wait
    yield {"state": "working"}, consumer.working


def _thread_seconds(statistics: PipelineStatistics) -> Values:
    for field in fields(statistics.threads):
        if field.name != "num_threads":
            yield {"state": field.name}, getattr(statistics.threads, field.name)


def _of_operators(attribute: str) -> Callable[[PipelineStatistics], Values]:
    def read(statistics: PipelineStatistics) -> Values:
        # Operators of the same name, such as two flips, are one metric.
        sums: dict[tuple[str, str], float] = {}
        for entry in statistics.operators:
            key = (entry.name, entry.kind)
            sums[key] = sums.get(key, 0) + getattr(entry, attribute)
        for (operator, kind), value in sums.items():
            yield {"operator": operator, "kind": kind}, value

    return read


_OPERATOR = ("operator", "kind")
_INSTRUMENTS = (
    _Instrument(
        "batches",
        "Batches that the consumer took.",
        "{batch}",
        (),
        _single(lambda statistics: statistics.consumer.batches),
    ),
    _Instrument(
        "samples",
        "Samples in these batches.",
        "{sample}",
        (),
        _single(lambda statistics: statistics.consumer.samples),
    ),
    _Instrument(
        "consumer_seconds",
        "Time in which the consumer waited for batches, or worked on its own.",
        "s",
        ("state",),
        _consumer_seconds,
    ),
    _Instrument(
        "thread_seconds",
        "Time of the native threads by what they did, or waited for.",
        "s",
        ("state",),
        _thread_seconds,
    ),
    _Instrument(
        "operator_seconds",
        "Time in operators, over all threads.",
        "s",
        _OPERATOR,
        _of_operators("seconds"),
    ),
    _Instrument(
        "operator_samples",
        "Samples that operators have computed.",
        "{sample}",
        _OPERATOR,
        _of_operators("samples"),
    ),
    _Instrument(
        "operator_output_bytes",
        "Size of the outputs of native operators.",
        "By",
        _OPERATOR,
        _of_operators("bytes_out"),
    ),
    _Instrument(
        "headroom_ratio",
        "How many times as fast as they are taken batches could be made.",
        "1",
        (),
        _single(lambda statistics: statistics.headroom),
        is_counter=False,
    ),
    _Instrument(
        "ready_batches",
        "Batches that were done when one was asked for, on average.",
        "{batch}",
        (),
        _single(lambda statistics: statistics.consumer.mean_queue),
        is_counter=False,
    ),
)
