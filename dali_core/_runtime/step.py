"""Steps: operators that run in Python, on a whole batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from dali_core._runtime.tensors import TensorListCPU


class StepOutput(NamedTuple):
    """The samples of one output, and the layout of each (empty: as the samples say)."""

    samples: Sequence[Any] | TensorListCPU
    layout: str = ""


@dataclass(frozen=True)
class StepContext:
    """Which batch a step runs for.

    Attributes
    ----------
    iteration : int
        Number of the batch since the pipeline was last reset.
    epoch : int
        How often the pipeline was reset.
    first_sample : int
        Number of samples that came before, since the pipeline was last reset.
    batch_size : int
        Number of samples in the batch; the largest possible one as long as nobody has decided it.
    is_cancelled : callable
        Tells whether the batch was dropped meanwhile: a step that waits then gives up.
    """

    iteration: int
    epoch: int
    first_sample: int
    batch_size: int
    is_cancelled: Callable[[], bool]


class SampleFailed(Exception):  # noqa: N818 (a message between step and runner, never seen outside)
    """Says which sample the cause of this exception belongs to."""

    def __init__(self, sample: int) -> None:
        super().__init__(sample)
        self.sample = sample


class Step(Protocol):
    """What an operator's `python_step` makes."""

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Compute the outputs for one batch.

        A step without inputs decides the batch's size by the number of samples that it returns, and
        raises StopIteration when there are no more.
        """
        ...

    def skip(self, context: StepContext) -> None:
        """Lose the data for a batch that ends the epoch, since a source before has none."""
        ...

    def reset(self) -> None:
        """Get ready for the next epoch."""
        ...
