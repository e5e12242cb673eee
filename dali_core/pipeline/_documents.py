"""Methods of `Pipeline` that write it as a document, and make it from one."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from dali_core._messages import shown
from dali_core._storage.access import Access
from dali_core.errors import ArgumentTypeError
from dali_core.pipeline._checks import is_left_out
from dali_core.pipeline._parts import PipelineParts
from dali_core.pipeline._serialization import (
    NOT_WRITTEN,
    Document,
    open_document,
    to_document,
)

if TYPE_CHECKING:
    from typing_extensions import Self


class PipelineDocuments(PipelineParts):
    """The methods of `Pipeline` for documents."""

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
        defaults = document_arguments(type(self))
        document = to_document(self._definition, self._options.given, defaults, define_graph)
        if filename is not None:
            with open(filename, "wb") as file:
                file.write(document)
        return document

    @classmethod
    def deserialize(
        cls,
        serialized_pipeline: bytes | str | None = None,
        filename: str | os.PathLike[str] | None = None,
        *,
        allow_remote: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Make a pipeline from a document that `serialize` wrote.

        The document is read as data, and no code in it or named by it is run. Nothing that it names
        is opened: if operators read files, that begins when the pipeline is built or run, or when
        the size of an epoch is asked for.

        Parameters
        ----------
        serialized_pipeline : bytes or str
            The document.
        filename : path
            A file with the document; instead of `serialized_pipeline`.
        allow_remote : bool
            Whether the pipeline may read URLs: those in the document, and those in lists and other
            data that it reads. Schemes and options of storage that documents may have are few.
        **kwargs
            Arguments of `Pipeline` that take precedence over those in the document.

        Raises
        ------
        SerializationError
            If the document does not describe a pipeline, or names places that it may not read. The
            message names the place.
        """
        defaults = document_arguments(cls)
        document = open_document(serialized_pipeline, filename, kwargs, defaults)
        return cls._made(document, _access(allow_remote), kwargs)

    @classmethod
    def from_pipeline(cls, pipeline: PipelineDocuments, **kwargs: Any) -> Self:
        """Make a pipeline with the graph of another one, which it may share with no run.

        It may read what the other may read: everything, if that was defined by a program.

        Parameters
        ----------
        pipeline : Pipeline
            The other one.
        **kwargs
            Arguments of `Pipeline` that take precedence over those of the other.

        Raises
        ------
        SerializationError
            If the graph needs Python code; see `serialize`.
        """
        document = open_document(pipeline.serialize(), None, kwargs, document_arguments(cls))
        return cls._made(document, pipeline._definition.graph.access, kwargs)

    def deserialize_and_build(
        self, serialized_pipeline: bytes | str, *, allow_remote: bool = False
    ) -> None:
        """Become the pipeline that a document describes, and build it, which opens its files.

        Parameters
        ----------
        serialized_pipeline : bytes or str
            What `serialize` wrote. Arguments that this pipeline was made with take precedence over
            those in the document, unless they are as by default.
        allow_remote : bool
            See `deserialize`.

        Raises
        ------
        SerializationError
            If the document does not describe a pipeline. This pipeline is unchanged then.
        """
        kind: Any = _base_of(type(self))
        defaults = document_arguments(kind)
        document, access = Document(serialized_pipeline, defaults), _access(allow_remote)
        other = kind(**document.options)
        document.fill(other._definition, access)
        own = {
            name: value
            for name, value in self._options.given.items()
            if not (is_left_out(value) or value == defaults.get(name))
        }
        self._run.close()
        self._assemble({**NOT_WRITTEN, **defaults, **document.options, **own})
        document.fill(self._definition, access)
        with document.blamed(self._definition, self._run):
            self._states.start_eagerly()

    @classmethod
    def _made(cls, document: Document, access: Access, given: Mapping[str, Any]) -> Self:
        """Make the pipeline of a document; it starts here only if it opens no data."""
        kind: Any = cls
        made: Self = kind(**{**document.options, **given})
        document.fill(made._definition, access)
        with document.blamed(made._definition, made._run):
            made._definition.make_plan()
            if not any(node.opens_data for node in made._definition.live_nodes):
                made._states.start()
        return made


def document_arguments(kind: type[PipelineDocuments]) -> dict[str, Any]:
    """Return the arguments of `Pipeline` that a document may have, and their defaults."""
    parameters = inspect.signature(_base_of(kind)).parameters
    return {
        name: parameter.default for name, parameter in parameters.items() if name not in NOT_WRITTEN
    }


def _base_of(kind: type[PipelineDocuments]) -> type[PipelineDocuments]:
    """Return `Pipeline`; classes of a program that derive from it have other constructors."""
    return next(entry for entry in kind.__mro__ if PipelineDocuments in entry.__bases__)


def _access(allow_remote: bool) -> Access:
    if not isinstance(allow_remote, bool):
        raise ArgumentTypeError(
            "Pipeline.deserialize: allow_remote must be True or False (got "
            f"{shown(allow_remote)}). Pass one of them."
        )
    return Access.REMOTE if allow_remote else Access.LOCAL
