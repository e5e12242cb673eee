"""The epochs of a pipeline: whether readers or sources end them, and how readers do."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from dali_core.batching.epoch_plan import EpochPlan
from dali_core.pipeline._graph_definition import GraphDefinition
from dali_core.pipeline._options import PipelineOptions
from dali_core.pipeline._run import PipelineRun


class PipelineEpochs:
    """Says for iterators what ends an epoch.

    Parameters
    ----------
    options : PipelineOptions
        The checkpoint to resume from.
    definition : GraphDefinition
        The graph.
    run : PipelineRun
        Has the readers.
    start : callable
        Opens them, if that has not been done yet.
    """

    def __init__(
        self,
        options: PipelineOptions,
        definition: GraphDefinition,
        run: PipelineRun,
        start: Callable[[], object],
    ) -> None:
        self._options = options
        self._definition = definition
        self._run = run
        self._start = start

    @property
    def has_readers(self) -> bool:
        """Whether data comes from a reader."""
        return self._definition.has_readers

    @property
    def has_sources(self) -> bool:
        """Whether data comes from Python, so that a source may say when an epoch ends."""
        return self._definition.has_sources

    def plans(self) -> dict[str, EpochPlan]:
        """Return the epochs of the readers, but for parts of mixtures, by name."""
        if not self.has_readers:
            return {}
        self._start()
        return {
            name: EpochPlan.from_meta(reader.meta())
            for name, reader in self._run.readers.leading.items()
        }

    def pad(self) -> bool:
        """Have readers pad each epoch to whole batches, so that no batch has samples of two.

        That is not possible once the pipeline is built, nor if it resumes from a checkpoint without
        padding. It is not done beside a source in Python either, which may be read in step with a
        reader.

        Returns
        -------
        bool
            Whether there were readers that did not.
        """
        if self.has_sources or self._resumes_unpadded():
            return False
        return self._definition.pad_epochs()

    def _resumes_unpadded(self) -> bool:
        """Return whether the checkpoint is one of readers that do not pad.

        One that cannot be read is refused when the pipeline starts.
        """
        try:
            state = json.loads(self._options.checkpoint or "{}")
        except (ValueError, RecursionError):
            return False
        readers = state.get("readers") if isinstance(state, Mapping) else None
        return any(
            isinstance(reader, Mapping) and reader.get("pad_last_batch") is False
            for reader in (readers if isinstance(readers, list) else ())
        )
