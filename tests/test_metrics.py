"""Figures of pipelines, as Prometheus and OpenTelemetry read them."""

from __future__ import annotations

import gc
import re
import sys
import weakref

import pytest
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from prometheus_client import CollectorRegistry, generate_latest

from dali_core import Pipeline, fn, metrics, types
from dali_core._extras import install_command
from dali_core.errors import MissingModuleError


def flips(batch_size: int = 3) -> Pipeline:
    pipeline = Pipeline(batch_size, 2, None, seed=1, optimize=False)
    with pipeline:
        image = fn.random.uniform(range=[0, 255], shape=[6, 8, 3], dtype=types.UINT8)
        pipeline.set_outputs(fn.flip(fn.flip(image), horizontal=0, vertical=1))
    return pipeline


def expected(pipeline: Pipeline) -> dict[str, float]:
    """Return figures that do not change while nothing is taken, by their names."""
    consumer = pipeline.statistics().consumer
    return {
        "dali_core_batches_total": consumer.batches,
        "dali_core_samples_total": consumer.samples,
        "dali_core_ready_batches": consumer.mean_queue,
    }


def test_prometheus() -> None:
    registry = CollectorRegistry()
    pipelines = {"train": flips(), "valid": flips(2)}
    for name, pipeline in pipelines.items():
        metrics.prometheus(pipeline, name=name, registry=registry)
        for _ in range(4):
            pipeline.run()
    assert registry.get_sample_value("dali_core_samples_total", {"pipeline": "train"}) == 12
    assert registry.get_sample_value("dali_core_samples_total", {"pipeline": "valid"}) == 8
    for name, pipeline in pipelines.items():
        for figure, value in expected(pipeline).items():
            assert registry.get_sample_value(figure, {"pipeline": name}) == value
    waiting = {"pipeline": "train", "state": "waiting"}
    consumer = pipelines["train"].statistics().consumer
    assert registry.get_sample_value("dali_core_consumer_seconds_total", waiting) == pytest.approx(
        consumer.waiting + consumer.first_wait
    )
    text = generate_latest(registry).decode()
    assert "# TYPE dali_core_samples_total counter\n" in text
    assert "# TYPE dali_core_headroom_ratio gauge\n" in text
    # Both flips are one figure.
    line = 'dali_core_operator_samples_total{kind="native",operator="flip",pipeline="train"} '
    assert text.count(line) == 1
    assert float(text.partition(line)[2].split()[0]) >= 24


def test_prometheus_after_the_pipeline() -> None:
    registry = CollectorRegistry()
    pipeline = flips()
    collector = metrics.prometheus(pipeline, registry=registry)
    pipeline.run()
    reference = weakref.ref(pipeline)
    del pipeline
    gc.collect()
    assert reference() is None
    assert registry.get_sample_value("dali_core_samples_total", {"pipeline": "pipeline"}) is None
    registry.unregister(collector)
    assert generate_latest(registry) == b""


def read(reader: InMemoryMetricReader) -> dict[tuple[str, frozenset[tuple[str, object]]], float]:
    data = reader.get_metrics_data()
    assert data is not None
    return {
        (metric.name, frozenset(point.attributes.items())): point.value
        for resource in data.resource_metrics
        for scope in resource.scope_metrics
        for metric in scope.metrics
        for point in metric.data.data_points
    }


def test_opentelemetry() -> None:
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    pipeline = flips()
    metrics.opentelemetry(pipeline, name="train", meter=provider.get_meter("test"))
    for _ in range(4):
        pipeline.run()
    found = read(reader)
    of_pipeline = frozenset({("pipeline", "train")})
    for figure, value in expected(pipeline).items():
        assert found[figure, of_pipeline] == value
    assert found["dali_core_samples_total", of_pipeline] == 12
    of_flip = of_pipeline | {("operator", "flip"), ("kind", "native")}
    assert found["dali_core_operator_samples_total", of_flip] >= 24
    states = {
        dict(labels)["state"] for name, labels in found if name.endswith("thread_seconds_total")
    }
    assert states == {
        *("working", "waiting_for_consumer", "waiting_for_python", "waiting_for_files"),
        "waiting_for_others",
    }
    pipeline.reset_statistics()
    assert read(reader)["dali_core_samples_total", of_pipeline] == 0
    del pipeline
    gc.collect()
    provider.shutdown()


@pytest.mark.parametrize("name", ["opentelemetry", "prometheus"])
def test_packages_are_missing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("opentelemetry.metrics", "prometheus_client"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingModuleError, match=re.escape(install_command("metrics"))):
        getattr(metrics, name)(flips())
