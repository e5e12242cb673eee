"""Plans for pending calls: made once for each structure of calls, and kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from dali_core._execution.instantiation import make_operator, open_storages
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode, OperatorNode
from dali_core._graph.plan.execution_plan import StageKind
from dali_core._graph.plan.planner import make_plan
from dali_core._registry.specs import spec_of_role
from dali_core._runtime.executor import PreparedPlan
from dali_core._runtime.executor_config import ExecutorConfig, Instruction, SampleProgram
from dali_core._runtime.finalizer import Finalizer
from dali_core._storage import Storage
from dali_core.dynamic._templates import Template
from dali_core.errors import GraphError

Structure: TypeAlias = tuple[Any, ...]
"""For each call its template's number; for each of its values the call and the result, or -1 and
the number of a known value; and its seeds. Then the calls and results that are wanted."""

_MAX_PLANS = 256
_plans: dict[Structure, Plan] = {}


class Plan:
    """How to compute some results of pending calls.

    Parameters
    ----------
    templates : sequence of Template
        Those of the calls, in the order of the calls.
    structure : tuple
        How they are connected.

    Attributes
    ----------
    prepared : PreparedPlan
        The native form.
    given : list of (int, int)
        Ids of the values that are known, and their numbers.
    nodes : list of (int, BoundCall)
        By the numbers of nodes: which call each belongs to.
    random : list of (int, int)
        For each node the call and which of its random calls it is; -1 for none.
    nanoseconds : float
        How long the last computations took, per sample.
    """

    def __init__(self, templates: Sequence[Template], structure: Structure) -> None:
        calls, wanted = structure
        graph = Graph("calls outside of a pipeline")
        results: list[list[DataNode]] = []
        given: dict[int, DataNode] = {}
        owners: dict[OperatorNode, tuple[int, int]] = {}
        self._seeds: dict[OperatorNode, int] = {}

        def value(source: tuple[int, int]) -> DataNode:
            call, number = source
            if call >= 0:
                return results[call][number]
            if number not in given:
                spec = spec_of_role("parameter")
                given[number] = graph.add(spec, "", [], {}, {}, 1).outputs[0]
            return given[number]

        for index, (template, (_, sources, seeds)) in enumerate(zip(templates, calls, strict=True)):
            made: list[list[DataNode]] = []
            num_random = 0
            for call, places in zip(template.calls, template.sources, strict=True):
                values = [
                    value(sources[number]) if inner < 0 else made[inner][number]
                    for inner, number in places
                ]
                count = len(call.inputs)
                arguments = {name: v for name, v in call.arguments.items() if name != "name"}
                tensors = dict(zip(call.tensor_arguments, values[count:], strict=True))
                node = graph.add(
                    call.spec, call.location, values[:count], arguments, tensors, len(call.outputs)
                )
                if call.spec.random and seeds:
                    self._seeds[node], node.random_index = seeds[num_random]
                made.append(node.outputs)
                owners[node] = (index, num_random if call.spec.random else -1)
                num_random += call.spec.random
            results.append([made[call][output] for call, output in template.results])
        outputs = [results[call][number] for call, number in wanted]
        self._prepare(graph, outputs, given, owners)

    def _prepare(
        self,
        graph: Graph,
        outputs: Sequence[DataNode],
        given: dict[int, DataNode],
        owners: dict[OperatorNode, tuple[int, int]],
    ) -> None:
        plan = make_plan(outputs)
        nodes = [entry.node for stage in plan.stages for entry in stage.nodes]
        number = {node: i for i, node in enumerate(nodes)}
        storages = open_storages(nodes, {})
        if storages:
            self._stop = Finalizer(self, _stop, list(storages.values()))
        for storage in storages.values():
            storage.start()
        stages = []
        for stage in plan.stages:
            if stage.kind is not StageKind.SAMPLES:
                node = stage.nodes[0].node
                raise GraphError(
                    f"{node.where}: operators that run in Python or on a device cannot be called "
                    "outside of a pipeline. Use a pipeline for them."
                )
            instructions = [
                Instruction(
                    make_operator(entry.node, self._seeds.get(entry.node, 0), {}, {}, storages),
                    number[entry.node],
                    entry.inputs,
                    entry.arguments,
                    entry.outputs,
                    entry.releases,
                    entry.guards,
                    entry.reads_group,
                    entry.node.spec.joins,
                    stage.positions(entry.joint),
                )
                for entry in stage.nodes
            ]
            stages.append(SampleProgram(instructions, stage.chains, stage.regions))
        self.prepared = PreparedPlan(
            ExecutorConfig(
                stages=stages,
                outputs=plan.outputs,
                num_values=plan.num_values,
                num_readers=0,
                num_threads=1,
                joined_outputs=plan.joined_outputs,
                num_nodes=len(nodes),
            )
        )
        leaves = {node.source: place for place, node in given.items()}
        self.given = [(entry.outputs[0], leaves[entry.node]) for entry in plan.parameters]
        self.nodes = [(owners[node][0], node.operator) for node in nodes]
        self.random = [owners[node] for node in nodes]
        self.description = plan.describe()
        self.nanoseconds = 1e9


def _stop(storages: Sequence[Storage]) -> None:
    for storage in storages:
        storage.stop()


def find_plan(templates: Sequence[Template], structure: Structure) -> Plan:
    """Return the plan of a structure; it is made once.

    Parameters
    ----------
    templates : sequence of Template
        Those of the calls.
    structure : tuple
        How they are connected, and what is wanted.
    """
    found = _plans.get(structure)
    if found is None:
        found = Plan(templates, structure)
        while len(_plans) >= _MAX_PLANS:  # the oldest one first
            _plans.pop(next(iter(_plans)), None)
        _plans[structure] = found
    return found
