"""The step behind `fn.external_source`."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
from collections.abc import Callable, Collection, Sequence
from typing import Any, NamedTuple

from dali_core._runtime.device_data import copied_on_device, is_on_device
from dali_core._runtime.step import (
    FedStep,
    NotFed,
    SampleFailed,
    SourceFailed,
    StatefulStep,
    StepContext,
    StepOutput,
    check_samples,
    fill_failed,
    note_failure,
)
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import TensorListGPU
from dali_core._runtime.turn import KeptCalls
from dali_core._runtime.worker_parts import forget_frames
from dali_core._runtime.workers import WorkerPool
from dali_core._types import BatchInfo, DALIDataType, SampleInfo
from dali_core.errors import (
    ArgumentFormError,
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    GraphError,
)
from dali_core.operators.external_source.fed import FedBatches
from dali_core.operators.external_source.parallel import (
    ParallelCalls,
    ParallelItems,
    ParallelSource,
    is_sample_source,
)
from dali_core.operators.external_source.producing import split_outputs
from dali_core.operators.external_source.states import Calls, Items, OwnState, is_iterable

ANY_NDIM = -1
"""In a list of numbers of dimensions: any number."""

_CYCLES = {None: "no", False: "no", "no": "no", True: "quiet", "quiet": "quiet", "raise": "raise"}


class SourceStep(FedStep, StatefulStep):
    """Takes batches from the user's source, or from `feed`.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.external_source`.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._num_outputs = int(arguments.get("num_outputs") or 1)
        self._is_tuple = arguments.get("num_outputs") is not None
        self._layouts = self._for_each(arguments.get("layout"), "layout", "")
        self._dtypes = self._for_each(arguments.get("dtype"), "dtype", None)
        self._ndims = self._for_each(arguments.get("ndim"), "ndim", ANY_NDIM)
        self._kinds: list[_Kind | None] = [None] * self._num_outputs
        source = arguments.get("source")
        takes_items = is_iterable(source)
        self._cuda_stream = arguments.get("cuda_stream")
        self._on_device: Collection[int] = ()
        self._unused: Collection[int] = ()
        self._parallel: ParallelSource | None = None
        self._loses_state = False
        is_iterator = takes_items and hasattr(source, "__next__")
        self._gives_once = is_iterator and OwnState.of(source) is None
        self._by_sample = arguments.get("batch") is False
        self._fetch: Callable[[StepContext], Any]
        self._rewind: Callable[[], None] = _do_nothing
        self._state: Callable[[], Any] = _do_nothing
        self._kept = KeptCalls()
        self._begin: Callable[..., None] = _do_nothing
        self._restore: Callable[[Any], None]
        if arguments["parallel"]:
            self._by_sample = is_sample_source(arguments, takes_items)
            self._take_from(self._parallel_source(source, takes_items, arguments))
        elif source is None:
            self._fed = FedBatches(
                self._num_outputs, arguments["repeat_last"], arguments["blocking"]
            )
            self._fetch = self._take_fed
            self._restore = self._fed.restore
        elif takes_items:
            items = Items(source, _CYCLES[arguments.get("cycle")], self._kept)
            self._rewind, self._begin = items.end_epoch, items.begin
            self._state, self._restore = items.state, items.restore
            self._fetch = self._taking_samples(items) if self._by_sample else items.take
        elif callable(source):
            calls = Calls(source, takes_argument(source), self._kept)
            self._loses_state, self._begin = not calls.can_go_on, calls.begin
            self._state, self._restore = calls.state, calls.restore
            self._fetch = self._calling(calls, arguments["batch_info"])
        else:
            raise _no_source(source)

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Get one batch from the source."""
        try:
            return self._run(context)
        except BaseException as error:
            if self._parallel is not None:
                forget_frames(error)
            raise

    def _run(self, context: StepContext) -> list[StepOutput]:
        data = self._fetched(context)
        data = self._outputs_of(data) if self._is_tuple else (data,)
        used = dict(enumerate(data))
        for number in self._unused:
            del used[number]
        if context.failed is not None:
            used = self._without_failed(context, used)
        outputs = {
            number: StepOutput(self._batch(number, samples), self._layouts[number])
            for number, samples in used.items()
        }
        if not self._unused:
            return list(outputs.values())
        any_output = next(iter(outputs.values()))
        return [outputs.get(number, any_output) for number in range(len(data))]

    def _fetched(self, context: StepContext) -> Any:
        """Ask the source, and say which exceptions are its own."""
        self._begin_batch(context)
        try:
            return self._fetch(context)
        except (StopIteration, NotFed, DaliCoreError):
            raise
        except SampleFailed as failed:
            if isinstance(failed.__cause__, DaliCoreError):
                raise
            raise SourceFailed(failed.sample) from failed.__cause__
        except Exception as error:
            raise SourceFailed(-1) from error

    def skip(self, context: StepContext) -> None:
        """Lose a batch of the source; keep what was fed."""
        if not hasattr(self, "_fed"):
            self._begin_batch(context)
            with contextlib.suppress(StopIteration):
                self._fetch(context)

    def forget(self) -> None:
        """Release what `run` would need to run once more for the same batch."""
        self._kept.forget()

    def _begin_batch(self, context: StepContext) -> None:
        key = context.epoch, context.iteration
        self._begin(is_again=self._kept.holds(key))
        self._kept.begin(key)

    def lose(self, context: StepContext) -> None:
        """Drop what was fed for a batch that a source before has failed."""
        if self.is_fed:
            self._fed.lose(context)

    def accept_on_device(self, outputs: Collection[int]) -> None:
        """Set the outputs without a reader on the host, whose data may be on a device."""
        self._on_device = outputs

    def leave_out(self, outputs: Collection[int]) -> None:
        """Set the unused outputs: they may have any data, or none."""
        self._unused = outputs
        if self.is_fed:
            self._fed.leave_out(outputs)

    def use_workers(self, pool: WorkerPool, batch_size: int) -> None:
        """Get parallel sources ready to run in workers, which are started next."""
        if self._parallel is not None:
            self._parallel.join(pool, batch_size)

    def reset(self) -> None:
        """Start the next epoch."""
        self._kept.forget()
        self._rewind()

    def copied(
        self, data: Any, layout: str, cuda_stream: Any = None, output: int = 0
    ) -> TensorListCPU | TensorListGPU:
        """Return a copy of one batch of an output (see `Pipeline.feed_input`)."""
        if not hasattr(self, "_fed"):
            raise GraphError(
                "Pipeline.feed_input: the external_source must have no source of its own (it has "
                "one). Leave out source."
            )
        own = self._layouts[output]
        if own and layout not in ("", own):
            raise ArgumentValueError(
                f"Pipeline.feed_input: layout must be that of the external_source, {own!r} (got "
                f"{layout!r}). Leave out one of them."
            )
        # The caller may reuse the memory as soon as this returns.
        if is_on_device(data):
            self._check_place(output)
            stream = self._cuda_stream if cuda_stream is None else cuda_stream
            return copied_on_device(data, layout or own, stream)
        return copy.deepcopy(TensorListCPU(data, layout or None, contiguous=False))

    def feed(self, batch: TensorListCPU | TensorListGPU, output: int = 0) -> None:
        """Hand over one batch of an output, as `copied` returned it."""
        self._fed.put(output, batch)

    def discard(self) -> None:
        """Drop all that was fed and not taken."""
        self._fed.discard()

    @property
    def is_fed(self) -> bool:
        """Whether its data comes from `feed`."""
        return hasattr(self, "_fed")

    @property
    def is_parallel(self) -> bool:
        """Whether workers call the source."""
        return self._parallel is not None

    @property
    def loses_state(self) -> bool:
        """Whether the position of the source is unknown, so that it cannot continue from there."""
        return self._loses_state

    @property
    def can_start_over(self) -> bool:
        """Whether a new iteration may begin: not of what was fed, nor of an iterator."""
        return not (self.is_fed or self._loses_state or self._gives_once)

    @property
    def gives_samples(self) -> bool:
        """Whether the source gives samples, so that another batch size gives the same ones."""
        return self._by_sample

    def state(self) -> Any:
        """Return what the source has given, or its own state; what was fed is not kept."""
        return self._state()

    def restore(self, state: Any) -> None:
        """Resume from where `state` was called."""
        self._kept.forget()
        self._restore(state)
        self._kept.forget()

    def _take_fed(self, context: StepContext) -> Any:
        batches = self._fed.take(context)
        return batches if self._is_tuple else batches[0]

    def _take_from(self, source: ParallelSource) -> None:
        self._parallel = source
        self._fetch, self._rewind = source.take, source.end_epoch
        self._state, self._restore = source.state, source.restore

    @staticmethod
    def _parallel_source(
        source: Any, takes_items: bool, arguments: dict[str, Any]
    ) -> ParallelSource:
        if takes_items:
            return ParallelItems(source, _CYCLES[arguments.get("cycle")], arguments)
        if not callable(source):
            raise _no_source(source)
        if not takes_argument(source):
            raise ArgumentTypeError(
                "source must take one argument with parallel=True, the types.SampleInfo or the "
                "number of the batch (it takes none). Workers cannot know otherwise which data "
                "is wanted."
            )
        return ParallelCalls(source, arguments)

    def _taking_samples(self, items: Items) -> Callable[[StepContext], Any]:
        def take_samples(context: StepContext) -> Any:
            return self._transposed([items.take(context) for _ in range(context.batch_size)])

        return take_samples

    def _calling(self, calls: Calls, batch_info: bool) -> Callable[[StepContext], Any]:
        if not self._by_sample:

            def call_for_batch(context: StepContext) -> Any:
                info = BatchInfo(context.iteration, context.epoch)
                return calls.call(info if batch_info else context.iteration)

            return call_for_batch

        def call_for_samples(context: StepContext) -> Any:
            samples = []
            for i in range(context.batch_size):
                info = SampleInfo(context.first_sample + i, i, context.iteration, context.epoch)
                try:
                    sample = calls.call(info)
                    samples.append(self._outputs_of(sample) if self._is_tuple else sample)
                except StopIteration:
                    raise
                except Exception as error:
                    note_failure(context, i, error)
                    samples.append((None,) * self._num_outputs if self._is_tuple else None)
            return self._transposed(samples)

        return call_for_samples

    def _transposed(self, samples: list[Any]) -> Any:
        """Turn a list of tuples, one a sample, into a tuple of lists, one an output."""
        if not self._is_tuple:
            return samples
        return tuple(zip(*map(self._outputs_of, samples), strict=True))

    def _outputs_of(self, data: Any) -> Sequence[Any]:
        return split_outputs(data, self._num_outputs)

    def _without_failed(self, context: StepContext, data: dict[int, Any]) -> dict[int, Any]:
        """Replace samples that are no data, or of another type, by good ones."""
        if not all(isinstance(samples, (list, tuple)) for samples in data.values()):
            return data  # there are no single samples that could be at fault
        columns = {
            number: list(samples)  # their batch is checked as a whole
            if any(map(is_on_device, samples))
            else check_samples(
                context,
                samples,
                self._layouts[number],
                functools.partial(self._check_batch, number),
            )
            for number, samples in data.items()
        }
        if len({len(column) for column in columns.values()}) == 1:
            fill_failed(context, [*columns.values()])
        return columns

    def _batch(self, number: int, samples: Any) -> TensorListCPU | TensorListGPU:
        layout = self._layouts[number]
        batch: TensorListCPU | TensorListGPU
        if is_on_device(samples):
            self._check_place(number)
            # What was fed has been copied already.
            batch = samples if self.is_fed else copied_on_device(samples, layout, self._cuda_stream)
        else:
            batch = TensorListCPU(samples, layout or None, contiguous=False)
        self._check_batch(number, batch)
        self._check_kind(number, batch)
        return batch

    def _check_kind(self, number: int, batch: TensorListCPU | TensorListGPU) -> None:
        """Check that a batch is like those before, on which other operators may have settled."""
        if len(batch) == 0:
            return
        kind = _Kind(batch.dtype, batch.ndim(), batch.layout())
        before = self._kinds[number]
        if before == kind:
            return
        if before is not None:
            for what, one, other in zip(kind._fields, before, kind, strict=True):
                # Data without a layout may get one later on.
                if one not in (other, ""):
                    raise TypeError(
                        f"all batches of output {number} must have one {what} (got {other!s:.40} "
                        f"after {one!s:.40}). Convert the data, or use another external_source."
                    )
        self._kinds[number] = kind

    def _check_place(self, number: int) -> None:
        if number not in self._on_device:
            raise ArgumentTypeError(
                f"the data of output {number} must be on the host, where the pipeline reads them "
                "(got data on a GPU). Pass device='gpu' to fn.external_source, or copy them to "
                "the host."
            )

    def _check_batch(self, number: int, batch: TensorListCPU | TensorListGPU) -> None:
        self._check("dtype", number, batch.dtype, self._dtypes[number])
        self._check("ndim", number, batch.ndim(), self._ndims[number])

    def _check(self, what: str, number: int, actual: Any, wanted: Any) -> None:
        if wanted not in (None, ANY_NDIM) and actual not in (wanted, DALIDataType.NO_TYPE):
            raise TypeError(
                f"the source must return data with {what} {wanted} for output {number} "
                f"(got {actual}). Convert it, or change {what}."
            )

    def _for_each(self, value: Any, name: str, otherwise: Any) -> list[Any]:
        if value is None:
            return [otherwise] * self._num_outputs
        values = list(value) if isinstance(value, (list, tuple)) else [value]
        if len(values) > self._num_outputs:
            raise ArgumentFormError(
                f"{name} must have at most one entry for each of the {self._num_outputs} outputs "
                f"(got {len(values)})."
            )
        return values + [otherwise] * (self._num_outputs - len(values))


class _Kind(NamedTuple):
    """The type, number of dimensions and layout of all batches of an output."""

    dtype: DALIDataType
    ndim: int
    layout: str


def check_cycle(source: Any, cycle: Any) -> None:
    """Check that a source can start over as `cycle` says."""
    if not isinstance(cycle, (bool, str, type(None))) or cycle not in _CYCLES:
        raise ArgumentValueError(
            f"cycle must be 'no', 'quiet', 'raise', True, False or None (got {cycle!r})."
        )
    is_given = cycle is not None and not (source is None and cycle is False)
    if is_given and not is_iterable(source):
        raise ArgumentValueError(
            f"cycle must be given only for an iterable source (got {cycle!r} and {source!r}). "
            "Leave it out, or pass an iterable or a generator function."
        )
    if _CYCLES[cycle] != "no" and inspect.isgenerator(source):
        raise ArgumentTypeError(
            f"cycle must be 'no' for a generator, which cannot start over (got {cycle!r}). Pass "
            "the generator function itself as source."
        )


def _no_source(source: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"source must be a callable, an iterable or a generator function (got {source!r})."
    )


def takes_argument(source: Callable[..., Any]) -> bool:
    """Return whether a callable source takes the number of the sample or batch."""
    try:
        parameters = inspect.signature(source).parameters.values()
    except ValueError:  # some built-in callables have no signature
        return False
    positional = [
        parameter
        for parameter in parameters
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    required = [parameter for parameter in positional if parameter.default is parameter.empty]
    variadic = [
        str(parameter)
        for parameter in parameters
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    if variadic or len(required) > 1:
        names = variadic or [str(parameter) for parameter in required]
        raise ArgumentTypeError(
            f"a callable source must take no argument or one (it takes {', '.join(names)}). Wrap "
            "it in a function of none, or of one that says which data is wanted."
        )
    # A sole parameter is the number even if it has a default, as in the reference.
    return len(required) == 1 or len(positional) == 1


def _do_nothing(**_: object) -> None:
    pass
