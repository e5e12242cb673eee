"""Binds calls in the user's program: expands, converts, checks and places them in one pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dali_core._call.arguments import (
    check_arguments,
    check_inputs,
    check_names,
    given_arguments,
    is_array_argument,
)
from dali_core._call.bound import BoundCall, BoundCalls, Output, Read, make_call
from dali_core._call.device_decoding import decode_on_device, read_videos_on_device
from dali_core._call.devices import check_places, choose_device, output_device
from dali_core._call.input_sets import input_sets
from dali_core._call.location import user_location, warn_user
from dali_core._call.values import Value
from dali_core._constants import constant_arguments, is_constant
from dali_core._registry.specs import spec_of_role
from dali_core._spec import DeviceVideos, Moving, OpSpec, Source
from dali_core.errors import located, title_of


def bind(
    spec: OpSpec,
    inputs: tuple[Any, ...],
    keywords: dict[str, Any],
    *,
    replaces_failed: bool | None = None,
) -> list[BoundCalls]:
    """Bind a call of an operator.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    inputs : tuple
        Positional inputs: values, or numbers, lists and arrays, which become constants. For lists
        of values, the operator is called once for each of their entries.
    keywords : dict
        Keyword arguments.
    replaces_failed : bool, optional
        Whether good samples take the place of bad ones. By default that is unknown, and nothing is
        decoded on a device.

    Returns
    -------
    list of BoundCalls
        One, or one for each entry of lists.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If inputs or arguments do not fit the operator.
    """
    location = user_location()
    where = f"{title_of(spec.title_for(keywords))} at {location}"
    given = given_arguments(spec, keywords, where)
    bound = []
    for number, values in enumerate(input_sets(spec, inputs, where)):
        if number == 1:  # only the first may have the name
            given = {name: value for name, value in given.items() if name != "name"}
        bound.append(_Binder(location, replaces_failed).bound(spec, values, given, where))
    return bound


class _Binder:
    """Binds one call, and the calls that it needs.

    A call of the user's program may stand for several; each of them for an operator, after others
    that its inputs need: constants, copies to the device, facts about the whole batch.
    """

    def __init__(self, location: str, replaces_failed: bool | None) -> None:
        self.replaces_failed = replaces_failed
        self._location = location
        self._sources: list[BoundCall] = []
        self._reads: dict[Value, Read] = {}
        self._calls: list[BoundCall] = []
        self._unless: Value | None = None

    def bound(
        self, spec: OpSpec, inputs: tuple[Any, ...], given: dict[str, Any], where: str
    ) -> BoundCalls:
        """Bind a call of the user's program; the arguments are those of `given_arguments`."""
        wanted = given.get("device")
        if spec.moving is None or not isinstance(wanted, str) or wanted != spec.moving.device:
            result = self._finished(spec, inputs, given, where)
        else:
            result = self._moved(spec, spec.moving, inputs, given, where)
        # What joins both sides of a branch belongs to where the branch begins.
        conditional = inputs[:1] if spec.joins else (*inputs, *given.values())
        return BoundCalls(conditional, self._sources, self._reads, self._calls, result)

    def _moved(
        self,
        spec: OpSpec,
        moving: Moving,
        inputs: tuple[Any, ...],
        keywords: dict[str, Any],
        where: str,
    ) -> Any:
        """Bind the calls that decode on a device, or else on the host, and move the results."""
        how = moving.decode(keywords) if moving.decode is not None else None
        decoded: Any = None
        if how is not None and self.replaces_failed is not None:
            if isinstance(how, DeviceVideos):
                decoded = read_videos_on_device(self, how, keywords)
            else:
                values = self._values(spec, inputs, where)
                decoded = decode_on_device(self, how, values, keywords)
        if decoded is not None:
            return decoded
        result = self._finished(spec, inputs, {**keywords, "device": "cpu"}, where)
        return [value.gpu() for value in result] if isinstance(result, list) else result.gpu()

    def _finished(
        self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any], where: str
    ) -> Any:
        """Bind a call, and the calls that make its results of its outputs."""
        outputs = self._call(spec, inputs, keywords, where)
        return outputs if spec.finish is None else spec.finish(self, outputs, keywords)

    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Bind a call that is needed for that of the user's program."""
        where = f"{title_of(spec.title_for(keywords))} at {self._location}"
        return self._call(spec, inputs, given_arguments(spec, keywords, where), where)

    @contextmanager
    def unless(self, value: Value) -> Iterator[None]:
        """Bind calls of operators that run only for samples where a value is False."""
        outside, self._unless = self._unless, value
        try:
            yield
        finally:
            self._unless = outside

    def _call(
        self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any], where: str
    ) -> Any:
        """Bind a call of an operator: rearrange, convert, check and place what it gets."""
        if spec.bind is not None:
            inputs, keywords = self._rearranged(spec, spec.bind, inputs, keywords, where)
        values = self._values(spec, inputs, where)
        if spec.deprecated:
            warn_user(f"{where}: the operator is deprecated. Use {spec.deprecated}.")
        keywords = {
            name: self._value(value, f"{where}: argument {name!r}")
            if is_array_argument(spec, name, value)
            else value
            for name, value in keywords.items()
        }
        constants, tensors = check_arguments(spec, keywords, where)
        return self._placed(spec, values, constants, tensors, where)

    def _rearranged(
        self,
        spec: OpSpec,
        rearrange: Callable[..., Any],
        inputs: tuple[Any, ...],
        keywords: dict[str, Any],
        where: str,
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Rearrange inputs and arguments as the operator wants them."""
        if spec.hands_to_reader:
            check_names(spec, keywords, where)
        with located(where):
            bound: tuple[tuple[Any, ...], dict[str, Any]] = rearrange(inputs, keywords)
        return bound

    def _values(self, spec: OpSpec, inputs: tuple[Any, ...], where: str) -> list[Value]:
        """Make values of the inputs."""
        values: list[Any] = []
        for number, value in enumerate(inputs):
            if isinstance(value, Source):
                results = self._needed(value, [])
                values += results if isinstance(results, list) else [results]
            else:
                values.append(self._value(value, f"{where}: input {number}"))
        check_inputs(spec, values, where)
        for number, value in enumerate(values):
            self._read(value, f"{where}: input {number}", may_be_partial=spec.joins)
        return values

    def _value(self, value: Any, what: str) -> Any:
        """Make a value of a number, a list or an array."""
        if isinstance(value, Value) or not is_constant(value):
            return value
        with located(what):
            constant = Source(spec_of_role("constant tensor"), constant_arguments(value))
            return self._needed(constant, [])

    def _read(self, value: Value, what: str, *, may_be_partial: bool = False) -> None:
        if not isinstance(value, Output):
            self._reads.setdefault(value, Read(what, may_be_partial))

    def _needed(self, source: Source, inputs: list[Value]) -> Any:
        """Bind a call that gives an input of another one, from values that are checked."""
        spec, keywords = source.spec, source.keywords
        where = f"{title_of(spec.title_for(keywords))} at {self._location}"
        constants, tensors = check_arguments(spec, given_arguments(spec, keywords, where), where)
        return self._placed(spec, inputs, constants, tensors, where)

    def _placed(
        self,
        spec: OpSpec,
        inputs: list[Value],
        constants: dict[str, Any],
        tensors: dict[str, Value],
        where: str,
    ) -> Any:
        """Choose the device, move the inputs there, and add what depends on the whole batch."""
        for name, value in tensors.items():
            self._read(value, f"{where}: argument {name!r}")
        device = choose_device(spec, constants.get("device"), inputs, where)
        if device == "gpu":
            constants["device"] = device
            if spec.input_device == "same":
                to_device = Source(spec_of_role("to device"), {})
                inputs = [
                    value if value.device == "gpu" else self._needed(to_device, [value])
                    for value in inputs
                ]
        check_places(spec, device, inputs, tensors, where)
        if spec.batch_input is not None and len(inputs) == 1:
            found = spec.batch_input(constants)
            if found is not None:
                inputs = [*inputs, self._needed(found, inputs)]
        device = output_device(spec, device, inputs)
        call, result = make_call(
            spec, self._location, inputs, constants, tensors, device, self, self._unless
        )
        (self._calls if inputs or tensors else self._sources).append(call)
        return result
