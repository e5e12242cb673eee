"""Batch computation in an actor or a task: a pipeline that starts at any position of any epoch."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dali_core import Pipeline
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
)
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core.plugin.batch_schedule import Epochs
from dali_core_ray.adapter import adapter

Definition = Callable[[], Pipeline]
State = Mapping[str, Any]
Batch = dict[str, Any]


def check_definition(definition: Definition, where: str) -> Definition:
    """Check and return a function that makes pipelines, for a call in another process."""
    if not callable(definition):
        raise ArgumentTypeError(
            f"{where}: definition must be a function that returns a Pipeline (got "
            f"{type(definition).__name__}). Pass a function decorated with pipeline_def, or "
            "functools.partial of one."
        )
    return definition


def check_count(where: str, name: str, value: int, least: int = 1) -> int:
    """Return an argument that counts something."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(
            f"{where}: {name} must be an int (got {value!r}). Leave it out for the default."
        )
    if value < least:
        raise ArgumentValueError(
            f"{where}: {name} must be at least {least} (got {value}). Leave it out for the default."
        )
    return int(value)


def make_pipeline(definition: Definition, output_map: Sequence[str], where: str) -> Pipeline:
    """Call `definition`, and check that it returns a pipeline with as many outputs as names."""
    pipeline = check_definition(definition, where)()
    if not isinstance(pipeline, Pipeline):
        raise ArgumentTypeError(
            f"{where}: definition must return a Pipeline (got {type(pipeline).__name__}). Decorate "
            "it with pipeline_def."
        )
    if pipeline.num_outputs != len(output_map):
        raise ArgumentValueError(
            f"{where}: output_map must name every output of the pipeline (got {len(output_map)} "
            f"names for {pipeline.num_outputs} outputs). Give one name per output."
        )
    return pipeline


@dataclass(frozen=True)
class ProducerOptions:
    """The arguments of `RayLoader` that concern the data."""

    definition: Definition
    output_map: Sequence[str]
    reader_name: str
    last_batch_policy: LastBatchPolicy
    output_types: Sequence[str] | None

    def make_iterator(self, where: str) -> BaseIterator:
        """Build the pipeline, in this process."""
        return adapter.iterator(
            make_pipeline(self.definition, self.output_map, where),
            self.output_map,
            reader_name=self.reader_name,
            last_batch_policy=self.last_batch_policy,
            output_types=self.output_types,
            prepare_first_batch=False,
        )


class BatchProducer:
    """Computes any range of the batches of any epoch.

    Parameters
    ----------
    options : ProducerOptions
        What to compute.
    """

    def __init__(self, options: ProducerOptions, where: str = "RayLoader") -> None:
        self._options = options
        self._where = where
        self._iterator: BaseIterator | None = None
        self._place: tuple[int, int] | None = None

    def open(self, state: State | None = None) -> tuple[Epochs, State]:
        """Build the pipeline, and return how many batches epochs have, and the state.

        All producers of a loader load the state of the first: it has the seed, and a producer that
        finds other data, or another graph, refuses it.
        """
        iterator = self._options.make_iterator(self._where)
        if state is not None:
            iterator.load_state_dict(state)
        if iterator.epochs is None or iterator.epochs.num_given(0) < 1:
            raise ArgumentConflictError(
                f"{self._where}: an epoch must have at least one batch (got none). Use a smaller "
                "batch size, or last_batch_policy=LastBatchPolicy.PARTIAL."
            )
        self._iterator, self._place = iterator, None
        return iterator.epochs, iterator.state_dict()

    def read(self, epoch: int, first: int, stop: int) -> Iterator[tuple[Batch | Exception, State]]:
        """Compute batches ``first .. stop - 1`` of an epoch.

        Yields
        ------
        tuple of dict or Exception, and dict
            A batch, or why it cannot be computed, and the state after it.
        """
        iterator = self._iterator
        assert iterator is not None, "open comes first"
        if self._place != (epoch, first):
            iterator.seek(epoch, first)
        for number in range(first, stop):
            batch: Batch | Exception
            try:
                (batch,) = next(iterator)
            except Exception as error:
                batch = _portable(error)
            self._place = (epoch, number + 1)
            yield batch, iterator.state_dict()


def _portable(error: Exception) -> Exception:
    """Return an error that can be sent to another process, with its message at least."""
    error = error.with_traceback(None)
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301
    except Exception:
        return DaliCoreError(f"{type(error).__name__}: {error}")
    return error
