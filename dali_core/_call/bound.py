"""Calls of operators that are checked, converted, and placed on devices: ready to be performed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._call.expressions import Expressions
from dali_core._call.values import Caller, Value
from dali_core._spec import MAX_OUTPUTS, OpSpec
from dali_core.errors import ArgumentValueError, title_of


class Output(Expressions):
    """An output of a bound call that has not been performed."""

    __slots__ = ("device", "name", "owner")

    def __init__(self, name: str, device: str, owner: Caller) -> None:
        self.name = name
        self.device = device
        self.owner = owner


@dataclass(eq=False)
class BoundCall:
    """A call of an operator, ready to be performed.

    Attributes
    ----------
    spec : OpSpec
        The operator.
    location : str
        File and line of the user's program.
    inputs : sequence of Value
        Positional inputs: values that exist, or outputs of calls before it.
    arguments : dict
        Constant arguments with their defaults, checked.
    tensor_arguments : dict of str to Value
        Arguments that come with each sample.
    outputs : sequence of Output
        Its outputs.
    unless : Value, optional
        Scalars of booleans: the operator runs only for samples where they are False.
    """

    spec: OpSpec
    location: str
    inputs: Sequence[Value]
    arguments: dict[str, Any]
    tensor_arguments: dict[str, Value]
    outputs: Sequence[Output]
    unless: Value | None = None

    @property
    def device(self) -> str:
        """Where the operator runs: ``"cpu"`` or ``"gpu"``."""
        return self.arguments.get("device") or "cpu"


@dataclass(frozen=True)
class Read:
    """The use of a value that existed before a call.

    Attributes
    ----------
    what : str
        The input or argument, for messages.
    may_be_partial : bool
        Whether the value may exist for some of the samples only that the operator runs for.
    """

    what: str
    may_be_partial: bool


@dataclass(frozen=True)
class BoundCalls:
    """The calls that one call in the user's program stands for, in their order.

    Attributes
    ----------
    conditional : sequence of object
        Inputs and arguments of the user's call, as given, whose conditions it inherits.
    sources : sequence of BoundCall
        Calls that read no values: constants and readers. They come first.
    reads : mapping of Value to Read
        Values that existed before.
    calls : sequence of BoundCall
        All other calls.
    result : Output, list of Output, or None
        The result of the user's call.
    """

    conditional: Sequence[Any]
    sources: Sequence[BoundCall]
    reads: Mapping[Value, Read]
    calls: Sequence[BoundCall]
    result: Output | list[Output] | None


def make_call(
    spec: OpSpec,
    location: str,
    inputs: Sequence[Value],
    arguments: dict[str, Any],
    tensor_arguments: dict[str, Value],
    device: str,
    owner: Caller,
    unless: Value | None,
) -> tuple[BoundCall, Output | list[Output] | None]:
    """Make a call of what is checked and placed, with outputs on a device; return both.

    Raises
    ------
    ArgumentValueError
        If there are too many outputs.
    """
    count = spec.num_outputs(arguments, len(inputs))
    if count is not None and not 0 <= count <= MAX_OUTPUTS:
        raise ArgumentValueError(
            f"{title_of(spec.name)} at {location}: an operator must have at most {MAX_OUTPUTS} "
            f"outputs (got {count}). Give parts of one output instead."
        )
    outputs = [Output(spec.name, device, owner) for _ in range(1 if count is None else count)]
    call = BoundCall(spec, location, inputs, arguments, tensor_arguments, outputs, unless)
    return call, outputs[0] if count is None else outputs or None
