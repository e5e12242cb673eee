"""Writes a report about a pipeline: its graph, samples, statistics, plan and surroundings."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dali_core import cuda
from dali_core._execution.single_sample import Inspected
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.execution_plan import ExecutionPlan
from dali_core._runtime.native_code import simd_level
from dali_core.errors import DaliCoreError, title_of
from dali_core.inspection.calls import OperatorCall, operator_call
from dali_core.inspection.classes import class_histograms
from dali_core.inspection.encoding import encode_picture
from dali_core.inspection.epochs import epoch_strip
from dali_core.inspection.optional import require
from dali_core.inspection.performance import performance_of
from dali_core.inspection.preview import inspect_samples, write_page
from dali_core.inspection.rendering import render
from dali_core.inspection.samples import InspectedSample
from dali_core.inspection.svg import Drawing, draw_graph
from dali_core.statistics import PipelineStatistics

_PACKAGES = {
    "images": ("nvidia-nvimgcodec-cu12",),
    "audio": ("soundfile",),
    "video": ("av",),
    "FITS files": ("astropy",),
}
_NUM_KILO = 1000
_PAGE_MARGINS = 80  # pixels beside a graph


@dataclass(frozen=True)
class OperatorRow:
    """An operator in the table that says what the picture of the graph shows."""

    name: str
    call: OperatorCall
    inputs: str
    sizes: str


class Report:
    """A report that was written.

    Parameters
    ----------
    path : path
        The page.

    Attributes
    ----------
    path : Path
        The page, as an absolute path.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def open(self) -> bool:
        """Show the page in the browser of the user.

        Returns
        -------
        bool
            Whether a browser was found.
        """
        return webbrowser.open(self.path.as_uri())

    def __repr__(self) -> str:
        return f"Report({str(self.path)!r})"


def write_report(
    path: str | os.PathLike[str],
    inspected: Inspected,
    plan: ExecutionPlan,
    statistics: PipelineStatistics,
    samples: int | Sequence[int],
) -> Report:
    """Write a page about a pipeline; see `Pipeline.report`."""
    shown: list[InspectedSample] = []
    samples_error = ""
    try:
        shown = inspect_samples(inspected, samples, 0)
    except DaliCoreError as error:
        samples_error = str(error)
    markup = require("markupsafe", "Jinja2").Markup
    sizes = _sizes(inspected, shown)
    nodes = inspected.live_nodes
    graph = _graph(inspected, plan, statistics, sizes)
    strip = None if samples_error else epoch_strip(inspected)
    text = render(
        "report.html",
        shown,
        title="Report about a pipeline",
        made_at=datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M %Z"),
        graph=markup(graph.text),
        graph_width=round(graph.width) + _PAGE_MARGINS,
        operators=[_row(node, sizes) for node in nodes],
        statistics=statistics,
        performance=performance_of(statistics, {node.name: node for node in nodes}),
        strip=strip,
        strip_pictures=[encode_picture(picture) for picture in strip.pictures] if strip else [],
        histograms=class_histograms(inspected),
        plan=plan.describe(),
        environment=environment(inspected),
        samples_error=samples_error,
    )
    write_page(path, text)
    return Report(path)


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


def _sizes(inspected: Inspected, shown: Sequence[InspectedSample]) -> dict[DataNode, float]:
    """Return the mean size of each value that came into being, in bytes."""
    found: dict[str, list[int]] = {}
    for sample in shown:
        for step in sample.values():
            for value in step.values:
                found.setdefault(value.name, []).append(value.array.nbytes)
    return {
        value: sum(found[value.name]) / len(found[value.name])
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


def _row(node: OperatorNode, sizes: Mapping[DataNode, float]) -> OperatorRow:
    inputs = [value.name for value in node.inputs]
    inputs += [f"{name}={value.name}" for name, value in node.tensor_arguments.items()]
    inputs += [f"if {condition}" for condition in node.conditions]
    return OperatorRow(
        node.name,
        operator_call(node),
        ", ".join(inputs),
        ", ".join(
            f"{sizes[value] / _NUM_KILO:.4g}" if value in sizes else "not made"
            for value in node.outputs
        ),
    )


def _graph(
    inspected: Inspected,
    plan: ExecutionPlan,
    statistics: PipelineStatistics,
    sizes: Mapping[DataNode, float],
) -> Drawing:
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
    texts = {value: _bytes_text(size) for value, size in sizes.items()}
    return draw_graph(inspected.nodes, inspected.outputs, notes=notes, sizes=texts, groups=groups)
