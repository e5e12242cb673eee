"""Templates: the bound calls of all calls of the same form."""

from __future__ import annotations

import enum
import itertools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from dali_core._call.bind import bind
from dali_core._call.bound import BoundCall, Output
from dali_core._call.values import Caller, Value
from dali_core._constants import ScalarConstant
from dali_core._spec import OpSpec

Key: TypeAlias = tuple[Any, ...]
Form: TypeAlias = tuple[OpSpec, tuple[Any, ...], dict[str, Any]]
"""A call with placeholders for its values."""

_MAX_TEMPLATES = 1024
_MAX_ENTRIES = 4096
_numbers = itertools.count()
_templates: dict[Key, Template] = {}


class Placeholder(Value):
    """Stands for a value of a call.

    Parameters
    ----------
    number : int
        Which of the values of the call.
    device : str
        Where the value is.
    """

    __slots__ = ("device", "name", "number", "owner")

    def __init__(self, number: int, device: str) -> None:
        self.number = number
        self.device = device
        self.name = f"value {number}"
        self.owner: Caller = _NO_CALLER


class _NoCaller:
    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Refuse: placeholders are not computed with."""
        raise NotImplementedError


_NO_CALLER = _NoCaller()


class Template:
    """The bound calls of a form.

    Attributes
    ----------
    spec : OpSpec
        The operator that the user calls.
    number : int
        Tells it from all other templates.
    calls : sequence of BoundCall
        In their order.
    sources : sequence of sequence of (int, int)
        For each call and each of its inputs and arguments that are values: the call and the output
        that it is, or -1 and the number of a value of the form.
    results : sequence of (int, int)
        Call and output of each result.
    is_list : bool
        Whether the form has several results, or none.
    num_random : int
        How many calls draw random numbers.
    """

    def __init__(self, form: Form) -> None:
        spec, inputs, keywords = form
        self.spec = spec
        (bound,) = bind(spec, inputs, keywords)
        self.number = next(_numbers)
        self.calls: Sequence[BoundCall] = [*bound.sources, *bound.calls]
        places = {
            output: (index, place)
            for index, call in enumerate(self.calls)
            for place, output in enumerate(call.outputs)
        }
        self.sources = [
            [_place(value, places) for value in (*call.inputs, *call.tensor_arguments.values())]
            for call in self.calls
        ]
        result = bound.result
        self.is_list = not isinstance(result, Output)
        results = result if isinstance(result, list) else [] if result is None else [result]
        self.results = [places[output] for output in results]
        self.num_random = sum(call.spec.random for call in self.calls)
        self.names = spec.output_names(keywords) if spec.output_names is not None else None


def _place(value: Value, places: dict[Output, tuple[int, int]]) -> tuple[int, int]:
    if isinstance(value, Placeholder):
        return -1, value.number
    assert isinstance(value, Output)
    return places[value]


def find_template(key: Key | None, form: Callable[[], Form]) -> Template:
    """Return the template of a form; it is made once for each key.

    Parameters
    ----------
    key : tuple, optional
        Tells forms apart; None for a form that cannot be told from others.
    form : callable
        Makes the form.
    """
    if key is None:
        return Template(form())
    found = _templates.get(key)
    if found is None:
        found = Template(form())
        if len(_templates) >= _MAX_TEMPLATES:
            _templates.clear()
        _templates[key] = found
    return found


def key_of(value: Any) -> Any:
    """Return what tells a constant argument from all others, as far as results depend on it.

    Raises
    ------
    TypeError
        If there is nothing such, and the form must not be kept.
    """
    kind = type(value)
    if kind in _PLAIN or isinstance(value, enum.Enum):
        return kind, value
    if kind is ScalarConstant:
        return kind, value.dtype, value.value
    if kind in (list, tuple):
        if len(value) > _MAX_ENTRIES:
            raise TypeError("too many entries")
        return kind, tuple(map(key_of, value))
    if hasattr(value, "tobytes") and getattr(value, "size", _MAX_ENTRIES + 1) <= _MAX_ENTRIES:
        return kind, str(value.dtype), value.shape, value.tobytes()
    raise TypeError("not a plain value")


_PLAIN = frozenset((int, float, str, bool, bytes, type(None)))
