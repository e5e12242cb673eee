"""Readers as objects: epochs, single steps, and states."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dali_core._call.arguments import all_args, check_names
from dali_core._call.location import user_location
from dali_core._graph.graph import add_operator
from dali_core._graph.namespaces import class_name, documentation
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._spec import REQUIRED, OpSpec
from dali_core.batching.epoch_plan import EpochPlan, ceil_div
from dali_core.checkpoint.state import State
from dali_core.dynamic._batches import Batch
from dali_core.dynamic._context import EvalContext
from dali_core.dynamic._devices import check_host
from dali_core.dynamic._steps import Computed, Step
from dali_core.dynamic._tensors import Tensor, checked_size
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    PipelineStateError,
    StateMismatchError,
)
from dali_core.pipeline import Pipeline

_NAME = "reader"
# How many steps are computed ahead of a loop that does the same in all of them.
_STEPS_AHEAD = 2
_KIND = "dali_core.dynamic reader"


@dataclass(frozen=True)
class _Item:
    """A step that was read, or the error that reading it has raised."""

    step: Step
    ids: SampleIds | None = None
    state: State | None = None
    num_batches: int = 1
    error: DaliCoreError | None = None


class Reader:
    """A data set, read in epochs.

    Epochs follow each other: the n-th call of `next_epoch` gives the n-th epoch. Leaving its loop
    early leaves the epoch: the next call gives the epoch after it from its beginning, as if all of
    this one had been read. Every sample knows its epoch and its place there, which random operators
    depend on.

    Parameters
    ----------
    max_batch_size : int, optional
        The largest batch that will be asked for.
    name : str, optional
        Name for messages.
    device : str or Device, optional
        The host.
    num_inputs : int, optional
        Accepted for compatibility.
    enable_checkpointing : bool
        Accepted for compatibility: states can always be taken.
    **arguments
        Arguments of the operator.

    Raises
    ------
    ArgumentTypeError
        If an argument is unknown. Files are opened by the first step.
    """

    _spec: OpSpec

    def __init__(
        self,
        max_batch_size: int | None = None,
        name: str | None = None,
        device: Any = None,
        num_inputs: int | None = None,
        *,
        enable_checkpointing: bool = False,
        **arguments: Any,
    ) -> None:
        self._where = f"readers.{type(self).__name__} at {user_location()}"
        if device is not None:
            check_host(device, self._where)
        check_names(self._spec, arguments, self._where)
        missing = [
            arg.name
            for arg in all_args(self._spec)
            if arg.default is REQUIRED and arg.name not in arguments
        ]
        if missing:
            raise ArgumentFormError(
                f"{self._where}: argument {missing[0]!r} must be given. Pass it."
            )
        self.name = name
        self._max = None if max_batch_size is None else checked_size(max_batch_size, self._where)
        self._arguments = arguments
        self._pipeline: Pipeline | None = None
        self._is_single = False  # whether the reader is a dict of outputs
        self._names: list[str] | None = None
        self._size = 0
        self._regroups = False  # whether batches are made of single samples
        self._state: Mapping[str, Any] | None = None
        self._batch = 0  # the next one of the stream
        self._left = 0  # samples of the epoch that were not given
        self._is_within = False  # whether an epoch was begun and is not over
        self._turn = 0  # which call of `next_epoch` is the latest
        self._position: State | None = None  # after the last step that was given
        self._before: list[Step] = []  # the last two steps of loops

    def next_epoch(
        self, batch_size: int | None = None, ctx: EvalContext | None = None, capture: bool = False
    ) -> Iterator[Any]:
        """Return an iterator over the next epoch.

        Parameters
        ----------
        batch_size : int, optional
            Samples in a batch; by default single samples are given. It may differ from epoch to
            epoch.
        ctx : EvalContext, optional
            Has the number of threads.
        capture : bool
            Accepted for compatibility: loops are computed as programs without being asked.

        Yields
        ------
        tuple of Batch or of Tensor, or dict
            The outputs of the reader for a step. The last batch is full: it continues with samples
            of the next epoch, or, with ``pad_last_batch=True``, repeats the last one.
        """
        size = 1 if batch_size is None else self._checked(batch_size)
        self._turn += 1
        return self._epoch(size, batch_size is None, self._turn, ctx)

    def _epoch(
        self, size: int, is_single: bool, turn: int, ctx: EvalContext | None
    ) -> Iterator[Any]:
        self._leave_epoch()
        self._open(size, ctx)
        self._begin_epoch()
        ahead: deque[_Item] = deque()
        before = self._before
        try:
            while self._left > 0:
                if turn != self._turn:
                    raise PipelineStateError(
                        f"{self._where}: only the latest epoch may be read (another one was "
                        "begun). Finish one loop before the next begins."
                    )
                if len(before) == 2:
                    program = before[1].like(before[0])
                    self._look_ahead(ahead, program, is_single, ctx)
                item = ahead.popleft() if ahead else self._item(is_single)
                outputs = self._given(item)
                if before:
                    before[-1].outputs = ()
                self._before = before = [*before[-1:], item.step]
                yield outputs
        finally:
            if ahead:  # the loop was left: read again what it has not seen
                ahead.clear()
                self._go_back()

    def __call__(self, batch_size: int | None = None) -> Any:
        """Read one step.

        Parameters
        ----------
        batch_size : int, optional
            Samples in a batch; by default a single sample is given.

        Returns
        -------
        Batch, Tensor, or tuple or dict of these
            The outputs; one output is not in a tuple.
        """
        size = 1 if batch_size is None else self._checked(batch_size)
        self._open(size, None)
        if not self._is_within:
            self._begin_epoch()
        outputs = self._given(self._item(batch_size is None))
        return outputs[0] if isinstance(outputs, tuple) and len(outputs) == 1 else outputs

    def get_metadata(self, batch_size: int | None = None) -> Mapping[str, int]:
        """Return the number of samples, and how they are divided into shards.

        Parameters
        ----------
        batch_size : int, optional
            Accepted for compatibility.
        """
        if self._pipeline is None:
            self._open(1 if batch_size is None else self._checked(batch_size), None)
        return dict(self._opened.reader_meta(_NAME))

    @property
    def has_begun(self) -> bool:
        """Whether a step was read."""
        return self._pipeline is not None

    @property
    def samples_left(self) -> int:
        """Samples of the epoch that were not given; 0 if none was begun."""
        return max(self._left, 0) if self._is_within else 0

    def leave_epoch(self) -> None:
        """Leave the epoch that was begun, or that a state is in: `next_epoch` gives the one after.

        Without an epoch that is not over, this does nothing.
        """
        if self._state is not None:
            if self._pipeline is None:
                self._open(1, None)
            self._state = None
        self._leave_epoch()

    def get_state(self) -> str:
        """Return the state as a text: what was given, and what is left of the epoch.

        Raises
        ------
        PipelineStateError
            If no step was read.
        """
        if self._pipeline is None:
            raise PipelineStateError(
                f"{self._where}: a state can be taken after the first step only. Read one."
            )
        return json.dumps(
            {
                "kind": _KIND,
                "reader": type(self).__name__,
                "left": self.samples_left,
                "pipeline": self._described(),
            }
        )

    def set_state(self, state: str | bytes) -> None:
        """Resume from a state, perhaps of another process, with any batch size.

        The next epoch is what was left of that in the state, if anything was.

        Parameters
        ----------
        state : str or bytes
            What `get_state` has returned.

        Raises
        ------
        PipelineStateError
            If this reader has read a step already.
        StateMismatchError
            If it is no state of such a reader.
        """
        if isinstance(state, bytes):
            state = state.decode(errors="replace")
        if not isinstance(state, str):
            raise ArgumentTypeError(
                f"{self._where}: the state must be a text (got a {type(state).__name__}). Pass "
                "what get_state has returned."
            )
        if self._pipeline is not None:
            raise PipelineStateError(
                f"{self._where}: a state must be set before the first step (one was read). Make a "
                "new reader."
            )
        try:
            read = json.loads(state)
        except (ValueError, RecursionError) as error:
            raise StateMismatchError(
                f"{self._where}: the state must be what get_state has returned ({error})."
            ) from error
        is_own = isinstance(read, dict) and read.get("kind") == _KIND
        if not is_own or not isinstance(read.get("left"), int) or read["left"] < 0:
            raise StateMismatchError(
                f"{self._where}: the state must be what get_state has returned (got other data)."
            )
        if read.get("reader") != type(self).__name__:
            raise StateMismatchError(
                f"{self._where}: the state must be of such a reader (got one of "
                f"{read.get('reader')!r:.60})."
            )
        self._state = read

    @property
    def _opened(self) -> Pipeline:
        assert self._pipeline is not None
        return self._pipeline

    def _described(self) -> dict[str, Any]:
        """Describe the position after the last step that was given."""
        pipeline = self._opened
        if self._position is None:
            return pipeline.state_dict()
        return pipeline.states.describe(self._position)

    def _checked(self, batch_size: int) -> int:
        size = checked_size(batch_size, self._where)
        if size == 0:
            raise ArgumentValueError(
                f"{self._where}: batch_size must be positive (got 0). Pass at least 1."
            )
        if self._max is not None and size > self._max:
            raise ArgumentValueError(
                f"{self._where}: batch_size must be at most max_batch_size={self._max} (got "
                f"{size}). Pass a larger max_batch_size."
            )
        return size

    def _open(self, size: int, ctx: EvalContext | None) -> None:
        """Open the data for batches of a size, where it is."""
        is_within = self._is_within
        if self._pipeline is not None and self._size == size and is_within >= self._regroups:
            return
        state: Any = None
        if self._pipeline is not None:
            state = self._described()
            self._pipeline.close()
        threads = (ctx or EvalContext.current()).num_threads
        if state is None and self._state is not None:
            state = self._state["pipeline"]
            self._left = self._state["left"]
            is_within = self._is_within = self._left > 0
        # The rest of an epoch with padding may not be a number of whole batches: it is read sample
        # by sample then.
        pads = bool(self._arguments.get("pad_last_batch"))
        self._regroups = pads and is_within and state is not None and size > 1
        pipeline = Pipeline(batch_size=1 if self._regroups else size, num_threads=threads, seed=0)
        with pipeline:
            made = add_operator(self._spec, (), {**self._arguments, "name": _NAME})
            nodes = made if isinstance(made, list) else [made]
            pipeline.set_outputs(*nodes)
        if self._spec.output_names is not None:
            self._names = list(self._spec.output_names(self._arguments))
        pipeline.build()
        first = 0
        if state is not None:
            pipeline.load_state_dict(state)
            first = pipeline.states.current().position.batch
        self._pipeline, self._size, self._batch = pipeline, size, first
        self._position = None
        self._before = []

    def _leave_epoch(self) -> None:
        """Go to where the epoch that is not over would have ended."""
        if self._is_within and self._state is None:
            self._batch += self._left if self._regroups else ceil_div(self._left, self._size)
            self._opened.states.skip_to(self._batch, self._where)
            self._position = None
            self._is_within = False

    def _begin_epoch(self) -> None:
        """Begin the next epoch, or resume the one of a state."""
        self._state = None
        if not self._is_within:
            runner = self._opened.states.start()
            plan = EpochPlan.from_meta(self._opened.reader_meta(_NAME))
            epoch = runner.batches.keys(self._batch)[0][0]
            self._left = plan.largest_shard if plan.pad_last_batch else plan.shard_size(epoch)
        self._is_within = True

    def _look_ahead(
        self,
        ahead: deque[_Item],
        program: Sequence[Computed],
        is_single: bool,
        ctx: EvalContext | None,
    ) -> None:
        """Read the next steps of the epoch, and start to compute what they will probably need."""
        if not program or self._regroups:
            return
        executor = (ctx or EvalContext.current()).executor()
        while len(ahead) <= _STEPS_AHEAD and len(ahead) * self._size < self._left:
            if ahead and ahead[-1].error is not None:
                break
            try:
                ahead.append(self._item(is_single, len(ahead)))
            except DaliCoreError as error:  # of the step that will be read
                ahead.append(_Item(Step(), error=error))
        for item in ahead:
            if item.ids is not None:
                item.step.start(program, item.ids, executor)

    def _item(self, is_single: bool, ahead: int = 0) -> _Item:
        """Read a step, some steps after the one that is next."""
        pipeline = self._opened
        states = pipeline.states
        if not self._regroups:
            outputs = pipeline.run()
            keys = states.start().batches.keys(self._batch + ahead)
            count = 1
        else:
            first, left = self._batch + ahead * self._size, self._left - ahead * self._size
            count = min(self._size, left)
            rows = [pipeline.run() for _ in range(count)]
            rows += rows[-1:] * (self._size - count)
            outputs = tuple(
                TensorListCPU([row[number][0] for row in rows]) for number in range(len(rows[0]))
            )
            keys = [states.start().batches.keys(first + number)[0] for number in range(count)]
            keys += keys[-1:] * (self._size - count)
        step = Step(outputs, None if is_single else self._size)
        return _Item(step, SampleIds(keys, step), states.current(), count)

    def _given(self, item: _Item) -> Any:
        """Return the values of a step, which counts as read from here on."""
        if item.error is not None:
            raise item.error
        self._batch += item.num_batches
        self._position = item.state
        self._left -= self._size
        self._is_within = self._left > 0
        kind: Any = Tensor if item.step.size is None else Batch
        values = [
            object.__new__(kind)._known(data, item.step.size, item.ids)
            for data in item.step.outputs
        ]
        if self._names is not None:
            return dict(zip(self._names, values, strict=True))
        return tuple(values)

    def _go_back(self) -> None:
        """Have the pipeline read next what follows the last step that was given."""
        pipeline = self._pipeline
        if pipeline is not None and self._position is not None:
            pipeline.states.go_to(self._position, self._where)


def make_reader(spec: OpSpec, module: str) -> type[Reader]:
    """Make the class of a reader."""
    name = class_name(spec.name)
    attributes = {"_spec": spec, "__doc__": documentation(spec), "__module__": module}
    return type(name, (Reader,), {**attributes, "__qualname__": name})
