"""Queries of a pipeline's plan, graph, readers and bad samples."""

from __future__ import annotations

import os
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from dali_core._display.outline import Outline
from dali_core.errors import BadSample
from dali_core.pipeline._parts import PipelineParts
from dali_core.statistics import PipelineStatistics

if TYPE_CHECKING:
    from dali_core._execution.single_sample import Inspected
    from dali_core.inspection.preview import Preview
    from dali_core.inspection.report import Report
    from dali_core.inspection.samples import InspectedSample
    from dali_core.monitoring import Monitor


class PipelineIntrospection(PipelineParts):
    """The methods of `Pipeline` that describe it and what it has done."""

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

    def monitor(self, *, interval: float | None = None, file: TextIO | None = None) -> Monitor:
        """Show in the terminal what the pipeline does while a loop takes its batches.

        Parameters
        ----------
        interval : float, optional
            Seconds between two updates; by default 1 on a terminal, and 10 elsewhere.
        file : text file, optional
            Where to write; by default the standard error output. On a terminal a few lines are
            redrawn, elsewhere a line is added each time.

        Returns
        -------
        Monitor
            To be used in ``with``, or with its methods `start` and `stop`.

        Examples
        --------
        >>> with pipeline.monitor():
        ...     train()
        """
        from dali_core.monitoring import Monitor

        run = weakref.ref(self._run)

        def read() -> PipelineStatistics | None:
            running = run()
            return running.collected() if running is not None else None

        return Monitor(read, interval=interval, file=file)

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
            what they hold; `dali_core.cuda.memory_stats` has what a GPU has reserved altogether.
            Values that are never materialized, because their operators are fused, take nothing.
        """
        return self._run.memory.as_dict() if self._run.memory is not None else {}

    def plan(self) -> str:
        """Describe the stages that the pipeline runs in, their operators, and what is fused.

        Returns
        -------
        str
            Lines, which notebooks show as a table.
        """
        self._states.start_eagerly()
        return Outline(self._definition.make_plan().describe())

    def run_sample(
        self, index: int, epoch: int = 0, inputs: Mapping[str, Any] | None = None
    ) -> InspectedSample:
        """Return what every step makes of one sample.

        The sample is made beside the batches, operator by operator, with the same results. Neither
        iteration nor checkpoints notice. Where an operator combines the samples of a batch, or a
        source gives batches, the whole batch is made. Functions of the user are called once more.

        Parameters
        ----------
        index : int
            Number of the sample in the epoch, counted from 0 in the order of the (shuffled) epoch,
            in this pipeline's shard. Without a reader: in the order in which sources give samples.
        epoch : int
            Which epoch. Without a reader it must be 0 or the one that the pipeline is in, that is
            how often it was reset.
        inputs : mapping of str to array, optional
            Data of this sample, by the name of the source. Needed for sources that the program
            feeds, and for iterables and callables without an argument, which only give what comes
            next. The samples of a batch all get it.

        Returns
        -------
        InspectedSample
            The steps by their names, in the order of their calls. If a step fails, it has the
            error, and those before it have their values.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If there is no such sample, or a source needs `inputs`.
        UnknownInputError
            If `inputs` names no source.
        CudaError
            If operators need a device that is not there.
        """
        from dali_core.inspection.samples import inspect_sample

        return inspect_sample(self._inspected(), index, epoch, inputs)

    def show(
        self,
        samples: int | Sequence[int] = 4,
        epoch: int = 0,
        *,
        boxes: Mapping[str, str] | None = None,
    ) -> Preview:
        """Show what every step makes of some samples, as pictures.

        Images, frames of sequences, masks, spectrograms and waveforms are drawn, everything else is
        written. Images of uint8 are shown as they are, floats between 0 and 1 or between 0 and 255
        as well; all other numbers, such as normalized images, are stretched linearly from their
        smallest to their largest, which the caption says. Boxes of `readers.coco` and of operators
        on boxes are drawn over the images that follow them, up to the next boxes.

        Parameters
        ----------
        samples : int or sequence of int
            How many samples to show, from the start of the epoch; or their numbers.
        epoch : int
            Which epoch; see `run_sample`.
        boxes : mapping of str to str, optional
            Names of other values that are boxes, with ``"ltrb"`` for (left, top, right, bottom) and
            ``"xywh"`` for (left, top, width, height).

        Returns
        -------
        Preview
            A notebook shows it. Printed, it is a text; `Preview.save` writes a page or a picture,
            for which the extra `report` must be installed.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, UnknownInputError, CudaError
            As `run_sample`.
        """
        from dali_core.inspection.preview import Preview, inspect_samples

        return Preview(inspect_samples(self._inspected(), samples, epoch, boxes))

    def report(self, path: str | os.PathLike[str], samples: int | Sequence[int] = 4) -> Report:
        """Write a page about the pipeline, which contains everything that it shows.

        It has the rates and the `statistics` with their diagnosis, the graph with times and sizes,
        samples as `show` has them, one sample in several epochs, the classes, the plan, and
        versions of what the pipeline runs on. The times are those of the batches that were run
        before.

        Parameters
        ----------
        path : path
            HTML file to write; it is replaced in one step.
        samples : int or sequence of int
            As for `show`. If they cannot be made, the page says why.

        Returns
        -------
        Report
            Its method `open` shows the page in the browser.

        Raises
        ------
        MissingModuleError
            If a package of the extra `report` is not installed.
        """
        from dali_core.inspection.report import write_report

        inspected = self._inspected()
        plan = self._definition.make_plan()
        return write_report(path, inspected, plan, self.statistics(), samples)

    def _inspected(self) -> Inspected:
        """Describe the pipeline to what makes samples beside it."""
        from dali_core._execution.single_sample import Inspected

        self._states.start()
        self._run.check_caller()
        state = self._states.current()
        return Inspected(
            self._definition.graph.nodes,
            self._definition.define(),
            self._run.readers.by_node,
            self._run.runner_options(),
            state.epoch,
            state.epoch_start,
            self._run.parameters,
        )

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
        from dali_core.inspection.drawing import to_dot

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
        from dali_core.inspection.svg import to_svg

        text = to_svg(self._definition.graph.nodes, self._definition.define())
        with open(filename, "w", encoding="utf-8") as file:
            file.write(text)

    def _repr_html_(self) -> str | None:
        """Draw the graph for a notebook in the colors of its theme, once there are outputs."""
        drawn = self._repr_svg_()
        if drawn is None:
            return None
        from dali_core.inspection.themes import in_notebook

        return in_notebook(drawn)

    def _repr_svg_(self) -> str | None:
        """Draw the graph for a notebook, as soon as the pipeline has outputs."""
        if self._definition.outputs is None:
            return None
        from dali_core.inspection.svg import to_svg

        return to_svg(self._definition.graph.nodes, self._definition.outputs)

    def input_feed_count(self, input_name: str) -> int:
        """Return how many batches must be fed to an input before the first `run`.

        Parameters
        ----------
        input_name : str
            Name of an `external_source`.

        Raises
        ------
        UnknownInputError
            If the outputs depend on no such operator.
        """
        return self._inputs.count(input_name)

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
            ``pad_last_batch`` and ``stick_to_shard``. Where labels are numbers of folders, there is
            ``class_names`` as well, a list with the folder of each label.
        """
        self._states.start()
        if name is not None:
            return self._run.readers.find(name).meta()
        return {key: reader.meta() for key, reader in self._run.readers.by_name.items()}

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
