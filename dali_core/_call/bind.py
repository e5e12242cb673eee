"""Binds calls in the user's program: expands, converts, checks and places them in one pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from dali_core._call.arguments import (
    check_arguments,
    check_inputs,
    check_names,
    given_arguments,
    is_array_argument,
)
from dali_core._call.bound import BoundCall, BoundCalls, Output, Read, num_outputs
from dali_core._call.device_decoding import decode_on_device, read_videos_on_device
from dali_core._call.devices import check_places, choose_device, output_device
from dali_core._call.input_sets import input_sets
from dali_core._call.location import user_location, warn_user
from dali_core._call.values import Value
from dali_core._constants import constant_arguments, is_constant
from dali_core._registry.specs import spec_of_role
from dali_core._spec import DeviceVideos, OpSpec, Source
from dali_core.errors import ArgumentTypeError, ArgumentValueError, title_of


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
        # What joins both sides of a branch belongs to where the branch begins.
        conditional = values[:1] if spec.joins else (*values, *keywords.values())
        binder = _Binder(location, replaces_failed)
        bound.append(binder.bound(spec, values, given, where, conditional))
    return bound


class _Binder:
    """Binds one call, and the calls that it needs."""

    def __init__(self, location: str, replaces_failed: bool | None) -> None:
        self.replaces_failed = replaces_failed
        self._location = location
        self._sources: list[BoundCall] = []
        self._reads: dict[Value, Read] = {}
        self._calls: list[BoundCall] = []
        self._unless: Value | None = None

    def bound(
        self,
        spec: OpSpec,
        inputs: tuple[Any, ...],
        given: dict[str, Any],
        where: str,
        conditional: Sequence[Any],
    ) -> BoundCalls:
        """Bind a call of the user's program; the arguments are those of `given_arguments`."""
        result = self._bind(spec, inputs, given, where)
        return BoundCalls(conditional, self._sources, self._reads, self._calls, result)

    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Bind a call that is needed for it."""
        where = f"{title_of(spec.title_for(keywords))} at {self._location}"
        return self._bind(spec, inputs, given_arguments(spec, keywords, where), where)

    @contextmanager
    def unless(self, value: Value) -> Iterator[None]:
        """Bind calls of operators that run only for samples where a value is False."""
        outside, self._unless = self._unless, value
        try:
            yield
        finally:
            self._unless = outside

    def _bind(
        self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any], where: str
    ) -> Any:
        wanted = keywords.get("device")
        is_moved = False
        if spec.moving is not None and isinstance(wanted, str) and wanted == spec.moving.device:
            is_moved = True
            decoded = self._decoded_on_device(spec, inputs, keywords, where)
            if decoded is not None:
                return decoded
            keywords = {**keywords, "device": "cpu"}
        inputs, keywords = self._rearranged(spec, inputs, keywords, where)
        values = self._values(spec, inputs, where)
        if spec.deprecated:
            warn_user(f"{where}: the operator is deprecated. Use {spec.deprecated}.")
        constants, tensors = self._arguments(spec, keywords, where)
        values = self._placed(spec, values, constants, tensors, where)
        result = self._added(spec, values, constants, tensors)
        if not is_moved or result is None:
            return result
        return [value.gpu() for value in result] if isinstance(result, list) else result.gpu()

    def _decoded_on_device(
        self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any], where: str
    ) -> Output | list[Output] | None:
        """Bind the calls that decode on a device; none if the host has to."""
        decode = spec.moving.decode if spec.moving is not None else None
        found = decode(keywords) if decode is not None else None
        if found is None or self.replaces_failed is None:
            return None
        if isinstance(found, DeviceVideos):
            return read_videos_on_device(self, found, keywords)
        return decode_on_device(self, found, self._values(spec, inputs, where), keywords)

    def _rearranged(
        self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any], where: str
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Rearrange inputs and arguments as the operator wants them."""
        if spec.bind is None:
            return inputs, keywords
        if spec.hands_to_reader:
            check_names(spec, keywords, where)
        try:
            bound: tuple[tuple[Any, ...], dict[str, Any]] = spec.bind(inputs, keywords)
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"{where}: {error}") from error
        return bound

    def _values(self, spec: OpSpec, inputs: tuple[Any, ...], where: str) -> list[Value]:
        """Make values of the inputs."""
        values: list[Any] = []
        for number, value in enumerate(inputs):
            if isinstance(value, Source):
                results = self.call(value.spec, (), value.keywords)
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
        try:
            return self.call(spec_of_role("constant tensor"), (), constant_arguments(value))
        except (ArgumentTypeError, ArgumentValueError) as error:
            raise type(error)(f"{what}: {error}") from error

    def _read(self, value: Value, what: str, *, may_be_partial: bool = False) -> None:
        if not isinstance(value, Output):
            self._reads.setdefault(value, Read(what, may_be_partial))

    def _arguments(
        self, spec: OpSpec, keywords: dict[str, Any], where: str
    ) -> tuple[dict[str, Any], dict[str, Value]]:
        """Check the arguments; return the constants, and those that come with each sample."""
        keywords = {
            name: self._value(value, f"{where}: argument {name!r}")
            if is_array_argument(spec, name, value)
            else value
            for name, value in keywords.items()
        }
        constants, tensors = check_arguments(spec, keywords, where)
        for name, value in tensors.items():
            self._read(value, f"{where}: argument {name!r}")
        return constants, tensors

    def _placed(
        self,
        spec: OpSpec,
        inputs: list[Value],
        constants: dict[str, Any],
        tensors: dict[str, Value],
        where: str,
    ) -> list[Value]:
        """Choose the device, move the inputs there, and add what depends on the whole batch."""
        device = choose_device(spec, constants.get("device"), inputs, where)
        if device == "gpu":
            constants["device"] = device
            if spec.input_device == "same":
                inputs = [self._on_device(value) for value in inputs]
        check_places(spec, device, inputs, tensors, where)
        if spec.batch_input is not None and len(inputs) == 1:
            found = spec.batch_input(constants)
            if found is not None:
                return [*inputs, self.call(found.spec, tuple(inputs), found.keywords)]
        return inputs

    def _on_device(self, value: Value) -> Value:
        if value.device == "gpu":
            return value
        moved: Value = self.call(spec_of_role("to device"), (value,), {})
        return moved

    def _added(
        self,
        spec: OpSpec,
        inputs: list[Value],
        constants: dict[str, Any],
        tensors: dict[str, Value],
    ) -> Output | list[Output] | None:
        count = num_outputs(spec, constants, len(inputs), self._location)
        device = output_device(spec, constants.get("device") or "cpu", inputs)
        outputs = [Output(spec.name, device, self) for _ in range(1 if count is None else count)]
        call = BoundCall(
            spec, self._location, inputs, constants, tensors, outputs, unless=self._unless
        )
        (self._calls if inputs or tensors else self._sources).append(call)
        return outputs[0] if count is None else outputs or None
