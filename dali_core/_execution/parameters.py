"""Values that the program changes between batches, by batch."""

from __future__ import annotations

import math
from bisect import bisect_right, insort
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._constants import constant_arguments
from dali_core._graph.node import OperatorNode
from dali_core._messages import shown
from dali_core._runtime.step import is_count
from dali_core._types import DALIDataType, to_numpy_type
from dali_core.checkpoint.saved_state import SavedState
from dali_core.errors import ArgumentTypeError, ArgumentValueError, UnknownInputError, located


class Parameters:
    """The parameters of a pipeline, by their names.

    A change is kept with the number of the batch from which on it holds, so that batches in flight
    keep their values, and a pipeline that goes back gives them the same ones again.

    Parameters
    ----------
    nodes : iterable of OperatorNode
        Operators of the plan.
    """

    def __init__(self, nodes: Iterable[OperatorNode]) -> None:
        self._initial = {
            node.name: _initial(node) for node in nodes if node.spec.role == "parameter"
        }
        self._changes: dict[str, list[tuple[int, NDArray[Any]]]] = {
            name: [] for name in self._initial
        }

    def value(self, name: str, iteration: int) -> NDArray[Any]:
        """Return the value of a parameter in a batch."""
        changes = self._changes[name]
        place = bisect_right(changes, iteration, key=_first_batch)
        return changes[place - 1][1] if place else self._initial[name]

    def of_batch(self, iteration: int) -> Parameters:
        """Return the same parameters with the values of one batch, which do not change."""
        fixed = Parameters(())
        fixed._initial = {name: self.value(name, iteration) for name in self._initial}
        fixed._changes = {name: [] for name in self._initial}
        return fixed

    def set(self, name: str, value: Any, from_batch: int | None, next_batch: int) -> int:
        """Change a parameter; see `Pipeline.set_parameter`."""
        if name not in self._initial:
            raise UnknownInputError(
                f"Pipeline.set_parameter: name must be that of a parameter that the outputs depend "
                f"on (got {name!r}). There are: {', '.join(map(repr, self._initial)) or 'none'}."
            )
        where = f"Pipeline.set_parameter: {name!r}"
        first = next_batch if from_batch is None else from_batch
        if not hasattr(first, "__index__") or isinstance(first, bool):
            raise ArgumentTypeError(
                f"{where}: from_batch must be an integer (got {first!r}). Pass the number of a "
                "batch."
            )
        if first < next_batch:
            raise ArgumentValueError(
                f"{where}: from_batch must be at least {next_batch}, the first batch that has not "
                f"been started (got {first}). Batches in flight keep their values."
            )
        changed = _converted(value, self._initial[name], where)
        self._put(name, int(first), changed)
        return int(first)

    def state(self, first_batch: int) -> dict[str, list[list[Any]]]:
        """Describe all that matters from a batch on, as JSON has it."""
        described = {}
        for name, changes in self._changes.items():
            place = max(bisect_right(changes, first_batch, key=_first_batch) - 1, 0)
            if changes[place:]:
                described[name] = [[first, value.tolist()] for first, value in changes[place:]]
        return described

    def read(self, saved: SavedState) -> Mapping[str, Any]:
        """Check what a state says about parameters; without changes it need not say anything.

        Raises
        ------
        StateMismatchError
            If it is nothing that `state` gives for these parameters.
        """
        described = saved.get("parameters", dict) if "parameters" in saved else {}
        found: dict[str, list[tuple[int, NDArray[Any]]]] = {}
        for name, changes in described.items():
            what = f"parameter {shown(name)}"
            if name not in self._initial:
                raise saved.mismatch(
                    what,
                    f"one of {sorted(self._initial)}",
                    name,
                    "Give parameters their old names.",
                )
            found[name] = []
            for change in changes if isinstance(changes, list) else [changes]:
                is_pair = isinstance(change, list) and len(change) == 2 and is_count(change[0])
                if not is_pair or (found[name] and change[0] <= found[name][-1][0]):
                    raise saved.mismatch(what, "numbers of batches and values", changes)
                try:
                    value = _converted(change[1], self._initial[name], what)
                except (ArgumentTypeError, ArgumentValueError) as error:
                    raise saved.mismatch(
                        what, "such as its initial value", error, "Define it as it was then."
                    ) from error
                found[name].append((change[0], value))
        return described

    def restore(self, described: Mapping[str, Any]) -> None:
        """Resume with the changes that `state` or `read` returned."""
        self._changes = {
            name: [
                (first, _converted(value, initial, name))
                for first, value in described.get(name, ())
            ]
            for name, initial in self._initial.items()
        }

    def _put(self, name: str, first: int, value: NDArray[Any]) -> None:
        changes = [change for change in self._changes[name] if change[0] != first]
        insort(changes, (first, value), key=_first_batch)
        self._changes[name] = changes


def _first_batch(change: tuple[int, NDArray[Any]]) -> int:
    return change[0]


def _initial(node: OperatorNode) -> NDArray[Any]:
    arguments = node.arguments
    numbers = np.array(arguments["idata"] if "idata" in arguments else arguments["fdata"])
    dtype = DALIDataType.INT32 if "idata" in arguments else DALIDataType.FLOAT
    shape = arguments.get("shape", [len(numbers)])
    if math.prod(shape) != len(numbers):  # in a document; `parameter` describes values correctly
        raise ArgumentValueError(
            f"{node.where}: the initial value must have as many numbers as its shape (got "
            f"{len(numbers)} for {shape}). Fix the document."
        )
    array: NDArray[Any] = numbers.astype(to_numpy_type(arguments.get("dtype", dtype)))
    shaped: NDArray[Any] = array.reshape(shape)
    return shaped


def _converted(value: Any, like: NDArray[Any], where: str) -> NDArray[Any]:
    """Return a value with the type of another one, whose number of dimensions it must have."""
    with located(where):
        described = constant_arguments(value)
    given = np.array(described.get("idata", described.get("fdata")))
    with np.errstate(over="ignore", invalid="ignore"):
        array: NDArray[Any] = given.astype(like.dtype)
    rounds = like.dtype.kind == "f" and np.isfinite(array).all() == np.isfinite(given).all()
    is_lossy = not rounds and not np.array_equal(array, given)
    if is_lossy or len(described["shape"]) != like.ndim:
        raise ArgumentValueError(
            f"{where}: the value must have the type and number of dimensions of the initial value, "
            f"{like.dtype} with {like.ndim} (got {shown(value)}). Pass such a value, or another "
            "initial one."
        )
    shaped: NDArray[Any] = array.reshape(described["shape"])
    return shaped
