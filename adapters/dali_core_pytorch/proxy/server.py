"""The pipeline behind proxies, in the main process."""

from __future__ import annotations

import os
import signal
import threading
import uuid
from collections import deque
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import torch

from dali_core import Pipeline
from dali_core.errors import ArgumentTypeError, GraphError, PipelineStateError, TensorError
from dali_core_pytorch.adapter import adapter
from dali_core_pytorch.proxy.references import (
    BatchReference,
    Call,
    Calls,
    DALIProxy,
    SampleReference,
)
from dali_core_pytorch.proxy.structures import Reference, references_in, replaced

if TYPE_CHECKING:
    from typing_extensions import Self


class DALIServer:
    """Runs a pipeline for samples that the workers of a `torch.utils.data.DataLoader` load.

    The data set calls `proxy`, for example as its transform. What the call returns stands for the
    outputs of the pipeline, until `produce_data` replaces it by tensors in the main process; the
    `DataLoader` of this module does so by itself. The inputs travel in the batches of PyTorch's
    loader.

    Batches run in the order in which the loader returns them, so random operators do the same
    whatever the number of workers is. The pipeline computes by its own native threads; there is no
    other thread.

    Parameters
    ----------
    pipeline : Pipeline
        Has inputs: `external_source` operators without a source. Its batch size is the largest one
        of the loader.
    deterministic : bool
        Accepted without effect: the order of batches is always the same.

    Raises
    ------
    ArgumentTypeError
        If it is no pipeline.
    """

    def __init__(self, pipeline: Pipeline, deterministic: bool = False) -> None:
        if not isinstance(pipeline, Pipeline):
            raise ArgumentTypeError(
                f"DALIServer: pipeline must be a Pipeline (got {pipeline!r}). Pass what a function "
                "with @pipeline_def returns."
            )
        self._pipeline = pipeline
        self._name = uuid.uuid4().hex
        self._proxy: DALIProxy | None = None
        self._process = os.getpid()
        self._lock = threading.Lock()
        self._in_flight: deque[Run] = deque()

    def __reduce__(self) -> NoReturn:
        raise PipelineStateError(
            "DALIServer: must stay in its process (it was to be sent to another one). Give the "
            "data set the proxy, not the server."
        )

    @property
    def proxy(self) -> DALIProxy:
        """The object that workers call in place of the pipeline; it can be pickled.

        Raises
        ------
        GraphError
            If the pipeline has no inputs.
        """
        if self._proxy is None:
            names = self._pipeline.input_names
            if not names:
                raise GraphError(
                    "DALIServer: the pipeline must have an input (it has none). Use an "
                    "fn.external_source without a source."
                )
            self._proxy = DALIProxy(self._name, names, self._pipeline.num_outputs)
        return self._proxy

    def start_thread(self) -> None:
        """Build the pipeline, which starts its threads. Better use ``with server:``."""
        self._pipeline.build()

    def stop_thread(self) -> None:
        """Wait for the batches in flight, and release those without a later reader.

        The server may be used again afterwards. Better use ``with server:``.
        """
        with _DeathsDeferred(), self._locked():
            while self._in_flight:
                self._take_oldest()

    def __enter__(self) -> Self:
        """Build the pipeline."""
        self.start_thread()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Wait for the batches in flight."""
        self.stop_thread()

    def produce_data(self, obj: Any) -> Any:
        """Replace what stands for outputs of the pipeline by tensors, anywhere in a batch.

        Parameters
        ----------
        obj : object
            A batch: lists, tuples, dicts, and objects with attributes, in each other as deep as
            they may be. Collated references become tensors of the batch, others those of their
            sample.

        Returns
        -------
        object
            The same, changed in place; tuples are made anew. Without references nothing changes.

        Raises
        ------
        SampleError
            If an operator failed. The pipeline continues with the next batch.
        TensorError
            If the samples of an output differ in shape.
        """
        return self.schedule(obj).result()

    def schedule(self, batch: Any) -> ScheduledBatch:
        """Start the pipeline for what stands for its outputs in a batch.

        Parameters
        ----------
        batch : object
            See `produce_data`.

        Returns
        -------
        ScheduledBatch
            Its `result` is what `produce_data` returns.
        """
        singles: list[Call] = []
        for reference in references_in(batch):
            if reference.server != self._name:
                continue
            if reference.calls is not None:
                self._start(reference.calls)
            elif isinstance(reference, SampleReference):
                singles.append(reference.call)
        singles = [*dict.fromkeys(singles)]
        size = self._pipeline.max_batch_size
        for first in range(0, len(singles), size):
            self._start(Calls(singles[first : first + size]))
        return ScheduledBatch(self, batch)

    def data(self, reference: Reference) -> Any:
        """Return what takes the place of a reference: itself, if it is of another server."""
        if reference.server != self._name or reference.calls is None:
            return reference
        run: Run = reference.calls.run
        with _DeathsDeferred(), self._locked():
            while not run.is_done:
                self._take_oldest()
        if isinstance(reference, BatchReference):
            return run.batch(reference.output)
        return run.sample(reference.output, reference.call.place)

    def _start(self, calls: Calls) -> None:
        if calls.run is not None:
            return
        with _DeathsDeferred(), self._locked():
            while len(self._in_flight) >= self._pipeline.cpu_queue_size:
                self._take_oldest()
            calls.run = run = Run()
            try:
                self._pipeline.schedule_batch(**calls.pop_inputs())
            except Exception as error:
                run.fail(error)
            else:
                self._in_flight.append(run)

    def _take_oldest(self) -> None:
        run = self._in_flight[0]
        # If Ctrl-C interrupts it, the batch stays the next one.
        try:
            run.finish(self._pipeline.outputs())
        except StopIteration:
            run.fail(
                PipelineStateError(
                    "DALIServer: sources of the pipeline must have data for all batches of the "
                    "loader (one has ended). Let it repeat, or make it endless."
                )
            )
        except Exception as error:
            run.fail(error)
        self._in_flight.popleft()

    def _locked(self) -> threading.Lock:
        if os.getpid() != self._process:
            raise PipelineStateError(
                "DALIServer: must be used in the process that made it (it was used in a fork). "
                "Call the proxy there, and produce_data in the main process."
            )
        return self._lock


class _DeathsDeferred:
    """Lets the handler of the death of child processes run at the end, and not in between.

    That of PyTorch raises an exception wherever the main thread is. Between the inputs of a batch
    and its start, or between its outputs and the note that they are there, all later batches would
    get the outputs of others.
    """

    def __init__(self) -> None:
        self._handler: Any = None
        self._frame: FrameType | None = None
        self._has_come = False

    def __enter__(self) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # handlers interrupt the main thread only
        if callable(signal.getsignal(signal.SIGCHLD)):
            self._handler = signal.signal(signal.SIGCHLD, self._note)

    def __exit__(self, *args: object) -> None:
        if self._handler is None:
            return
        signal.signal(signal.SIGCHLD, self._handler)
        if self._has_come:
            self._handler(signal.SIGCHLD, self._frame)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._has_come, self._frame = True, frame


class ScheduledBatch:
    """A batch of a loader, and what the pipeline computes for it.

    Parameters
    ----------
    server : DALIServer
        Computes it.
    batch : object
        Where to put the results.
    """

    def __init__(self, server: DALIServer, batch: Any) -> None:
        self._server = server
        self._batch = batch

    def result(self) -> Any:
        """Wait for the pipeline, and return the batch with its outputs."""
        return replaced(self._batch, self._server.data)


class Run:
    """One batch of the pipeline."""

    def __init__(self) -> None:
        self.is_done = False
        self._outputs: tuple[Any, ...] = ()
        self._tensors: dict[int, torch.Tensor] = {}
        self._error: Exception | None = None

    def finish(self, outputs: tuple[Any, ...]) -> None:
        """Take the outputs."""
        self._outputs, self.is_done = outputs, True

    def fail(self, error: Exception) -> None:
        """Take the reason why there are none."""
        self._error, self.is_done = error, True

    def batch(self, output: int) -> torch.Tensor:
        """Return an output as a tensor, which is the same each time."""
        self._check()
        if output not in self._tensors:
            tensors = self._outputs[output]
            if not tensors.is_dense_tensor():
                raise TensorError(
                    f"DALIServer: the samples of output {output} must have one shape (got "
                    f"{_shapes(tensors.shape())}). Resize, crop or pad them in the pipeline, or do "
                    "not collate the references."
                )
            self._tensors[output] = adapter.from_tensor(tensors.as_tensor())
        return self._tensors[output]

    def sample(self, output: int, place: int) -> torch.Tensor:
        """Return one sample of an output."""
        self._check()
        return adapter.from_tensor(self._outputs[output][place])

    def _check(self) -> None:
        if self._error is not None:
            raise self._error


def _shapes(shapes: Any) -> str:
    different = [*dict.fromkeys(map(tuple, shapes))]
    return " and ".join(map(str, different[:2])) + (", and others" if len(different) > 2 else "")
