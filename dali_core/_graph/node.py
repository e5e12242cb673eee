"""Nodes of a graph: operators, and the values that flow between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NoReturn

from dali_core._call.devices import output_device
from dali_core._call.expressions import Expressions
from dali_core._call.location import user_location
from dali_core._call.values import Caller
from dali_core._data_types import DALIDataType
from dali_core._spec import OpSpec
from dali_core._storage.access import Access
from dali_core.errors import NodeUseError, title_of


@dataclass(eq=False, frozen=True)
class Condition:
    """One side of a branch: the samples for which a boolean says what is wanted.

    Attributes
    ----------
    predicate : DataNode
        Scalars of booleans.
    wanted : bool
        What they must be.
    is_inherited : bool
        Whether operators whose inputs have this condition get it, too, wherever they are called.
    """

    predicate: DataNode
    wanted: bool
    is_inherited: bool = False

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Condition)
            and self.predicate is other.predicate
            and self.wanted == other.wanted
        )

    def __hash__(self) -> int:
        return hash((id(self.predicate), self.wanted))

    def __str__(self) -> str:
        return self.predicate.name if self.wanted else f"not {self.predicate.name}"


@dataclass(eq=False)
class OperatorNode:
    """One use of an operator in a pipeline.

    Attributes
    ----------
    spec : OpSpec
        What the operator is.
    index : int
        Position among the operators of the pipeline, in the order of their calls.
    name : str
        Name of this use; unique in the pipeline.
    location : str
        File and line of the user's program.
    inputs : list of DataNode
        Positional inputs.
    arguments : dict
        Constant arguments with their defaults, checked.
    tensor_arguments : dict of str to DataNode
        Arguments that come with each sample.
    random_index : int
        Position among the operators that draw random numbers, or -1.
    conditions : tuple of Condition
        What must hold for a sample so that the operator runs, from the outermost one on.
    access : Access
        What it may open: everything, unless it comes from a document.
    """

    spec: OpSpec
    index: int
    name: str
    location: str
    inputs: list[DataNode]
    arguments: dict[str, Any]
    tensor_arguments: dict[str, DataNode]
    random_index: int = -1
    conditions: tuple[Condition, ...] = ()
    outputs: list[DataNode] = field(default_factory=list)
    access: Access = Access.PROGRAM

    @property
    def device(self) -> str:
        """Where the operator runs: ``"cpu"`` or ``"gpu"``."""
        return self.arguments.get("device") or "cpu"

    @property
    def output_device(self) -> str:
        """Where the results are."""
        return output_device(self.spec, self.device, self.inputs)

    @property
    def dependencies(self) -> list[DataNode]:
        """Everything that must be computed before: inputs, per-sample arguments, conditions."""
        conditions = [condition.predicate for condition in self.conditions]
        return [*self.inputs, *self.tensor_arguments.values(), *conditions]

    def is_within(self, conditions: Sequence[Condition]) -> bool:
        """Return whether the operator runs for all samples for which these conditions hold."""
        return self.conditions == tuple(conditions[: len(self.conditions)])

    @property
    def operator(self) -> str:
        """Name of the operator below `fn`, or in an expression, such as ``math.sin``."""
        return self.spec.title_for(self.arguments)

    @property
    def native_name(self) -> str:
        """Name of the native code that serves this use."""
        native = self.spec.native
        return (native.variant(self.arguments) if native.variant else "") or native.name

    @property
    def native_arguments(self) -> dict[str, Any]:
        """Constants for the native code."""
        return {**self.arguments, **self.spec.native.arguments}

    @property
    def opens_data(self) -> bool:
        """Whether starting it opens files, or lists them."""
        return self.spec.reader is not None or self.spec.arg("storage_options") is not None

    @property
    def opening_arguments(self) -> dict[str, Any]:
        """Constants for what opens the data of the operator."""
        return {**self.arguments, "access": self.access}

    @property
    def where(self) -> str:
        """How messages call this node."""
        return f"{title_of(self.operator)} at {self.location}"


class _NoIterable(type):
    """Class of a class that has `__iter__` only to raise an error that says what to do.

    `isinstance(value, collections.abc.Iterable)` looks into `__dict__`, where None stands for a
    method that there is not. Iterating does not, and calls the method.
    """

    def __getattribute__(cls, name: str) -> Any:
        found = super().__getattribute__(name)
        if name == "__dict__" and "__iter__" in found:
            return MappingProxyType({**found, "__iter__": None})
        return found


class DataNode(Expressions, metaclass=_NoIterable):
    """A value in the graph: one tensor for each sample, once the pipeline runs.

    Functions of `dali_core.fn` take and return such nodes while a pipeline is being defined.

    Attributes
    ----------
    name : str
        Name of the value.
    device : str
        Where it is: ``"cpu"`` or ``"gpu"``.
    source : OperatorNode
        The operator that computes it.
    index : int
        Which of its outputs it is.
    owner : Graph or Unattached
        The graph that it belongs to.
    """

    __slots__ = ("device", "index", "name", "owner", "source")

    def __init__(self, source: OperatorNode, index: int, owner: Caller) -> None:
        self.source = source
        self.index = index
        self.owner = owner
        self.device = source.output_device
        self.name = source.name if index == 0 else f"{source.name}[{index}]"

    @property
    def dtype(self) -> DALIDataType | None:
        """Type of the elements, if the operator's call says it; otherwise None."""
        value = self._said("dtype")
        return value if isinstance(value, DALIDataType) else None

    @property
    def ndim(self) -> int | None:
        """Number of dimensions of a sample, if the operator's call says it; otherwise None."""
        value = self._said("ndim")
        return value if isinstance(value, int) else None

    @property
    def layout(self) -> str | None:
        """Layout of a sample, if the operator's call says it; otherwise None."""
        value = self._said("layout")
        return value if isinstance(value, str) and value else None

    def _said(self, argument: str) -> Any:
        """Return the value of an argument that describes the operator's only output."""
        value = self.source.arguments.get(argument) if len(self.source.outputs) == 1 else None
        return value[0] if isinstance(value, list) and len(value) == 1 else value

    def __repr__(self) -> str:
        return f"DataNode(name={self.name!r}, device={self.device!r})"

    def __bool__(self) -> NoReturn:
        raise NodeUseError(
            f"DataNode at {user_location()}: {self.name!r} has no truth value while the pipeline "
            f"is being defined (made by {self.source.where}). To decide on data, pass "
            "enable_conditionals=True to pipeline_def, and use it in `if`, `a if b else c`, `and`, "
            "`or` or `not`, in a function whose source is in a file."
        )

    def __iter__(self) -> Iterator[DataNode]:
        raise NodeUseError(
            f"DataNode: {self.name!r} is one value and cannot be unpacked "
            f"(made by {self.source.where}). Check how many outputs the operator has."
        )
