"""An iterator over batches that actors of a cluster compute."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ray
from ray.exceptions import (
    GetTimeoutError,
    NodeDiedError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
    WorkerCrashedError,
)

from dali_core.errors import (
    AdapterError,
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    PipelineStateError,
    WorkerError,
)
from dali_core.plugin.base_iterator import LastBatchPolicy
from dali_core.plugin.batch_schedule import Epochs
from dali_core.plugin.iterator_arguments import check_output_map
from dali_core_ray.producer import (
    Batch,
    BatchProducer,
    Definition,
    ProducerOptions,
    State,
    check_count,
    check_definition,
)

# Exceptions that Ray raises when an actor, its node, or a stored batch is lost.
_LOST = (RayActorError, NodeDiedError, ObjectLostError, WorkerCrashedError)


@dataclass
class _Actor:
    handle: Any
    opened: Any
    """Reference to what `BatchProducer.open` returns."""


@dataclass
class _Task:
    """Consecutive batches of an epoch that one actor computes; `first` is received next."""

    epoch: int
    first: int
    stop: int
    actor: _Actor
    batches: Any = None


class RayLoader:
    """Iterate over batches that actors compute, in the order and with the content of one process.

    Actors take consecutive batches in turn and store them in Ray's object store. An actor that dies
    is replaced, and what it had not delivered is computed again.

    Parameters
    ----------
    definition : callable
        Returns the pipeline, without arguments; sent to every actor. Use `functools.partial` for
        arguments, such as the shard of this process.
    output_map : list of str
        Distinct names of the outputs.
    reader_name : str
        Name of the reader that epochs follow.
    num_actors : int, optional
        Number of actors.
    last_batch_policy : LastBatchPolicy, optional
        What to do with the last batch if the epoch's samples do not fill it.
    output_types : sequence of str, optional
        For each output ``"dense"``, one array, or ``"list"``, an array for each sample.
    batches_per_task : int, optional
        Consecutive batches that an actor computes. At most twice as many for each actor are in
        the object store, or being computed; then the actors wait for the consumer.
    actor_options : mapping, optional
        Resources of an actor, as `ray.remote` takes them; ``{"num_cpus": 1, "scheduling_strategy":
        "SPREAD"}`` unless given. `num_cpus` should be the number of threads of the pipeline.
    max_restarts : int, optional
        How many actors may die before the next batch arrives.
    timeout : float, optional
        Seconds to wait for a batch.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument is wrong, or the pipeline that the actors build.
    WorkerError
        If the actors die, or do not start because the cluster lacks resources.

    Notes
    -----
    Batches are dictionaries of NumPy arrays which share the memory of the object store and cannot
    be written. The state is that of an iterator over the pipeline in one process: either can load
    that of the other.
    """

    def __init__(
        self,
        definition: Definition,
        output_map: Sequence[str],
        *,
        reader_name: str,
        num_actors: int = 1,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        output_types: Sequence[str] | None = None,
        batches_per_task: int = 4,
        actor_options: Mapping[str, Any] | None = None,
        max_restarts: int = 3,
        timeout: float = 300.0,
    ) -> None:
        where = "RayLoader"
        self._options = ProducerOptions(
            check_definition(definition, where),
            check_output_map(output_map),
            reader_name,
            last_batch_policy,
            output_types,
        )
        self._num_actors = check_count(where, "num_actors", num_actors)
        self._batches_per_task = check_count(where, "batches_per_task", batches_per_task)
        self._max_restarts = check_count(where, "max_restarts", max_restarts, 0)
        self._actor_options: dict[str, Any] = {
            "num_cpus": 1,
            "scheduling_strategy": "SPREAD",
        }
        if not isinstance(actor_options, Mapping | None):
            raise ArgumentTypeError(
                f"{where}: actor_options must be a mapping (got {actor_options!r}). Pass a dict, "
                'such as {"num_cpus": 4}.'
            )
        self._actor_options |= actor_options or {}
        if not timeout > 0:
            raise ArgumentValueError(
                f"{where}: timeout must be positive (got {timeout!r}). Pass seconds to wait."
            )
        self._timeout = timeout
        self._actors: list[_Actor] = []
        self._tasks: deque[_Task] = deque()
        self._num_lost = 0  # since the last batch
        self._epochs: Epochs
        self._epoch: int
        self._taken: int  # batches of the epoch
        self._open(None)

    def __repr__(self) -> str:
        """Return the output map, the number of actors, and the position in the epoch."""
        return (
            f"<{type(self).__name__} output_map={self._options.output_map}, "
            f"actors={len(self._actors)}: epoch {self._epoch}, {self._taken} of {len(self)} "
            "batches given>"
        )

    def __len__(self) -> int:
        """Return the number of batches in the epoch."""
        return self._epochs.num_given(self._epoch)

    def __enter__(self) -> RayLoader:
        """Return the loader, which ends with the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the actors."""
        self.close()

    def __iter__(self) -> RayLoader:
        """Return the loader itself, in a new epoch if the last one is over."""
        if self._taken >= len(self):
            self._epoch, self._taken = self._epoch + 1, 0
        return self

    def __next__(self) -> Batch:
        """Return the next batch, or raise StopIteration at the end of the epoch.

        After an error in a batch, the batch after it comes next.
        """
        if not self._actors:
            raise PipelineStateError("RayLoader: must be open (it was closed). Make a new one.")
        if self._taken >= len(self):
            raise StopIteration
        self._submit()
        batch, self._state = self._receive_or_replace()
        self._taken += 1
        if isinstance(batch, Exception):
            raise batch
        return batch

    def state_dict(self) -> dict[str, Any]:
        """Return the state after the last batch that was returned; see `BaseIterator`."""
        return dict(self._state)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Resume from a state, possibly with another number of actors or shards.

        Parameters
        ----------
        state : mapping
            What `state_dict` returned, of a loader or of an iterator in one process. Nothing
            changes if it does not fit.

        Raises
        ------
        StateMismatchError
            If the state is not of such a pipeline and iterator.
        """
        self._open(state)

    def close(self) -> None:
        """End the actors and drop what they have computed; batches that were returned stay."""
        self._tasks.clear()
        for actor in self._actors:
            ray.kill(actor.handle)
        self._actors.clear()

    def _open(self, state: State | None) -> None:
        """Have the actors begin at a state, which the first one understands for all."""
        running, num_lost = deque(self._actors), 0
        while True:
            first = self._begin_at(state, running.popleft() if running else None)
            try:
                epochs, start = self._wait(first.opened)
                break
            except _LOST as error:
                num_lost += 1
                self._check_lost(num_lost, error)
            except BaseException:
                if all(first.handle is not actor.handle for actor in self._actors):
                    ray.kill(first.handle)
                raise
        self._tasks.clear()
        self._epochs = epochs
        self._start_state = self._state = start
        self._actors = [
            first,
            *(
                self._begin_at(start, running.popleft() if running else None)
                for _ in range(self._num_actors - 1)
            ),
        ]
        self._epoch, self._taken = start["epoch"], start["taken"]
        self._next_task = (self._epoch, self._taken)

    def _begin_at(self, state: State | None, running: _Actor | None = None) -> _Actor:
        """Have an actor build its pipeline: one that has another, or a new one."""
        handle = (
            ray.remote(BatchProducer).options(**self._actor_options).remote(self._options)
            if running is None
            else running.handle
        )
        return _Actor(handle, handle.open.remote(state))

    def _submit(self) -> None:
        """Keep two tasks for every actor: one to compute, and the next one."""
        while len(self._tasks) < 2 * self._num_actors:
            epoch, first = self._next_task
            length = self._epochs.num_given(epoch)
            stop = min(first + self._batches_per_task, length)
            if first < stop:
                actor = min(self._actors, key=self._num_tasks)
                task = _Task(epoch, first, stop, actor)
                self._begin(task)
                self._tasks.append(task)
            self._next_task = (epoch, stop) if stop < length else (epoch + 1, 0)

    def _num_tasks(self, actor: _Actor) -> int:
        return sum(task.actor is actor for task in self._tasks)

    def _begin(self, task: _Task) -> None:
        read = task.actor.handle.read.options(num_returns="streaming")
        task.batches = read.remote(task.epoch, task.first, task.stop)

    def _receive_or_replace(self) -> tuple[Batch | Exception, State]:
        while True:
            task = self._tasks[0]
            try:
                received = self._receive(task)
            except _LOST as error:
                self._replace(task.actor, error)
                continue
            self._num_lost = 0
            task.first += 1
            if task.first == task.stop:
                self._tasks.popleft()
            return received

    def _receive(self, task: _Task) -> tuple[Batch | Exception, State]:
        self._wait(task.actor.opened)
        ready, _ = ray.wait([task.batches], timeout=self._timeout)
        if not ready:
            raise self._too_late()
        received: tuple[Batch | Exception, State] = self._wait(next(task.batches))
        return received

    def _wait(self, reference: Any) -> Any:
        """Return what an actor has computed; raise what it raised."""
        try:
            return ray.get(reference, timeout=self._timeout)
        except GetTimeoutError as error:
            raise self._too_late() from error
        except _LOST:
            raise
        except RayTaskError as error:
            cause = error.cause
            if isinstance(cause, DaliCoreError):
                raise cause from error
            raise AdapterError(f"RayLoader: an actor failed: {error}") from error

    def _replace(self, actor: _Actor, error: Exception) -> None:
        """Start another actor in place of one, which computes what that has not delivered."""
        self._num_lost += 1
        ray.kill(actor.handle)
        self._check_lost(self._num_lost, error)
        new = self._begin_at(self._start_state)
        self._actors[self._actors.index(actor)] = new
        for task in self._tasks:
            if task.actor is actor:
                task.actor = new
                self._begin(task)

    def _check_lost(self, num_lost: int, error: Exception) -> None:
        if num_lost <= self._max_restarts:
            return
        self.close()
        raise WorkerError(
            f"RayLoader: actors must live until they have computed a batch ({num_lost} died one "
            f"after another, the last one so: {error}). Look into their logs in Ray's "
            "folder of logs, and check their memory."
        ) from error

    def _too_late(self) -> WorkerError:
        wanted = self._actor_options["num_cpus"]
        available = ray.available_resources().get("CPU", 0)
        return WorkerError(
            f"RayLoader: an actor must deliver within {self._timeout:g} s (none did; {available:g} "
            f"CPUs of the cluster are free, and {self._num_actors} actors need {wanted:g} each). "
            "Use fewer actors, a smaller num_cpus in actor_options, or a longer timeout."
        )
