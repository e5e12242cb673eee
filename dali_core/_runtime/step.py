"""Steps: operators that run in Python, on a whole batch at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream
    from dali_core._runtime.workers import WorkerPool


class StepOutput(NamedTuple):
    """The samples of one output, and the layout of each (empty: as the samples say).

    `origin` is the number of the input whose samples are from the same files; -1 if there is none.
    """

    samples: Sequence[Any] | TensorListCPU | TensorListGPU
    layout: str = ""
    origin: int = -1


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
        Number of samples in the batch; the largest possible one as long as it is not decided.
    is_cancelled : callable
        Returns whether the batch was dropped meanwhile: a step that waits then gives up.
    failed : dict of int to Exception, or None
        Where a step notes samples that fail, if other samples may take their place; None if the
        first failure ends the batch.
    upcoming : callable
        Returns indices that the reader, whose output is the first input, gives after the batch: of
        at most so many samples, as far as they are known.
    row_lengths : callable
        Returns the number of samples in each row that the plan of the batch packs; by default, all
        samples are one row.
    extents : callable
        Returns the largest lengths that samples of the batch may have, of each kind by which it
        was planned; none if it was not.
    replaced : collection of int
        The places of bad samples, in which others are.
    """

    iteration: int
    epoch: int
    first_sample: int
    batch_size: int
    is_cancelled: Callable[[], bool]
    failed: dict[int, Exception] | None = None
    upcoming: Callable[[int], NDArray[np.int64]] = lambda _: np.empty(0, np.int64)
    row_lengths: Callable[[], list[int]] = list
    extents: Callable[[], list[int]] = list
    replaced: Collection[int] = ()


class SampleFailed(Exception):  # noqa: N818 (a message between step and runner, never seen outside)
    """Says which sample the cause of this exception belongs to."""

    def __init__(self, sample: int) -> None:
        super().__init__(sample)
        self.sample = sample


class SourceFailed(SampleFailed):
    """Says that a source of the user raised the cause of this exception, which users see itself."""


class NotFed(IndexError):  # noqa: N818 (what a step raises; users see a NotFedError)
    """Says that a step waits for data which the program has to feed, and there is none left."""


