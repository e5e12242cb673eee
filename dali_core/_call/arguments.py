"""Checks a call's inputs and keyword arguments against the operator's description."""

from __future__ import annotations

import difflib
import enum
import numbers
from collections.abc import Mapping, Sequence
from typing import Any, get_origin

from dali_core._call.location import warn_user
from dali_core._call.values import Value
from dali_core._constants import ScalarConstant
from dali_core._data_types import DALIDataType, to_dali_type
from dali_core._messages import shown
from dali_core._readers.order import READER_ARGS
from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec
from dali_core._texts import is_system_text
from dali_core.errors import (
    ArgumentFormError,
    ArgumentKeyError,
    ArgumentTypeError,
    ArgumentValueError,
)

_COMMON_ARGS = (
    Arg(
        "device",
        str,
        "Where to run: ``'cpu'``, ``'gpu'``, or for decoders ``'mixed'``, which gives images on "
        "the GPU. By default where the inputs are.",
        default=None,
    ),
    Arg("name", str, "Name of this operator in the graph; readers are found by it.", default=None),
    Arg("preserve", bool, "Keep the operator even if nothing uses its results.", default=False),
    Arg("bytes_per_sample_hint", list[int], "Accepted without effect.", default=None),
)
_SEED_ARG = Arg(
    "seed",
    int,
    "Seed of the operator's random numbers. By default it is derived from the pipeline's seed.",
    default=-1,
)


def all_args(spec: OpSpec) -> tuple[Arg, ...]:
    """List the operator's own arguments, then those that all such operators share."""
    reads = spec.reader is not None or spec.hands_to_reader
    shared: tuple[Arg, ...] = READER_ARGS if reads else (_SEED_ARG,) if spec.random else ()
    own = {arg.name for arg in spec.args}
    return (*spec.args, *(arg for arg in (*shared, *_COMMON_ARGS) if arg.name not in own))


