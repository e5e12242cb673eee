"""Operators that read a format in Python: native code decides on indices, and Python fetches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._runtime.step import Step
from dali_core._spec import Arg, Moving, Native, OpSpec, PythonStep, Source
from dali_core._storage import Storage, make_storage
from dali_core.errors import ArgumentFormError

Bound = tuple[tuple[Any, ...], dict[str, Any]]
"""Inputs and arguments of an operator."""


class Format(ABC):
    """A format whose samples are fetched in Python.

    Order, shards, samplers, mixtures, states and bad samples are those of all readers.

    Attributes
    ----------
    name, doc : str
        Of the operator, see `OpSpec`.
    args : sequence of Arg
        Arguments of the operator. With `STORAGE_ARGS` it takes URLs.
    listing_args : sequence of Arg or None
        Those that decide which samples there are; by default all.
    constructor : sequence of str
        Names of the arguments that the class in `ops` takes by position.
    input_doc : str
        Documentation of the positional input.
    has_named_outputs : bool
        Whether a call returns a dict, see `output_names` and `finish`.
    """

    name: str
    doc: str
    args: Sequence[Arg]
    listing_args: Sequence[Arg] | None = None
    constructor: Sequence[str] = ()
    input_doc: str = "Indices of samples, which the operator makes itself."
    has_named_outputs: bool = False

    @abstractmethod
    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the samples, from the checked arguments among `listing_args`.

        Paths go through `Storage.checked`, and are read by `storage` if they are URLs. Native code
        gets a text for each sample that errors show, by default its index, as the argument
        ``"sample_names"`` (the address of a `PathList`).
        """

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise an error unless the arguments fit each other, and what is needed is installed."""
        return

    def num_outputs(self, arguments: Mapping[str, Any]) -> int | None:
        """Return of how many arrays a sample is a tuple; None if it is one, in a tuple or not."""
        return None

    def output_names(self, arguments: Mapping[str, Any]) -> Sequence[str]:
        """Return the names of the outputs of a call; for `has_named_outputs` only."""
        raise NotImplementedError(f"{self.name} must have output_names")

    def finish(self, caller: Any, fetched: list[Any], arguments: Mapping[str, Any]) -> list[Any]:
        """Make the outputs of what is fetched, see `OpSpec`; for `has_named_outputs` only."""
        return fetched

    def layout(self, arguments: Mapping[str, Any]) -> Any:
        """Return the layout of all outputs, or a list of them; None for none."""
        return None

    def dtype(self, arguments: Mapping[str, Any]) -> Any:
        """Return the type that all outputs must have, or a list of types; None for any."""
        return None

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Make what fetches samples for one pipeline; by default the data set itself does."""
        assert isinstance(source, Fetcher), f"{self.name} must have a fetcher for its data set"
        return source

    def make_step(self, arguments: Mapping[str, Any]) -> Step:
        """Make the step that fetches, from the checked arguments of the operator."""
        from dali_core._readers.step import OpenedStep

        self.check(arguments)
        return OpenedStep(
            lambda source: self.fetcher(source, arguments),
            self.num_outputs(arguments),
            self.layout(arguments),
            self.dtype(arguments),
        )

    def bind(self, indices: OpSpec, inputs: tuple[Any, ...], keywords: dict[str, Any]) -> Bound:
        """Hand the arguments of listing and order to the operator that gives indices."""
        if inputs:
            raise ArgumentFormError(
                f"0 inputs must be passed (got {len(inputs)}). Pass everything by name."
            )
        own = {*(arg.name for arg in self.args), "device", "preserve", "bytes_per_sample_hint"}
        listing = {arg.name for arg in indices.args}
        reading = {name: keywords[name] for name in keywords if name in listing or name not in own}
        fetching = {name: keywords[name] for name in keywords if name in own}
        return (Source(indices, reading),), fetching


def python_reader(form: Format) -> tuple[OpSpec, OpSpec]:
    """Describe the operators that read a format.

    Parameters
    ----------
    form : Format
        The format.

    Returns
    -------
    indices, spec : OpSpec
        The one that gives indices, which only the other one uses, and the one that users call.
    """
    indices = OpSpec(
        name=f"{form.name}.indices",
        doc=f"""Give the indices of the samples that `{form.name}` fetches.

Returns
-------
DataNode
    The index of each sample, a scalar int64.""",
        args=form.args if form.listing_args is None else form.listing_args,
        inputs=0,
        reader=lambda arguments: form.open(arguments, make_storage(arguments)),
        lower=Native("readers.python.indices"),
        title=form.name,
    )
    spec = OpSpec(
        name=form.name,
        doc=form.doc,
        args=form.args,
        inputs=(0, 1),
        outputs=form.num_outputs,
        lower=PythonStep(form.make_step, constructor=form.constructor, reads_batch=lambda _: False),
        moving=Moving("gpu"),
        input_docs=(form.input_doc,),
        hands_to_reader=True,
        bind=lambda inputs, keywords: form.bind(indices, inputs, keywords),
        output_names=form.output_names if form.has_named_outputs else None,
        finish=form.finish if form.has_named_outputs else None,
    )
    return indices, spec
