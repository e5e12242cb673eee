"""The base of tensors and batches: values that are known, or results of pending calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._call.expressions import Expressions, arithmetic, subscript
from dali_core._call.location import user_frame, user_location
from dali_core._constants import ScalarConstant, is_array
from dali_core._data_types import DALIDataType
from dali_core._registry.specs import spec_of_role
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._spec import OpSpec
from dali_core.dynamic._calls import Call, Result, evaluate, started
from dali_core.dynamic._conversion import conversions
from dali_core.dynamic._rng import RNG, Draws, Seeds, generator
from dali_core.dynamic._templates import Form, Placeholder, Template, find_template, key_of
from dali_core.errors import ArgumentTypeError, ArgumentValueError, title_of


class _Caller:
    def call(self, spec: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Call an operator on values."""
        return call_operator(spec, inputs, keywords)


_CALLER = _Caller()


class Lazy(Result, Expressions):
    """A tensor or a batch: data that is there, or the result of a pending call.

    Attributes
    ----------
    name : str
        How messages call it.
    device : str
        Where it is.
    """

    __slots__ = ()

    owner = _CALLER

    @property
    def name(self) -> str:  # type: ignore[override]
        return type(self).__name__

    def _known(self, data: TensorListCPU, size: int | None, ids: SampleIds | None = None) -> Any:
        """Make it a value that is known."""
        self._call = None
        self._data = data
        self._size = size
        self._ids = ids
        self._index = 0
        self._users = []
        return self

    def _list(self) -> TensorListCPU:
        """Return the data; compute it if that is not done."""
        data = self._data
        if data is None:
            evaluate([self])
            data = self._data
            assert data is not None
        return data

    def evaluate(self: Any) -> Any:
        """Compute the data, if that has not been done yet, and return this object."""
        self._list()
        return self

    def _computed(self, function: str, *operands: Any) -> Any:
        values: list[Lazy] = []
        key: list[Any] = ["math", function]
        for operand in operands:
            kind = type(operand)
            if isinstance(operand, Lazy):
                values.append(operand)
                key.append(None)
            elif kind is int and -(2**31) <= operand < 2**31:
                key.append((_INT, operand))
            elif kind is float:
                key.append((_FLOAT, operand))
            else:
                entry = _operand(operand, function)
                if isinstance(entry, Lazy):
                    values.append(entry)
                    key.append(None)
                else:
                    key.append(entry)

        def form() -> Form:
            numbers = iter(range(len(values)))
            return arithmetic(
                function,
                *(
                    Placeholder(next(numbers), "cpu")
                    if entry is None
                    else ScalarConstant(entry[1], entry[0])
                    for entry in key[2:]
                ),
            )

        return perform(find_template(tuple(key), form), values)


_INT, _FLOAT = DALIDataType.INT32, DALIDataType.FLOAT


def _operand(operand: Any, function: str) -> Any:
    """Return type and value of a number of an expression, or a tensor."""
    if type(operand) is int:
        raise _too_large(operand, function)
    if isinstance(operand, bool):
        operand = ScalarConstant(operand)
    if isinstance(operand, ScalarConstant):
        return operand.dtype, operand.value
    if operand is None or isinstance(operand, (str, bytes)):
        raise ArgumentTypeError(
            f"{title_of('math.' + function)} at {user_location()}: operands must be tensors, "
            f"batches, numbers, lists or arrays (got {operand!r:.60}). Convert it."
        )
    return conversions.as_tensor(operand)


def _too_large(value: int, function: str) -> Exception:
    return IntegerRangeError(
        f"{title_of('math.' + function)} at {user_location()}: integers must fit into 32 bits (got "
        f"{value}). Pass a NumPy number of a wider type."
    )


class IntegerRangeError(ArgumentValueError, OverflowError):
    """An integer does not fit into the type that it gets."""


def call_operator(
    spec: OpSpec,
    inputs: Sequence[Any],
    keywords: Mapping[str, Any],
    batch_size: int | None = None,
    rng: RNG | None = None,
) -> Any:
    """Call an operator: check what can be checked, and return its results, which are pending.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    inputs : sequence of object
        Tensors, batches, numbers, lists or arrays.
    keywords : mapping
        Keyword arguments.
    batch_size : int, optional
        Number of samples of the result; by default that of the batches among the values.
    rng : RNG, optional
        Where random numbers come from; by default the generator of the thread.

    Returns
    -------
    Tensor, Batch, tuple or dict of these, or None
        The results: batches if any value is one, or `batch_size` is given.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If inputs or arguments do not fit the operator.
    """
    where = ""
    values: list[Lazy] = []
    for number, given in enumerate(inputs):
        if isinstance(given, Lazy):
            values.append(given)
            continue
        where = where or f"{title_of(spec.title_for(dict(keywords)))} at {user_location()}"
        values.append(conversions.as_input(given, f"{where}: input {number}"))
    num_inputs = len(values)
    names: list[str] = []
    constants: dict[str, Any] = {}
    # The template keeps the description alive, so that no other one gets its number.
    key: list[Any] | None = [id(spec), num_inputs]
    for name, argument in keywords.items():
        if argument is None:
            continue
        value = _argument(spec, name, argument)
        if isinstance(value, Lazy):
            names.append(name)
            values.append(value)
            continue
        constants[name] = value
        if key is not None:
            try:
                key.append((name, key_of(value)))
            except TypeError:
                key = None
    if key is not None:
        key.append(tuple(names))

    def form() -> Form:
        placed = [Placeholder(number, "cpu") for number in range(len(values))]
        return (
            spec,
            tuple(placed[:num_inputs]),
            {**constants, **dict(zip(names, placed[num_inputs:], strict=True))},
        )

    template = find_template(None if key is None else tuple(key), form)
    return perform(template, values, batch_size, rng)


