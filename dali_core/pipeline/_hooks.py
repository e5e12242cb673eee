"""Methods that subclasses of `Pipeline` override, as its parts call them."""

from __future__ import annotations

import contextlib
import weakref
from types import TracebackType
from typing import Any, Protocol

from dali_core.pipeline._drawn_constants import DrawnConstants


class Overridden(Protocol):
    """What the parts of a pipeline ask of it."""

    def define_graph(self) -> Any:
        """Call operators, and return the outputs."""
        ...

    def iter_setup(self) -> None:
        """Prepare a batch, or raise StopIteration."""
        ...

    def __enter__(self) -> Any:
        """Have operators that are called belong to the pipeline."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End that."""
        ...


class Hooks:
    """Calls `define_graph` and `iter_setup`, and counts calls of the latter.

    `iter_setup` is called ahead, and does not say what it depends on, so a state has the number of
    its calls.

    Parameters
    ----------
    pipeline : Pipeline
        It is not kept alive, so that an unused one is closed at once.
    has_setup : bool
        Whether it overrides `iter_setup`.

    Attributes
    ----------
    num_setups : int
        Calls of `iter_setup` so far.
    epoch_setups : int
        Those before this epoch.
    setup_ended : bool
        Whether it has said that the epoch is over.
    set_up_for : int
        Number of the batch that it was called for last; -1 for none.
    is_replaying : bool
        Whether it is called again for batches already returned; what it feeds is discarded.
    """

    def __init__(self, pipeline: Overridden, has_setup: bool) -> None:
        self._pipeline = weakref.ref(pipeline)
        self.has_setup = has_setup
        self.num_setups = self.epoch_setups = 0
        self.setup_ended = False
        self.set_up_for = -1
        self.is_replaying = False

    @property
    def pipeline(self) -> Overridden:
        """The pipeline."""
        pipeline = self._pipeline()
        assert pipeline is not None, "only its methods lead here"
        return pipeline

    def define_graph(self) -> Any:
        """Return what `define_graph` returns, while the pipeline is being defined."""
        pipeline = self.pipeline
        with pipeline:
            drawn = DrawnConstants(f"{type(pipeline).__name__}.define_graph()")
            result = pipeline.define_graph()
            drawn.warn()
            return result

    def set_up(self, iteration: int) -> bool:
        """Call `iter_setup` for the next batch, unless it was; return whether there is one."""
        if self.set_up_for == iteration:
            return True
        ended = False
        try:
            self.pipeline.iter_setup()
        except StopIteration:
            ended = True
        self.num_setups += 1
        self.setup_ended = ended
        self.set_up_for = iteration
        return not ended

    def replay(self, wanted: int) -> None:
        """Call `iter_setup` as often as it was called before."""
        if not self.has_setup:
            return
        self.is_replaying = True
        try:
            while self.num_setups < wanted:
                self.num_setups += 1
                with contextlib.suppress(StopIteration):  # the end of an epoch before
                    self.pipeline.iter_setup()
        finally:
            self.is_replaying = False
