"""Which pipeline the operators belong to that are called."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, cast

from dali_core._graph.context import current_pipeline, pop_pipeline, push_pipeline
from dali_core.errors import ArgumentTypeError, PipelineStateError

if TYPE_CHECKING:
    from typing_extensions import Self

    from dali_core.pipeline._pipeline import Pipeline


class PipelineContext:
    """The part of `Pipeline` that makes operators called inside ``with pipeline:`` belong to it."""

    @staticmethod
    def current() -> Pipeline | None:
        """Give the pipeline that is being defined in this thread."""
        return current_pipeline()

    @staticmethod
    def push_current(pipeline: Pipeline) -> None:
        """Begin to define a pipeline in this thread, as ``with pipeline:`` does.

        Parameters
        ----------
        pipeline : Pipeline
            Operators called from now on belong to it, until `pop_current`.
        """
        if not isinstance(pipeline, PipelineContext):
            raise ArgumentTypeError(
                f"Pipeline.push_current: pipeline must be a Pipeline (got {pipeline!r})."
            )
        push_pipeline(pipeline)

    @staticmethod
    def pop_current() -> None:
        """End what the last `push_current` began; the pipeline before it is current again."""
        if current_pipeline() is None:
            raise PipelineStateError(
                "Pipeline.pop_current: a pipeline must be current (none is). Call push_current "
                "first, or use `with pipeline:`."
            )
        pop_pipeline()

    def __enter__(self) -> Self:
        push_pipeline(cast("Pipeline", self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        pop_pipeline()
