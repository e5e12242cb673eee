"""What one may ask a pipeline about: its plan, its graph, its readers and its bad samples."""

from __future__ import annotations

import os
from typing import Any

from dali_core._graph.drawing import to_dot
from dali_core._graph.svg import to_svg
from dali_core.errors import BadSample
from dali_core.pipeline._properties import PipelineProperties
from dali_core.statistics import PipelineStatistics


class PipelineQueries(PipelineProperties):
    """The methods of `Pipeline` that only look at it."""

    @property
    def bad_samples(self) -> list[BadSample]:
        """The samples on which an operator failed, in the order of the batches returned.

        Samples that were replaced are listed as well as those that raised an error; a sample that
        an epoch repeats as padding counts once. Of more than 10,000 the last are kept.
        """
        return self._run.runner.bad_samples if self._run.runner is not None else []

    def statistics(self) -> PipelineStatistics:
        """Return where the time went since the pipeline was built, and what limits it.

        Printed, it is a table with a diagnosis. It costs nothing to ask during training.

        Returns
        -------
        PipelineStatistics
            Times of the operators, the native threads and the training loop since the pipeline was
            built, or `reset_statistics` was called last.
        """
        self._states.start()
        assert self._run.statistics is not None
        return self._run.statistics.collect()

    def reset_statistics(self) -> None:
        """Start counting again what `statistics` returns, for example after the first batches."""
        self._states.start()
        assert self._run.statistics is not None
        self._run.statistics.reset()

    def executor_statistics(self) -> dict[str, dict[str, list[int]]]:
        """Return how much memory the outputs of each operator took so far.

        Returns
        -------
        dict
            Empty, unless the pipeline was made with ``enable_memory_stats=True`` and has returned
            a batch. Otherwise, for each operator, under ``"CPU_"``, ``"GPU_"`` or ``"MIXED_"`` and
            its name, lists with an entry for each of its outputs, in bytes: ``real_memory_size`` of
            the largest batch, ``max_real_memory_size`` of the largest sample, and the same as
            ``reserved_memory_size`` and ``max_reserved_memory_size``, since buffers are made for
            what they hold; `dali_core.cuda.memory_stats` tells what a GPU has reserved altogether.
            Values that never come into being, because operators run as one, take
            nothing.
        """
        return self._run.memory.as_dict() if self._run.memory is not None else {}

    def plan(self) -> str:
        """Describe the stages that the pipeline runs in, their operators, and what is fused."""
        self._states.start_eagerly()
        return self._definition.make_plan().describe()

    def save_graph_to_dot_file(
        self,
        filename: str | os.PathLike[str],
        show_tensors: bool = False,
        show_ids: bool = False,
        use_colors: bool = False,
    ) -> None:
        """Write the graph in the DOT language of Graphviz.

        Parameters
        ----------
        filename : path
            File to write.
        show_tensors : bool
            Draw the values between the operators, too.
        show_ids : bool
            Add each operator's number.
        use_colors : bool
            Tell operators that run in Python from native ones by colour.
        """
        self._states.start_eagerly()
        text = to_dot(
            self._definition.graph.nodes,
            self._definition.define(),
            show_tensors=show_tensors,
            show_ids=show_ids,
            use_colors=use_colors,
        )
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    def save_graph_to_svg_file(self, filename: str | os.PathLike[str]) -> None:
        """Draw what computes the outputs, as notebooks show it.

        Parameters
        ----------
        filename : path
            SVG file to write.
        """
        text = to_svg(self._definition.graph.nodes, self._definition.define())
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_svg_(self) -> str | None:
        """Draw the graph for a notebook, as soon as the pipeline has outputs."""
        if self._definition.outputs is None:
            return None
        return to_svg(self._definition.graph.nodes, self._definition.outputs)

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Count the samples in an epoch of a reader, over all shards and with their padding.

        Parameters
        ----------
        name : str, optional
            The reader; without it a dict of all readers is returned.
        """
        self._states.start()
        if name is not None:
            return self._run.readers.find(name).plan.num_samples_padded
        return {
            key: reader.plan.num_samples_padded for key, reader in self._run.readers.by_name.items()
        }

    def reader_meta(self, name: str | None = None) -> Any:
        """Describe a reader's epoch and sharding.

        Parameters
        ----------
        name : str, optional
            The reader; without it a dict of all readers is returned.

        Returns
        -------
        dict
            ``epoch_size``, ``epoch_size_padded``, ``number_of_shards``, ``shard_id``,
            ``pad_last_batch`` and ``stick_to_shard``.
        """
        self._states.start()
        if name is not None:
            return self._run.readers.find(name).plan.meta()
        return {key: reader.plan.meta() for key, reader in self._run.readers.by_name.items()}

    def external_source_shm_statistics(self) -> dict[str, list[int]]:
        """Return how much memory workers and pipeline share.

        Returns
        -------
        dict
            ``capacities`` has the size in bytes of each place for results, and
            ``per_sample_capacities`` that size for one sample: what `bytes_per_sample_hint` of
            `fn.external_source` says beforehand. Only what was written takes memory.
        """
        if self._run.workers is None:
            return {"capacities": [], "per_sample_capacities": []}
        return self._run.workers.statistics()
