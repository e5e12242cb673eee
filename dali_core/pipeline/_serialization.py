"""Pipelines as documents: what is written, and how it is read without running anything."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn

from dali_core._graph.serialize.document import check_keys, graph_from_plain, graph_to_plain
from dali_core._graph.serialize.plain_data import from_plain, to_plain
from dali_core._storage.access import Access
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
    SerializationError,
)
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._run import PipelineRun

FORMAT = "dali_core.pipeline"
VERSION = 1

NOT_WRITTEN = {"checkpoint": None, "py_callback_pickler": None}
"""Arguments of `Pipeline` that concern one run or one process, and their defaults."""


def to_document(
    definition: GraphDefinition,
    given: Mapping[str, Any],
    defaults: Mapping[str, Any],
    define_graph: Callable[[], Any] | None,
) -> bytes:
    """Write a pipeline as a JSON document; see `Pipeline.serialize`.

    Parameters
    ----------
    definition : GraphDefinition
        The graph.
    given : dict
        The arguments of the pipeline.
    defaults : dict
        Those of them that are written, and their defaults, which are not.
    define_graph : callable or None
        Defines the graph.
    """
    if define_graph is not None:
        definition.define_by(define_graph)
    graph = graph_to_plain(definition.graph, definition.define())
    options = {
        name: to_plain(value, f"Pipeline.serialize: argument {name!r} of the Pipeline")
        for name, value in given.items()
        if name in defaults and value is not defaults[name]
    }
    return _to_text(options, graph).encode("ascii")


def open_document(
    text: bytes | str | None,
    filename: str | os.PathLike[str] | None,
    overriding: Iterable[str],
    defaults: Mapping[str, Any],
) -> Document:
    """Read a document, or a file with one; `overriding` names the arguments that replace others."""
    if (text is None) == (filename is None):
        raise ArgumentValueError(
            "Pipeline.deserialize: either serialized_pipeline or filename must be given (got "
            f"{'neither' if filename is None else 'both'})."
        )
    for name in overriding:
        if name not in defaults:
            raise ArgumentTypeError(
                f"Pipeline.deserialize: unknown argument {name!r}. It takes those of Pipeline: "
                f"{', '.join(defaults)}."
            )
    if filename is not None:
        with open(filename, "rb") as file:
            text = file.read()
    return Document(text, defaults)


class Document:
    """A document that was read: arguments for `Pipeline`, and a graph.

    Parameters
    ----------
    text : bytes or str
        What `to_document` returned.
    defaults : dict
        The arguments of `Pipeline` that a document may have, and their defaults.

    Attributes
    ----------
    options : dict
        Those that it has.

    Raises
    ------
    SerializationError
        If it does not describe a pipeline. The message names the place.
    """

    def __init__(self, text: Any, defaults: Mapping[str, Any]) -> None:
        data = _parse(text)
        check_keys(data, ("format", "version"), tuple(data), _WHERE)
        if data["format"] != FORMAT:
            _refuse(f"format must be {FORMAT!r} (got {data['format']!r}).")
        if type(data["version"]) is not int or data["version"] != VERSION:
            _refuse(
                f"version must be {VERSION} (got {data['version']!r}). Use the version of "
                "dali_core that wrote it, or write it again."
            )
        check_keys(data, ("format", "version", "options", "operators", "outputs"), (), _WHERE)
        self._graph = data
        if not isinstance(data["options"], dict):
            _refuse(f"options must be an object (got {type(data['options']).__name__}).")
        try:
            self.options = {
                name: from_plain(value, f"options.{name}")
                for name, value in data["options"].items()
            }
            for name in self.options:
                if name not in defaults:
                    _refuse(f"options.{name} must be an argument of Pipeline of this version.")
            PipelineOptions({**NOT_WRITTEN, **defaults, **self.options})
        except (TypeError, ValueError, DaliCoreError, RecursionError) as error:
            _refuse(f"options must be arguments of Pipeline ({error})", error)

    def fill(self, definition: GraphDefinition, access: Access) -> None:
        """Put the graph into a new pipeline, whose readers may open what `access` says."""
        definition.graph.access = access
        try:
            definition.set_outputs(graph_from_plain(self._graph, definition.graph))
        except (DaliCoreError, RecursionError) as error:
            _refuse(str(error), error)

    @contextlib.contextmanager
    def blamed(self, definition: GraphDefinition, run: PipelineRun) -> Iterator[None]:
        """Build a pipeline that was filled; the native code of operators may refuse arguments."""
        try:
            yield
        except (ArgumentTypeError, ArgumentValueError, GraphError) as error:
            run.close()
            message = str(error)
            for number, node in enumerate(definition.graph.nodes):
                if message.startswith(node.where):
                    _refuse(f"operators[{number}]: {message}", error)
            _refuse(message, error)


_WHERE = "Pipeline.deserialize: the document"


def _refuse(message: str, error: BaseException | None = None) -> NoReturn:
    raise SerializationError(f"Pipeline.deserialize: {message}") from error


def _to_text(options: Any, graph: Mapping[str, Any]) -> str:
    """Write a document with a line for each operator."""

    def dump(value: Any) -> str:
        return json.dumps(value, allow_nan=False)

    operators = ",\n  ".join(map(dump, graph["operators"]))
    return (
        f'{{"format": {dump(FORMAT)}, "version": {VERSION},\n'
        f' "options": {dump(options)},\n'
        f' "operators": [\n  {operators}\n ],\n'
        f' "outputs": {dump(graph["outputs"])}}}\n'
    )


def _parse(text: Any) -> dict[str, Any]:
    if not isinstance(text, (bytes, bytearray, memoryview, str)):
        raise ArgumentTypeError(
            f"Pipeline.deserialize: serialized_pipeline must be bytes or a str (got a "
            f"{type(text).__name__}). Pass what Pipeline.serialize gave."
        )
    try:
        characters = text if isinstance(text, str) else bytes(text).decode("utf-8")
        data = json.loads(
            characters, object_pairs_hook=_without_duplicates, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        _refuse(
            f"the document must be JSON ({error}). It may be damaged, or another format.", error
        )
    if not isinstance(data, dict):
        _refuse(f"the document must be an object (got {type(data).__name__}).")
    return data


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"an object has a key twice, among {sorted(found)}")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
