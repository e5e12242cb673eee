"""What one may ask a pipeline about: its plan, its graph, its readers and its bad samples."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dali_core._execution.memory_statistics import MemoryStatistics
from dali_core._execution.readers import Readers
from dali_core._execution.runner import Runner
from dali_core._graph.drawing import to_dot
from dali_core._graph.graph import Graph
from dali_core._graph.node import DataNode
from dali_core._graph.plan import ExecutionPlan
from dali_core._graph.svg import to_svg
from dali_core.errors import BadSample


class PipelineQueries:
    """The part of `Pipeline` that only looks at it."""

    _graph: Graph
    _memory: MemoryStatistics | None
    _outputs: list[DataNode] | None
    _plan: ExecutionPlan | None
    _readers: Readers
    _runner: Runner | None

    if TYPE_CHECKING:

        def build(self) -> None: ...

        def _define(self) -> list[DataNode]: ...

        def _start(self) -> Runner: ...

    @property
    def bad_samples(self) -> list[BadSample]:
        """The samples on which an operator failed, in the order of the batches given out.

        Samples that were replaced are listed as well as those that raised an error; a sample that
        an epoch repeats as padding counts once. Of more than 10,000 the last are kept.
        """
        return self._runner.bad_samples if self._runner is not None else []

    def executor_statistics(self) -> dict[str, dict[str, list[int]]]:
        """Tell how much memory the outputs of each operator took so far.

        Returns
        -------
        dict
            Empty, unless the pipeline was made with ``enable_memory_stats=True`` and has given out
            a batch. Otherwise, for each operator, under ``"CPU_"``, ``"GPU_"`` or ``"MIXED_"`` and
            its name, lists with an entry for each of its outputs, in bytes: ``real_memory_size`` of
            the largest batch, ``max_real_memory_size`` of the largest sample, and the same as
            ``reserved_memory_size`` and ``max_reserved_memory_size``, since buffers are made for
            what they hold; `dali_core.cuda.memory_stats` tells what a GPU has reserved altogether.
            Values that never come into being, because operators run as one, take
            nothing.
        """
        return self._memory.as_dict() if self._memory is not None else {}

    def plan(self) -> str:
        """Describe the stages that the pipeline runs in, their operators, and what is fused."""
        self.build()
        assert self._plan is not None
        return self._plan.describe()

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
        self.build()
        assert self._outputs is not None
        text = to_dot(
            self._graph.nodes,
            self._outputs,
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
        text = to_svg(self._graph.nodes, self._define())
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_svg_(self) -> str | None:
        """Draw the graph for a notebook, as soon as the pipeline has outputs."""
        return None if self._outputs is None else to_svg(self._graph.nodes, self._outputs)

    def epoch_size(self, name: str | None = None) -> int | dict[str, int]:
        """Count the samples in an epoch of a reader, over all shards and with their padding.

        Parameters
        ----------
        name : str, optional
            The reader; without it a dict of all readers is returned.
        """
        self._start()
        if name is not None:
            return self._readers.find(name).plan.num_samples_padded
        return {
            key: reader.plan.num_samples_padded for key, reader in self._readers.by_name.items()
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
        self._start()
        if name is not None:
            return self._readers.find(name).plan.meta()
        return {key: reader.plan.meta() for key, reader in self._readers.by_name.items()}
