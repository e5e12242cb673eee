"""Pipelines as documents: what is written, and how it is read without running anything."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

from dali_core._graph.document import check_keys, graph_from_plain, graph_to_plain
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode
from dali_core._graph.plain_data import from_plain, to_plain
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
    SerializationError,
)
from dali_core.pipeline._checks import is_left_out

if TYPE_CHECKING:
    from typing_extensions import Self

    from dali_core.pipeline._pipeline import Pipeline

FORMAT = "dali_core.pipeline"
VERSION = 1

# Arguments of `Pipeline` that concern one run or one process, not the pipeline.
_NOT_WRITTEN = frozenset({"self", "checkpoint", "py_callback_pickler"})


class PipelineSerialization:
    """The part of `Pipeline` that writes it as a document and reads it again."""

    _arguments: Mapping[str, Any]
    _graph: Graph
    _location: str
    _outputs: list[DataNode] | None

    if TYPE_CHECKING:

        def build(self) -> None: ...

        def close(self) -> None: ...

        def set_outputs(self, *outputs: DataNode) -> None: ...

        def _define(self) -> list[DataNode]: ...

    def serialize(
        self,
        define_graph: Callable[[], Any] | None = None,
        filename: str | os.PathLike[str] | None = None,
    ) -> bytes:
        """Write the pipeline, but not its state, as a JSON document.

        Parameters
        ----------
        define_graph : callable, optional
            Defines the graph, if nothing else does.
        filename : path, optional
            File to write to as well.

        Returns
        -------
        bytes
            The document. It holds data only: operators by name, their arguments, and the arguments
            of the pipeline as they were given.

        Raises
        ------
        SerializationError
            If the graph needs Python code, such as a function or a source. The message names the
            operator and the line. An `external_source` that is fed by `feed_input` is fine.
        """
        if define_graph is not None:
            self._define_by(define_graph)
        graph = graph_to_plain(self._graph, self._define())
        defaults = _defaults()
        options = {
            name: to_plain(value, f"Pipeline.serialize: argument {name!r} of the Pipeline")
            for name, value in self._arguments.items()
            if name in defaults and value is not defaults[name]
        }
        document = _to_text(options, graph).encode("ascii")
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(document)
        return document

    def _define_by(self, define_graph: Callable[[], Any]) -> None:
        if not callable(define_graph):
            raise ArgumentTypeError(
                f"Pipeline.serialize: define_graph must be callable (got {define_graph!r}). Pass a "
                "file as filename=..."
            )
        if self._outputs is not None:
            raise GraphError(
                "Pipeline.serialize: define_graph must be left out if the graph is defined already "
                "(it is)."
            )
        with self:  # type: ignore[attr-defined]
            result = define_graph()
        self.set_outputs(*(result if isinstance(result, (tuple, list)) else (result,)))

    @classmethod
    def deserialize(
        cls,
        serialized_pipeline: bytes | str | None = None,
        filename: str | os.PathLike[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """Make and build a pipeline from a document that `serialize` wrote.

        The document is read as data, and no code in it or named by it is run. It does name files
        that the pipeline will read.

        Parameters
        ----------
        serialized_pipeline : bytes or str
            The document.
        filename : path
            A file with the document; instead of `serialized_pipeline`.
        **kwargs
            Arguments of `Pipeline` that take precedence over those in the document.

        Raises
        ------
        SerializationError
            If the document does not describe a pipeline. The message names the place.
        """
        if (serialized_pipeline is None) == (filename is None):
            raise ArgumentValueError(
                "Pipeline.deserialize: either serialized_pipeline or filename must be given (got "
                f"{'neither' if filename is None else 'both'})."
            )
        for name in kwargs:
            if name not in _defaults():
                raise ArgumentTypeError(
                    f"Pipeline.deserialize: unknown argument {name!r}. It takes those of Pipeline: "
                    f"{', '.join(_defaults())}."
                )
        if filename is not None:
            with open(filename, "rb") as file:
                serialized_pipeline = file.read()
        document = Document(serialized_pipeline)
        pipeline = cls(**{**document.options, **kwargs})
        document.fill(pipeline)
        document.build(pipeline)
        return pipeline

    def deserialize_and_build(self, serialized_pipeline: bytes | str) -> None:
        """Become the pipeline that a document describes, and build it.

        Parameters
        ----------
        serialized_pipeline : bytes or str
            What `serialize` wrote. Arguments that this pipeline was made with take precedence over
            those in the document, unless they are as by default.

        Raises
        ------
        SerializationError
            If the document does not describe a pipeline. This pipeline is unchanged then.
        """
        document = Document(serialized_pipeline)
        own = {
            name: value
            for name, value in self._arguments.items()
            if not (is_left_out(value) or value == _defaults().get(name))
        }
        document.fill(_pipeline_class()(**document.options))
        self.close()
        _pipeline_class().__init__(self, **{**document.options, **own})  # type: ignore[arg-type]
        document.fill(self)
        document.build(self)


class Document:
    """A document that was read: arguments for `Pipeline`, and a graph."""

    def __init__(self, text: Any) -> None:
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
                if name not in _defaults():
                    _refuse(f"options.{name} must be an argument of Pipeline of this version.")
            _pipeline_class()(**self.options)
        except (TypeError, ValueError, DaliCoreError, RecursionError) as error:
            _refuse(f"options must be arguments of Pipeline ({error})", error)

    def fill(self, pipeline: Any) -> None:
        """Put the graph into a new pipeline."""
        try:
            pipeline.set_outputs(*graph_from_plain(self._graph, pipeline._graph))
        except (DaliCoreError, RecursionError) as error:
            _refuse(str(error), error)

    def build(self, pipeline: Any) -> None:
        """Build a pipeline that was filled; the native code of operators may refuse arguments."""
        try:
            pipeline.build()
        except (ArgumentTypeError, ArgumentValueError, GraphError) as error:
            pipeline.close()
            message = str(error)
            for number, node in enumerate(pipeline._graph.nodes):
                if message.startswith(node.where):
                    _refuse(f"operators[{number}]: {message}", error)
            _refuse(message, error)


_WHERE = "Pipeline.deserialize: the document"


def _refuse(message: str, error: BaseException | None = None) -> NoReturn:
    raise SerializationError(f"Pipeline.deserialize: {message}") from error


def _defaults() -> dict[str, Any]:
    """Give the arguments of `Pipeline` that a document may have, and their defaults."""
    return {
        name: parameter.default
        for name, parameter in inspect.signature(_pipeline_class()).parameters.items()
        if name not in _NOT_WRITTEN
    }


def _pipeline_class() -> type[Pipeline]:
    # It derives from the class above.
    from dali_core.pipeline._pipeline import Pipeline

    return Pipeline


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