def _argument(spec: OpSpec, name: str, value: Any) -> Any:
    """Return a value that differs by sample, or a constant."""
    if not isinstance(value, Lazy):
        if hasattr(value, "type_id"):
            return value.type_id
        if is_array(value) and getattr(value, "ndim", 0) == 0 and hasattr(value, "item"):
            return value.item()
        return value
    arg = spec.arg(name)
    if value._size is not None or (arg is not None and arg.tensor):
        return value
    # The same for all samples, of an argument that no operator takes by sample.
    data: Any = value
    return data.item() if data.ndim == 0 else data.__array__().tolist()


def perform(
    template: Template,
    values: Sequence[Lazy],
    batch_size: int | None = None,
    rng: RNG | None = None,
) -> Any:
    """Make a call of a template on values, and return its results."""
    size: int | None = None
    ids: SampleIds | None = None
    for value in values:
        if value._size is None:
            continue
        if size is None:
            size = value._size
        elif size != value._size:
            raise _different_sizes(template, size, value._size)
        if ids is None:
            ids = value._ids
    if batch_size is not None:
        if size is not None and size != batch_size:
            raise _different_sizes(template, batch_size, size)
        size = batch_size
    if size is None:
        ids = next((value._ids for value in values if value._ids is not None), None)
    draws: Draws = ()
    seeds: Seeds = ()
    if template.num_random:
        source = generator(rng)
        if ids is None:
            draws = source.draws(template.num_random)
        else:
            seeds = source.seeds(template.num_random, ids)
    call = Call(template, values, size, ids, draws, seeds, user_frame())
    kind: type[Lazy] = _TENSOR if size is None else _BATCH
    results = []
    for index in range(len(template.results)):
        result = kind.__new__(kind)
        result._call = call
        result._data = None
        result._size = size
        result._ids = ids
        result._index = index
        result._users = []
        results.append(result)
    started(call, results)
    if template.names is not None:
        return dict(zip(template.names, results, strict=True))
    if template.is_list:
        return tuple(results) if results else None
    return results[0]


def _different_sizes(template: Template, one: int, other: int) -> ArgumentValueError:
    operator = template.calls[-1].spec.title_for(template.calls[-1].arguments)
    return ArgumentValueError(
        f"{title_of(operator)} at {user_location()}: all batches must have the same number of "
        f"samples, which is batch_size if that is given (got {one} and {other}). Select samples, "
        "or pass a tensor for all samples."
    )


def index_inside(value: Lazy, entries: Any) -> Any:
    """Take elements of every sample, as ``sample[entries]``."""
    entries = entries if isinstance(entries, tuple) else (entries,)
    values: list[Lazy] = [value]
    described = tuple(_entry(entry, values) for entry in entries)
    key = ("index", described)

    def form() -> Form:
        placed = [Placeholder(number, "cpu") for number in range(len(values))]
        spec, inputs, keywords = subscript(
            placed[0], tuple(_restored(entry, placed) for entry in described)
        )
        return spec, inputs, keywords

    return perform(find_template(key, form), values)


def _entry(entry: Any, values: list[Lazy]) -> Any:
    if isinstance(entry, slice):
        return ("slice", *(_bound(v, values) for v in (entry.start, entry.stop, entry.step)))
    if entry is Ellipsis:
        return "..."
    if entry is None:
        raise ArgumentTypeError(
            f"slice at {user_location()}: indices must be integers, slices or an ellipsis (got "
            "None). Use fn.expand_dims for a new dimension."
        )
    return _bound(entry, values)


def _bound(bound: Any, values: list[Lazy]) -> Any:
    if bound is None:
        return None
    if isinstance(bound, Lazy):
        values.append(bound)
        return ("value", len(values) - 1)
    import operator

    try:
        return operator.index(bound)
    except TypeError as error:
        raise ArgumentTypeError(
            f"slice at {user_location()}: indices must be integers (got {bound!r:.60}, a "
            f"{type(bound).__name__}). Convert it."
        ) from error


def _restored(entry: Any, placed: Sequence[Placeholder]) -> Any:
    if isinstance(entry, str):
        return Ellipsis
    if isinstance(entry, tuple) and entry[0] == "slice":
        return slice(*(_restored(bound, placed) for bound in entry[1:]))
    if isinstance(entry, tuple):
        return placed[entry[1]]
    return entry


_TENSOR: type[Lazy]
_BATCH: type[Lazy]


def set_kinds(tensor: type[Lazy], batch: type[Lazy]) -> None:
    """Say which classes results are of."""
    global _TENSOR, _BATCH
    _TENSOR, _BATCH = tensor, batch


def shape_of(value: Lazy, **keywords: Any) -> Any:
    """Call the operator that gives shapes."""
    return call_operator(spec_of_role("shape"), (value,), keywords)