def given_arguments(spec: OpSpec, keywords: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Leave out what counts as not given: None, and the seed of what draws no random numbers.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    keywords : mapping
        Keyword arguments of a call, or of a constructor.
    where : str
        The call, for messages.

    Returns
    -------
    dict
        The other arguments, unchecked.
    """
    given = {name: value for name, value in keywords.items() if value is not None}
    if "seed" in given and all(arg.name != "seed" for arg in all_args(spec)):
        del given["seed"]
        if not spec.is_source:  # as in the reference, which takes it there without a warning
            warn_user(
                f"{where}: argument 'seed' has no effect, since the operator draws no random "
                "numbers. Leave it out."
            )
    return given


def check_names(spec: OpSpec, given: Mapping[str, Any], where: str) -> None:
    """Check that an operator has all keyword arguments of a call.

    Raises
    ------
    ArgumentKeyError
        If one is unknown.
    """
    args = [arg.name for arg in all_args(spec)]
    for name in given:
        if name not in args:
            near = difflib.get_close_matches(name, args, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"It takes: {', '.join(args)}."
            raise ArgumentKeyError(f"{where}: unknown argument {name!r}. {hint}")


def check_inputs(spec: OpSpec, inputs: Sequence[Any], where: str) -> None:
    """Check the number of positional inputs of a call, and that they are values."""
    least, most = spec.input_range
    if spec.role == "fed":
        most = len(inputs)  # which `bind` has added
    if not least <= len(inputs) <= most:
        wanted = f"{least}" if least == most else f"{least} to {most}"
        raise ArgumentFormError(
            f"{where}: {wanted} inputs must be passed (got {len(inputs)}). "
            "Pass inputs by position and everything else by name."
        )
    for number, value in enumerate(inputs):
        if not isinstance(value, Value):
            raise ArgumentTypeError(
                f"{where}: input {number} must be a DataNode, the result of another operator, or a "
                f"number, a list or an array (got a {type(value).__name__}). Feed data in through "
                "fn.external_source."
            )


def is_array_argument(spec: OpSpec, name: str, value: Any) -> bool:
    """Return whether a value is an array of several dimensions, for an argument that may be one."""
    if isinstance(value, Value) or len(getattr(value, "shape", ())) < 2:
        return False
    arg = spec.arg(name)
    return arg is not None and arg.tensor


def check_arguments(
    spec: OpSpec, given: Mapping[str, Any], where: str
) -> tuple[dict[str, Any], dict[str, Value]]:
    """Split a call's keyword arguments into constants, with defaults filled in, and values.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    given : mapping
        Keyword arguments of the call. None means "not given".
    where : str
        The call, for messages.

    Returns
    -------
    constants : dict
        Arguments with one value for all samples. Those without a value are left out.
    tensors : dict of str to Value
        Arguments with one value for each sample.

    Raises
    ------
    ArgumentKeyError
        If an argument is unknown.
    ArgumentTypeError
        If an argument is missing or of the wrong type.
    ArgumentValueError
        If a value cannot be converted without loss.
    """
    args = {arg.name: arg for arg in all_args(spec)}
    if not args.keys() >= given.keys():
        check_names(spec, given, where)
    constants: dict[str, Any] = {}
    tensors: dict[str, Value] = {}
    for name, arg in args.items():
        value = given.get(name)
        if value is None:
            if arg.default is REQUIRED:
                raise ArgumentFormError(
                    f"{where}: argument {name!r} must be given ({_type_name(arg)}). {arg.doc}"
                )
            if arg.default is not UNSET and arg.default is not None:
                constants[name] = arg.default
        elif isinstance(value, Value):
            if not arg.tensor:
                raise ArgumentTypeError(
                    f"{where}: argument {name!r} must be the same for all samples "
                    f"({_type_name(arg)}; got the DataNode {value.name!r}). Pass a constant."
                )
            tensors[name] = value
        else:
            what = f"{where}: argument {name!r}"
            constants[name] = _convert(value, arg, what)
            _check_value(constants[name], arg, what)
        if value is not None and arg.deprecated:
            if given.get(arg.deprecated) is not None:
                raise ArgumentTypeError(
                    f"{where}: only one of the arguments {name!r} and {arg.deprecated!r}, which is "
                    "its new name, may be given (got both). Remove the former."
                )
            warn_user(f"{where}: argument {name!r} is deprecated. Use {arg.deprecated}.")
    _check_exclusions(args, given, where)
    _check_alternatives(args, given, where)
    return constants, tensors


def _check_alternatives(args: Mapping[str, Arg], given: Mapping[str, Any], where: str) -> None:
    for name, arg in args.items():
        if not arg.alternatives:
            continue
        names = [name, *arg.alternatives]
        found = [other for other in names if given.get(other) is not None]
        if len(found) != 1:
            raise ArgumentValueError(
                f"{where}: exactly one of the arguments {' and '.join(map(repr, names))} must be "
                f"given (got {' and '.join(map(repr, found)) or 'none'}). Pass one of them."
            )


def _check_exclusions(args: Mapping[str, Arg], given: Mapping[str, Any], where: str) -> None:
    for name in given:
        for other in args[name].excludes:
            if given[name] is not None and given.get(other) is not None:
                raise ArgumentValueError(
                    f"{where}: argument {name!r} must not be given together with {other!r} (got "
                    "both). Leave one out."
                )


def _type_name(arg: Arg) -> str:
    name: str = arg.item_type.__name__
    return f"a list of {name}" if get_origin(arg.type) is list else name


def _convert(value: Any, arg: Arg, what: str) -> Any:
    if arg.type is object:
        return value
    if isinstance(value, ScalarConstant):
        value = value.value
    if get_origin(arg.type) is list:
        if hasattr(value, "tolist"):
            value = value.tolist()
        if isinstance(value, (list, tuple)):
            if _is_plain(value, arg.item_type):
                return list(value)
            return [
                _convert_item(entry, arg, f"{what}, entry {i}") for i, entry in enumerate(value)
            ]
        return [_convert_item(value, arg, what)]
    return _convert_item(value, arg, what)


def _is_plain(values: Sequence[Any], kind: Any) -> bool:
    """Return whether all of what may be millions of entries are as they must be."""
    if kind not in (int, str) or set(map(type, values)) != {kind}:
        return False
    return kind is int or all(map(is_system_text, values))


def _convert_item(value: Any, arg: Arg, what: str) -> Any:
    if isinstance(value, ScalarConstant):
        value = value.value
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    try:
        converted = _convert_scalar(value, arg.item_type)
    except OverflowError as error:
        raise ArgumentValueError(
            f"{what} must be finite (got {shown(value)}). Pass a smaller number."
        ) from error
    if converted is None:
        # Python converts texts and numbers, and raises a ValueError for those that it cannot.
        is_convertible = isinstance(value, (str, bytes, bytearray, float))
        kind = ArgumentFormError if is_convertible else ArgumentTypeError
        raise kind(
            f"{what} must be {arg.item_type.__name__} (got {shown(value)}, a "
            f"{type(value).__name__}). Convert it."
        )
    if isinstance(converted, str) and not is_system_text(converted):
        raise ArgumentValueError(
            f"{what} must be text without NUL characters and lone surrogates (got {converted!r}). "
            "Remove them."
        )
    return converted


def _check_value(value: Any, arg: Arg, what: str) -> None:
    """Check a converted value, or each of a list, against what the argument may be."""
    entries = value if isinstance(value, list) else [value]
    if entries and not arg.choices and _are_allowed(entries, arg):
        entries = []
    for i, entry in enumerate(entries):
        if entry is DALIDataType.NO_TYPE and arg.default is UNSET:
            continue
        if arg.choices:
            if entry in arg.choices:
                continue
            rule, cure = _one_of(arg.choices), "Use one of them."
        elif isinstance(entry, DALIDataType):
            if 0 <= entry.value <= DALIDataType.BOOL.value:
                continue
            rule, cure = "a type of numbers", "Use a type such as types.FLOAT."
        elif isinstance(entry, (int, float)) and arg.limits is not None:
            if entry in arg.limits:
                continue
            rule = str(arg.limits) if arg.range and entry in arg.range else arg.rule
            cure = "Pass such a number."
        else:
            continue
        place = f"{what}, entry {i}" if isinstance(value, list) else what
        raise ArgumentValueError(f"{place} must be {rule} (got {_named(entry)}). {cure}")
    if isinstance(value, list) and len(value) not in arg.lengths:
        raise ArgumentValueError(
            f"{what} must have {arg.length_rule} (got {len(value)}). Pass as many."
        )


def _are_allowed(entries: list[Any], arg: Arg) -> bool:
    """Return whether entries, which may be millions, are plainly what the argument may be."""
    types = set(map(type, entries))
    if types == {int} and arg.limits is not None:
        return min(entries) in arg.limits and max(entries) in arg.limits
    return types == {str}


def _one_of(choices: Sequence[Any]) -> str:
    *most, last = map(_named, choices)
    return f"{', '.join(most)} or {last}" if most else last


def _named(value: Any) -> str:
    return value.name if isinstance(value, enum.Enum) else shown(value)


def _convert_scalar(value: Any, expected: Any) -> Any:
    """Return the value as the expected type, or None if it is of another kind."""
    if isinstance(expected, type) and issubclass(expected, enum.Enum):
        if isinstance(value, expected):
            return value
        if expected is DALIDataType and isinstance(value, type):
            return to_dali_type(value)
        return None
    if expected is str:
        return value if isinstance(value, str) else str(value) if _is_path(value) else None
    if expected is bool:
        return bool(value) if isinstance(value, (bool, int)) and value in (0, 1) else None
    if expected is int:
        is_whole = isinstance(value, float) and value.is_integer()
        return int(value) if is_whole or isinstance(value, numbers.Integral) else None
    if expected is float:
        return float(value) if isinstance(value, numbers.Real) else None
    return value if isinstance(value, expected) else None


def _is_path(value: Any) -> bool:
    return hasattr(value, "__fspath__")
