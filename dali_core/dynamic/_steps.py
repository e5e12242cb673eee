"""Steps of loops over readers: their computations, and those that are started ahead.

If two steps have computed the same with their samples, the next ones probably will: the same
structure of calls, on the outputs of the reader and on values that do not change. What is computed
ahead is used if a step asks for exactly that; otherwise it is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.executor import Batch
from dali_core._runtime.tensor_list import TensorListCPU

if TYPE_CHECKING:
    from dali_core.dynamic._plans import Plan, Structure

Leaf: TypeAlias = "int | TensorListCPU"
"""A known value of a computation: the number of an output of the reader, or the value itself."""


@dataclass(frozen=True)
class Computed:
    """A computation of a step.

    Attributes
    ----------
    structure : tuple
        Its structure.
    plan : Plan
        Its plan.
    leaves : sequence of Leaf
        Its known values.
    """

    structure: Structure
    plan: Plan
    leaves: Sequence[Leaf]

    def is_like(self, other: Computed) -> bool:
        """Return whether another step has computed the same with its own samples."""
        return (
            self.structure == other.structure
            and len(self.leaves) == len(other.leaves)
            and all(
                one == two if isinstance(one, int) or isinstance(two, int) else one is two
                for one, two in zip(self.leaves, other.leaves, strict=True)
            )
        )


@dataclass(eq=False)
class Step:
    """One step of a loop over a reader.

    Attributes
    ----------
    outputs : sequence of TensorListCPU
        What the reader has given.
    size : int, optional
        Samples in the batch; None for single samples.
    token : object
        Unique to the step; it does not keep its data alive.
    """

    outputs: Sequence[TensorListCPU] = ()
    size: int | None = None
    token: object = field(default_factory=object)
    _computed: list[Computed] = field(default_factory=list)
    _ahead: list[tuple[Computed, list[TensorListCPU], Batch]] = field(default_factory=list)

    def note(
        self, structure: Structure, plan: Plan, leaves: Sequence[TensorListCPU], size: int | None
    ) -> None:
        """Note what was computed, if the next steps might do the same."""
        if size != self.size:
            return
        numbers = {id(data): number for number, data in enumerate(self.outputs)}
        described: list[Leaf] = [numbers.get(id(data), data) for data in leaves]
        if any(isinstance(leaf, int) for leaf in described):
            self._computed.append(Computed(structure, plan, described))

    def like(self, before: Step) -> list[Computed]:
        """List what this step and the one before have both computed."""
        return [
            computed
            for computed in self._computed
            if any(computed.is_like(other) for other in before._computed)
        ]

    def start(self, program: Sequence[Computed], ids: SampleIds, executor: Any) -> None:
        """Start what this step will probably compute, if that was not done."""
        known = [computed for computed, _, _ in self._ahead]
        for computed in program:
            if any(computed.is_like(other) for other in known):
                continue
            leaves = [
                self.outputs[leaf] if isinstance(leaf, int) else leaf for leaf in computed.leaves
            ]
            plan = computed.plan
            given = [(value, leaves[number]) for value, number in plan.given]
            size = 1 if self.size is None else self.size
            batch = executor.start(plan.prepared, size, ids, [], given, False)
            self._ahead.append((computed, leaves, batch))

    def take(self, structure: Structure, leaves: Sequence[TensorListCPU]) -> Batch | None:
        """Return what was started ahead; None if it was not."""
        for number, (computed, own, batch) in enumerate(self._ahead):
            if computed.structure == structure and all(
                one is two for one, two in zip(own, leaves, strict=True)
            ):
                del self._ahead[number]
                return batch
        return None