class Step(Protocol):
    """What the `PythonStep` of an operator makes.

    Steps derive from it, and override what concerns them; `run` does for all of them.
    """

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Compute the outputs for one batch.

        A step without inputs decides the batch's size by the number of samples that it returns, and
        raises StopIteration when there are no more.
        """
        ...

    def forget(self) -> None:
        """Release what `run` would need to run once more for the same batch."""
        return

    def skip(self, context: StepContext) -> None:
        """Lose the data for a batch that ends the epoch, since a source before has none."""
        return

    def lose(self, context: StepContext) -> None:
        """Drop what was fed for a batch that a source before has failed."""
        return

    def reset(self) -> None:
        """Get ready for the next epoch."""
        return

    def use_tensor_arguments(self, names: Sequence[str]) -> None:
        """Learn which arguments come with each sample: behind the inputs, in this order."""
        return

    def use_workers(self, pool: WorkerPool, batch_size: int) -> None:
        """Return what workers, which are started next, have to do for the step."""
        return

    def accept_on_device(self, outputs: Collection[int]) -> None:
        """Receive the outputs with no reader on the host, so that their data may be on a device."""
        return

    def leave_out(self, outputs: Collection[int]) -> None:
        """Learn which outputs are not used, so that any batch will do for them."""
        return

    def use_device(self, stream: Stream, num_threads: int) -> None:
        """Learn in which stream the pipeline works on its device, and its number of threads."""
        return

    def use_threads(self, num_threads: int) -> None:
        """Learn how many threads the pipeline has, as many of which a step may start."""
        return

    def use_source(self, source: Any) -> None:
        """Learn which data set the reader has opened that gives this step its indices."""
        return

    @property
    def is_fed(self) -> bool:
        """Whether the data comes from `Pipeline.feed_input`."""
        return False

    @property
    def is_parallel(self) -> bool:
        """Whether workers make the data."""
        return False

    @property
    def gives_samples(self) -> bool:
        """Whether a source gives samples, so that another batch size gives the same ones."""
        return False

    @property
    def loses_state(self) -> bool:
        """Whether the position of a source is unknown, so that it cannot resume there."""
        return False


class FedStep(Step):
    """A step that may take data from `Pipeline.feed_input`."""

    @abstractmethod
    def copied(self, data: Any, layout: str, cuda_stream: Any = None, output: int = 0) -> Any:
        """Return a checked copy of a batch of an output; raise if the step has its own source."""

    @abstractmethod
    def feed(self, batch: Any, output: int = 0) -> None:
        """Take one batch of an output, as `copied` returned it."""

    @abstractmethod
    def discard(self) -> None:
        """Drop all that was fed and not taken."""


class JoiningStep(Step):
    """A step whose outputs have other samples than its inputs: rows of several of them.

    `first_samples` has, after `run`, the number of a sample for each row: random numbers of the row
    depend on it. There are at most as many rows as samples.
    """

    first_samples: Sequence[int] = ()


class StatefulStep(Step):
    """A step whose data depends on more than the numbers of batch and epoch.

    A step is asked for its state after each batch that it has run or skipped, and after `reset`:
    pipelines run ahead, and a checkpoint describes what was returned.
    """

    @abstractmethod
    def state(self) -> Any:
        """Return what the next batch depends on, as JSON has it; None if that is nothing yet.

        It must not change when the step continues.
        """

    @abstractmethod
    def restore(self, state: Any) -> None:
        """Bring back the time when `state` returned this; None means the very beginning."""

    @property
    def can_start_over(self) -> bool:
        """Whether a new iteration may begin before the last one has ended."""
        return False

    def start_over(self, state: Any) -> None:
        """Begin a new iteration; a source with a state of its own begins it from there.

        Parameters
        ----------
        state : object
            What `state` returned for the last batch that was returned.
        """
        has_own = isinstance(state, dict) and "own" in state
        self.restore({**state, "exhausted": False} if has_own else None)


class SourceAccess(Protocol):
    """How a source is asked for data out of turn: what the arguments of another step are."""

    def sample(self, arguments: dict[str, Any], info: Any) -> dict[str, Any] | None:
        """Have a step give one sample, that of a `types.SampleInfo`; None if none can."""
        ...

    def batch(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Have a step give the batch that it is asked for, whichever came before.

        Raises
        ------
        ArgumentTypeError
            If the source only gives what comes next.
        """
        ...

    def fed(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Have a step take data that it is fed, instead of that of the source."""
        ...


def note_failure(context: StepContext, sample: int, error: Exception) -> None:
    """Note that a sample failed; if no other may take its place, raise `SampleFailed`."""
    if context.failed is None:
        raise SampleFailed(sample) from error
    context.failed.setdefault(sample, error)


def check_samples(
    context: StepContext,
    samples: Sequence[Any],
    layout: str,
    check: Callable[[TensorListCPU], None] | None = None,
) -> list[Any]:
    """Turn samples into tensors one by one, and note those for which that does not work.

    Parameters
    ----------
    context : StepContext
        The batch; where failures are noted.
    samples : sequence
        One entry a sample.
    layout : str
        Layout of each.
    check : callable, optional
        Raises if it is given a batch of one that is not as it should be.

    Returns
    -------
    list
        The tensors; what has failed is unchanged.
    """
    tensors = list(samples)
    first: TensorListCPU | None = None
    for number, sample in enumerate(samples):
        if context.failed is not None and number in context.failed:
            continue
        try:
            tensor = TensorCPU(sample, layout)
            alone = TensorListCPU([tensor], contiguous=False)
            if check is not None:
                check(alone)
            first = first or alone
            if (alone.dtype, alone.ndim()) != (first.dtype, first.ndim()):
                raise TypeError(
                    "all samples of a batch must have one dtype and number of dimensions (got "
                    f"{alone.dtype} with {alone.ndim()} after {first.dtype} with {first.ndim()}). "
                    "Convert them first."
                )
            tensors[number] = tensor
        except Exception as error:
            note_failure(context, number, error)
    return tensors


def fill_failed(context: StepContext, columns: Sequence[list[Any]]) -> None:
    """Put the next good sample in the place of each that failed, as the engine does.

    Parameters
    ----------
    context : StepContext
        The batch.
    columns : sequence of list
        For each output the samples.

    Raises
    ------
    SampleFailed
        If there is no good sample.
    """
    if not context.failed or not columns:
        return
    size = len(columns[0])
    if len(context.failed) == size:
        raise SampleFailed(min(context.failed)) from context.failed[min(context.failed)]
    for sample in context.failed:
        good = sample
        while good in context.failed:
            good = (good + 1) % size
        for column in columns:
            column[sample] = column[good]


LARGEST_COUNT = 2**53
"""Of the numbers in states. No program comes so far, and sums of a few still fit into 64 bits."""


def is_count(value: object) -> bool:
    """Return whether a value from a state is an integer from 0 to the largest allowed count."""
    return type(value) is int and 0 <= value <= LARGEST_COUNT
