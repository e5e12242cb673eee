"""The description of an operator: the one source of its signature, checks, docs and stubs."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

if TYPE_CHECKING:
    from dali_core._runtime.step import SourceAccess

MAX_OUTPUTS = 4096
"""Of one operator."""


class _Missing(enum.Enum):
    REQUIRED = "required"
    UNSET = "unset"


REQUIRED: Final = _Missing.REQUIRED
"""The user must give this argument."""

UNSET: Final = _Missing.UNSET
"""The argument may be left out, and the operator can tell that it was."""


_LARGEST_FLOAT: Final = 3.4028234663852886e38
"""Operators compute with arguments of 32 bits: what is beyond is infinite to them."""

_LARGEST_INTEGER: Final = 2**63 - 1


@dataclass(frozen=True)
class Range:
    """The numbers that an argument may be. NaN is in no range.

    Parameters
    ----------
    least, most : float
        The ends, which belong to it.
    above : bool
        Whether `least` does not belong to it.
    """

    least: float = -math.inf
    most: float = math.inf
    above: bool = False

    def __contains__(self, value: float) -> bool:
        return (value > self.least if self.above else value >= self.least) and value <= self.most

    def __str__(self) -> str:
        has_least = self.least not in (-math.inf, -_LARGEST_FLOAT, -_LARGEST_INTEGER - 1)
        kind = {_LARGEST_FLOAT: "finite", _LARGEST_INTEGER: "an integer of 64 bits"}.get(self.most)
        has_most = kind is None and self.most < math.inf
        if has_least and has_most and not self.above:
            return f"from {self.least} to {self.most}"
        words = []
        if has_least:
            words.append(f"{'above' if self.above else 'at least'} {self.least}")
        if has_most:
            words.append(f"at most {self.most}")
        elif kind is not None:
            words.append(kind)
        return " and ".join(words)


@dataclass(frozen=True)
class Arg:
    """One keyword argument of an operator.

    Parameters
    ----------
    name : str
        Name of the keyword.
    type : type or generic alias
        ``int``, ``float``, ``bool``, ``str``, an enumeration of `dali_core.types`, ``list[...]`` of
        one of these (a single value then serves as a list of one), or ``object`` for any Python
        object: for operators running in Python, and for what a reader makes its listing of.
    doc : str
        What the argument does: units, ranges, meaning of special values.
    default : object
        The value when the user gives none; `REQUIRED` or `UNSET`.
    tensor : bool
        Whether it may also be a `DataNode`, giving one value for each sample.
    deprecated : str
        If not empty: what to use instead. Using the argument then warns.
    range : Range, optional
        What every number must be, given as a constant or with a sample.
    finite : bool
        Whether floats must be numbers of 32 bits, neither infinite nor NaN. They need not be where
        they only become values of tensors.
    choices : sequence of str or of members of an enumeration
        If not empty: the values that are allowed.
    length : int, Range, optional
        How many entries a list must have, given as a constant or with a sample.
    excludes : sequence of str
        Other arguments that must not be given together with it.
    alternatives : sequence of str
        Other arguments: exactly one of these and this one must be given.
    """

    name: str
    type: Any
    doc: str
    default: Any = REQUIRED
    tensor: bool = False
    deprecated: str = ""
    range: Range | None = None
    finite: bool = True
    choices: Sequence[Any] = ()
    length: int | Range | None = None
    excludes: Sequence[str] = ()
    alternatives: Sequence[str] = ()

    @property
    def item_type(self) -> Any:
        """The type of a value, or of each of a list."""
        return get_args(self.type)[0] if get_origin(self.type) is list else self.type

    @cached_property
    def limits(self) -> Range | None:
        """The range of the argument, by its type and description; None if it may be any number."""
        kind = self.item_type
        ends: dict[Any, tuple[float, float]] = {int: (-_LARGEST_INTEGER - 1, _LARGEST_INTEGER)}
        if self.finite:
            ends[float] = (-_LARGEST_FLOAT, _LARGEST_FLOAT)
        if kind in ends:
            given, (least, most) = self.range or Range(), ends[kind]
            return replace(given, least=max(given.least, least), most=min(given.most, most))
        if kind is bool:
            return Range(0, 1)
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            numbers = [member.value for member in kind]
            return Range(min(numbers), max(numbers))
        return self.range

    @property
    def rule(self) -> str:
        """What the argument must be, in words: `limits`, without what goes without saying."""
        return str((self.item_type is int and self.range) or self.limits or "")

    @property
    def lengths(self) -> Range:
        """The numbers of entries that a list may have."""
        if isinstance(self.length, int):
            return Range(self.length, self.length)
        return self.length or Range(0)

    @property
    def length_rule(self) -> str:
        """How many entries a list must have, in words."""
        least, most = self.lengths.least, self.lengths.most
        number = f"at least {least}" if most == math.inf else f"{least}"
        if least < most < math.inf:
            number = f"{least} {'or' if most == least + 1 else 'to'} {most}"
        is_one = 1 in (least, most) and most in (1, math.inf)
        if self.item_type in (int, float):
            return f"{number} {'number' if is_one else 'numbers'}"
        return f"{number} {'entry' if is_one else 'entries'}"


@dataclass(frozen=True)
class Native:
    """A native operator, and arguments that it gets beside those of the call.

    Parameters
    ----------
    name : str
        Name under which the native code registers itself; by default that of the operator.
    arguments : dict
        Constants that the user does not choose.
    at_build : callable, optional
        Returns more of them at build, such as paths of libraries.
    variant : callable, optional
        Returns the name of native code that serves checked arguments instead, or an empty text.
    """

    name: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    at_build: Callable[[], dict[str, Any]] | None = None
    variant: Callable[[Mapping[str, Any]], str] | None = None


@dataclass(frozen=True)
class PythonStep:
    """An operator that runs in Python, on whole batches.

    Parameters
    ----------
    make : callable
        Makes the step from the checked arguments.
    constructor : sequence of str
        Names of the arguments that the class in `ops` takes by position.
    access : SourceAccess, optional
        How a source is asked for data out of turn, by another step than that of the pipeline.
    joins_samples : bool
        Whether its outputs have fewer samples, in which those of the batch are joined.
    reads_batch : callable
        Whether, with some checked arguments, the result for a sample may depend on others.
    """

    make: Callable[[dict[str, Any]], Any]
    constructor: Sequence[str] = ()
    access: SourceAccess | None = None
    reads_batch: Callable[[dict[str, Any]], bool] = lambda _: True
    joins_samples: bool = False


@dataclass(frozen=True)
class Source:
    """A call of another operator, whose result becomes an input.

    Parameters
    ----------
    spec : OpSpec
        The operator.
    keywords : dict
        Keyword arguments of its call.
    """

    spec: OpSpec
    keywords: dict[str, Any]


@dataclass(frozen=True)
class DeviceDecoding:
    """How a call of a decoder becomes calls of operators that decode on the device.

    Parameters
    ----------
    check : Source
        Refuses files that no decoder should see, and gives the others as they are.
    decoder : Source
        Decodes whole images on the device. What it refuses has no pixels.
    otherwise : Source
        Decodes on the host what was refused.
    merge : OpSpec
        Gives the image of the one or of the other.
    window : Source, optional
        Draws the first pixels and extents of windows from the shapes of the images.
    cut : Source, optional
        Cuts windows out of the images.
    """

    check: Source
    decoder: Source
    otherwise: Source
    merge: OpSpec
    window: Source | None = None
    cut: Source | None = None


@dataclass(frozen=True)
class DeviceVideos:
    """How a call of a reader of videos becomes calls of operators that decode on the device.

    Parameters
    ----------
    reader : OpSpec
        Takes the same arguments, and gives the path of a clip's file and numbers of its frames in
        place of the frames.
    describe : Source
        Says, on the host, what the surfaces of a file are.
    decoder : Source
        Decodes frames to surfaces on the device. What it refuses has none.
    convert : Source
        Makes pixels of surfaces that its argument `description` describes.
    otherwise : Source
        Decodes on the host what was refused.
    merge : OpSpec
        Gives the frames of the one or of the other.
    """

    reader: OpSpec
    describe: Source
    decoder: Source
    convert: Source
    otherwise: Source
    merge: OpSpec


@dataclass(frozen=True)
class Moving:
    """An operator that runs on the host, and whose results are moved to the device.

    Parameters
    ----------
    device : str
        The value of `device` that asks for it: ``"mixed"`` for decoders, ``"gpu"`` for what brings
        data in.
    decode : callable, optional
        For decoders and readers of videos: how a call is done on the device; None on the host.
    """

    device: str
    decode: Callable[[Mapping[str, Any]], DeviceDecoding | DeviceVideos | None] | None = None


@dataclass(frozen=True)
class OpSpec:
    """An operator: its name, documentation, arguments and how it runs.

    Parameters
    ----------
    name : str
        Path below `fn`, such as ``"readers.file"``; also the folder below ``operators``, and the
        name that the native code registers.
    doc : str
        Documentation. The first line is a sentence with a verb.
    args : sequence of Arg
        Keyword arguments.
    inputs : int or (int, int)
        Number of positional inputs, or the least and largest number.
    outputs : int or callable
        Number of outputs, or a function of the checked arguments that gives it, or None for one.
    lists_one_output : bool
        Whether a call returns a list also of one output.
    optional_input_has_output : bool
        Whether an input that may be left out has one more output if it is given.
    devices : sequence of str
        Where it can run: ``"cpu"``, ``"gpu"``.
    moving : Moving, optional
        How it runs on the host and its results get to a device.
    input_device : {"same", "mixed", "any"}
        Where inputs may be. ``"same"``: where it runs; they are moved there. ``"mixed"``: on a
        device it takes inputs from the host as well. ``"any"``: anywhere, as it reads no elements.
    random : bool
        Whether it draws random numbers: it then takes `seed` and gets its own random stream.
    reader : callable, optional
        For operators that read a data set: makes a `dali_core._readers.protocol.DataSource` from
        the checked arguments. The operator then also takes those of sharding and shuffling.
    hands_to_reader : bool
        Whether it takes the arguments of readers, which `bind` hands to one.
    reads_batch : bool
        Whether the result for a sample depends on the other samples of the batch.
    bind : callable, optional
        Rearranges a call's inputs and arguments before they are checked, for other calling
        conventions. A `Source` may stand for an input, or for as many as it has outputs.
    batch_input : callable, optional
        For operators that need to know something of the whole batch: makes the call that finds it
        in the first input from the checked constants, or None. It becomes the second input.
    lower : Native or PythonStep, optional
        What does the work; by default the native operator called `name`.
    deprecated : str
        If not empty: what to use instead. Using the operator then warns.
    keeps_type : bool
        Whether the output has the type of the first input, unless `dtype` is given.
    remark : callable, optional
        Returns, for checked constants and the first input's type if known, why a use looks wrong.
    role : str
        What expressions and methods of `DataNode` find the operator by, see `internal_operators`.
        `Pipeline.feed_input` serves the first input of that with the role ``"fed"``, a fed step.
    title : str or callable
        If not empty: how messages call a use of the operator, which has no function in `fn`.
    output_names : callable, optional
        For operators of which a call returns a dict of outputs: from its arguments, their names.
    finish : callable, optional
        For operators with a list of outputs: makes the results of a call, by calls of others. It
        gets what performs these, the outputs, and the keyword arguments.
    """

    name: str
    doc: str
    args: Sequence[Arg] = ()
    inputs: int | tuple[int, int] = 1
    outputs: int | Callable[[dict[str, Any]], int | None] = 1
    lists_one_output: bool = False
    optional_input_has_output: bool = False
    devices: Sequence[str] = ("cpu",)
    moving: Moving | None = None
    input_device: Literal["same", "mixed", "any"] = "same"
    random: bool = False
    reader: Callable[[dict[str, Any]], Any] | None = None
    hands_to_reader: bool = False
    reads_batch: bool = False
    bind: Callable[..., Any] | None = None
    batch_input: Callable[[Mapping[str, Any]], Source | None] | None = None
    lower: Native | PythonStep | None = None
    deprecated: str = ""
    input_docs: Sequence[str] = field(default=())
    keeps_type: bool = False
    remark: Callable[[Mapping[str, Any], str], str] | None = None
    role: str = ""
    title: str | Callable[[Mapping[str, Any]], str] = ""
    output_names: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    finish: Callable[[Any, list[Any], Mapping[str, Any]], list[Any]] | None = None

    @property
    def native(self) -> Native:
        """The native operator that does the work."""
        native = self.lower if isinstance(self.lower, Native) else Native()
        return replace(native, name=native.name or self.name)

    @property
    def python_step(self) -> PythonStep | None:
        """The step that does the work; None if native code does."""
        return self.lower if isinstance(self.lower, PythonStep) else None

    @property
    def constructor(self) -> Sequence[str]:
        """Names of the arguments that the class in `ops` takes by position."""
        return self.python_step.constructor if self.python_step is not None else ()

    @property
    def is_internal(self) -> bool:
        """Whether it has no function in `fn`, because only others and expressions use it."""
        return bool(self.title)

    def title_for(self, arguments: Mapping[str, Any]) -> str:
        """Return how messages call a use of the operator with some arguments."""
        title = self.title(arguments) if callable(self.title) else self.title
        return title or self.name

    def variant(self, name: str, doc: str, **fixed: Any) -> OpSpec:
        """Describe the same operator with some arguments that the user cannot give.

        Parameters
        ----------
        name : str
            Name of the variant.
        doc : str
            Its documentation.
        **fixed : object
            Values of these arguments; None for those without a value.
        """
        values = {key: value for key, value in fixed.items() if value is not None}
        return replace(
            self,
            name=name,
            doc=doc,
            args=tuple(arg for arg in self.args if arg.name not in fixed),
            lower=replace(self.native, arguments={**self.native.arguments, **values}),
        )

    def formerly(self, name: str, **defaults: Any) -> OpSpec:
        """Describe the same operator under a former name, the use of which warns.

        Parameters
        ----------
        name : str
            The former name.
        **defaults : object
            Defaults that were others.
        """
        but = f", but for the default of `{'`, `'.join(defaults)}`" if defaults else ""
        return replace(
            self,
            name=name,
            doc=f"{self.doc.rstrip()}\n\nFormer name of `{self.name}`, which does the same{but}.",
            args=tuple(
                replace(arg, default=defaults[arg.name]) if arg.name in defaults else arg
                for arg in self.args
            ),
            lower=self.python_step or self.native,
            deprecated=f"fn.{self.name}",
            role="",
        )

    @property
    def joins(self) -> bool:
        """Whether its output is one of its inputs, for each sample another one.

        They must agree in type, number of dimensions and layout; the first input is a boolean.
        """
        return self.role == "merge"

    @property
    def is_source(self) -> bool:
        """Whether it brings data into the pipeline, for whole batches."""
        is_python_source = self.python_step is not None and self.input_range[1] == 0
        return self.reader is not None or is_python_source

    @property
    def input_range(self) -> tuple[int, int]:
        """Least and largest number of positional inputs."""
        return self.inputs if isinstance(self.inputs, tuple) else (self.inputs, self.inputs)

    def num_outputs(self, arguments: dict[str, Any], num_inputs: int) -> int | None:
        """Count the outputs of a call; None for one that is not in a list.

        Parameters
        ----------
        arguments : dict
            Checked arguments.
        num_inputs : int
            Number of positional inputs.
        """
        count = self.outputs(arguments) if callable(self.outputs) else self.outputs
        if self.optional_input_has_output and num_inputs > self.input_range[0]:
            return (count or 1) + num_inputs - self.input_range[0]
        return None if count == 1 and not self.lists_one_output else count

    def arg(self, name: str) -> Arg | None:
        """Find an argument by name."""
        return next((arg for arg in self.args if arg.name == name), None)
