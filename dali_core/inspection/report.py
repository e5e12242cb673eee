"""Writes a report about a pipeline: its graph, samples, statistics, plan and surroundings."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dali_core import cuda
from dali_core._execution.single_sample import Inspected
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan
from dali_core._runtime.native_code import simd_level
from dali_core.errors import DaliCoreError, title_of
from dali_core.inspection.optional import require
from dali_core.inspection.preview import inspect_samples, write_page
from dali_core.inspection.rendering import render
from dali_core.inspection.samples import InspectedSample
from dali_core.inspection.svg import to_svg
from dali_core.statistics import PipelineStatistics

_PACKAGES = {
    "images": ("nvidia-nvimgcodec-cu12",),
    "audio": ("soundfile",),
    "video": ("av",),
    "FITS files": ("astropy",),
}
_NUM_KILO = 1000


@dataclass(frozen=True)
class OperatorRow:
    """An operator in the table that says what the picture of the graph shows."""

    name: str
    operator: str
    location: str
    inputs: str
    sizes: str


def write_report(
    path: str | os.PathLike[str],
    inspected: Inspected,
    plan: ExecutionPlan,
    statistics: PipelineStatistics,
    samples: int | Sequence[int],
) -> None:
    """Write a page about a pipeline; see `Pipeline.report`."""
    shown: list[InspectedSample] = []
    samples_error = ""
    try:
        shown = inspect_samples(inspected, samples, 0)
    except DaliCoreError as error:
        samples_error = str(error)
    markup = require("markupsafe", "Jinja2").Markup
    sizes = _sizes(inspected, shown)
    text = render(
        "report.html",
        shown,
        title="Report about a pipeline",
        made_at=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        graph=markup(_graph(inspected, plan, statistics, sizes)),
        operators=[_row(node, sizes) for node in inspected.live_nodes],
        statistics=statistics,
        plan=plan.describe(),
        environment=environment(inspected),
        samples_error=samples_error,
    )
    write_page(path, text)


def environment(inspected: Inspected) -> dict[str, str]:
    """Describe where a pipeline runs: versions, processor, codecs and GPUs."""
    options = inspected.options
    found = {
        # Imported already, as this is part of it.
        "dali_core": str(sys.modules["dali_core"].__dict__["__version__"]),
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "NumPy": np.__version__,
        "Operating system": platform.platform(),
        "Processors": f"{len(os.sched_getaffinity(0))} of {os.cpu_count()} may be used",
        "Vector instructions": simd_level(),
        "GPU": _gpus(),
    }
    for what, packages in _PACKAGES.items():
        found[f"Decoding {what}"] = ", ".join(f"{name} {_version(name)}" for name in packages)
    return found | {
        "Batch size": str(options.batching.largest),
        "Native threads": str(options.num_threads),
        "Seed": str(options.seed),
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _gpus() -> str:
    if not cuda.is_available():
        return "no"
    return ", ".join(cuda.device_name(number) for number in range(cuda.device_count()))


def _sizes(inspected: Inspected, shown: Sequence[InspectedSample]) -> dict[DataNode, str]:
    """Return the mean size of each value that came into being."""
    found: dict[str, list[int]] = {}
    for sample in shown:
        for step in sample.values():
            for value in step.values:
                found.setdefault(value.name, []).append(value.array.nbytes)
    return {
        value: _bytes_text(sum(found[value.name]) / len(found[value.name]))
        for node in inspected.live_nodes
        for value in node.outputs
        if value.name in found
    }


def _bytes_text(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < _NUM_KILO:
            return f"{size:.3g} {unit}"
        size /= _NUM_KILO
    return f"{size:.3g} GB"


def _time_text(seconds: float) -> str:
    if seconds < 1e-4:
        return f"{1e6 * seconds:.3g} us"
    return f"{1e3 * seconds:.3g} ms"


def _row(node: OperatorNode, sizes: Mapping[DataNode, str]) -> OperatorRow:
    inputs = [value.name for value in node.inputs]
    inputs += [f"{name}={value.name}" for name, value in node.tensor_arguments.items()]
    inputs += [f"if {condition}" for condition in node.conditions]
    return OperatorRow(
        node.name,
        title_of(node.operator),
        node.location,
        ", ".join(inputs),
        ", ".join(sizes.get(value, "not made") for value in node.outputs),
    )


def _graph(
    inspected: Inspected,
    plan: ExecutionPlan,
    statistics: PipelineStatistics,
    sizes: Mapping[DataNode, str],
) -> str:
    by_name = {node.name: node for node in inspected.live_nodes}
    chains = [
        [stage.nodes[i].node for i in chain]
        for stage in plan.stages
        for chain in [*stage.chains, *stage.regions]
    ]
    notes: dict[OperatorNode, str] = {}
    for entry in statistics.operators:
        nodes = [by_name[name] for name in entry.nodes if name in by_name]
        if nodes:
            together = "together " if len(nodes) > 1 else ""
            notes[nodes[-1]] = f"{together}{_time_text(entry.median)}"
    groups = [
        (chain, f"run as one: {', '.join(title_of(node.operator) for node in chain)}")
        for chain in chains
    ]
    return to_svg(inspected.nodes, inspected.outputs, notes=notes, sizes=sizes, groups=groups)
