"""Data of TensorFlow as inputs of a pipeline."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import tensorflow as tf

from dali_core import Pipeline
from dali_core.errors import ArgumentTypeError, PipelineStateError


class Input:
    """The input of an `fn.external_source` of a pipeline.

    Parameters
    ----------
    dataset : tf.data.Dataset or callable
        A dataset of single tensors; or a function without arguments, such as a generator function,
        that returns an iterable of arrays. It is called for each iteration over the pipeline.
    layout : str, optional
        Layout of the samples, such as ``"HWC"``; by default that of the `external_source`.
    batch : bool, optional
        Whether an element is a batch, with samples along its first axis, rather than one sample.
        None means True, as for `external_source`.

    Raises
    ------
    ArgumentTypeError
        If `dataset` is neither.
    """

    def __init__(
        self,
        dataset: Any,
        *,
        layout: str | None = None,
        batch: bool | None = False,
    ) -> None:
        if isinstance(dataset, tf.data.Dataset):
            if not isinstance(dataset.element_spec, tf.TensorSpec):
                raise ArgumentTypeError(
                    "Input: elements of dataset must be single tensors (got "
                    f"{dataset.element_spec}). Select one with dataset.map."
                )
        elif not callable(dataset):
            raise ArgumentTypeError(
                "Input: dataset must be a tf.data.Dataset, or a function that returns an iterable "
                f"(got {dataset!r}). Wrap data in tf.data.Dataset.from_tensor_slices."
            )
        self.dataset = dataset
        self.layout = layout
        self.batch = batch

    def batches(self, batch_size: int) -> Iterator[Any]:
        """Iterate over batches as `Pipeline.feed_input` takes them, from the beginning.

        Samples that do not fill the last batch are dropped, as by `fn.external_source`.
        """
        if isinstance(self.dataset, tf.data.Dataset):
            elements: Iterator[Any] = iter(self.dataset.as_numpy_iterator())
        else:
            elements = iter(self.dataset())
        if self.batch or self.batch is None:
            return elements
        batches = iter(lambda: list(itertools.islice(elements, batch_size)), [])
        return itertools.takewhile(lambda batch: len(batch) == batch_size, batches)


def check_inputs(input_datasets: Any) -> dict[str, Input]:
    """Return the inputs by name; datasets and functions give samples.

    Raises
    ------
    ArgumentTypeError
        If it is no mapping of names to inputs.
    PipelineStateError
        If datasets cannot be iterated over, because TensorFlow builds a graph.
    """
    if not isinstance(input_datasets, Mapping):
        raise ArgumentTypeError(
            "input_datasets: must map names of external_source operators to datasets (got "
            f'{type(input_datasets).__name__}). Pass {{"name": dataset}}.'
        )
    for name in input_datasets:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"input_datasets: names must be str (got {name!r}). Give the name of an "
                "external_source."
            )
    if not tf.executing_eagerly():
        raise PipelineStateError(
            "input_datasets: the dataset must be made in eager mode (got a graph, of tf.function "
            "or of TensorFlow 1). Make it outside."
        )
    return {
        name: value if isinstance(value, Input) else Input(value)
        for name, value in input_datasets.items()
    }


class FedPipeline(Pipeline):
    """A pipeline that feeds itself before each batch, until one of its inputs ends."""

    def set_inputs(self, inputs: Mapping[str, Input]) -> None:
        """Say what feeds which `external_source`.

        Raises
        ------
        UnknownInputError
            If the pipeline has no such `external_source`.
        """
        for name in inputs:
            self.input_feed_count(name)
        self._fed = {
            name: (value.batches(self.max_batch_size), value.layout or "")
            for name, value in inputs.items()
        }

    def iter_setup(self) -> None:
        """Feed the next batch; raise StopIteration if there is none."""
        batches = {name: (next(batches), layout) for name, (batches, layout) in self._fed.items()}
        for name, (batch, layout) in batches.items():
            self.feed_input(name, batch, layout)


def copied(of: Pipeline, options: Mapping[str, Any], inputs: Mapping[str, Input]) -> Pipeline:
    """Make a pipeline with the graph of another one; `options` are arguments of `Pipeline`."""
    if not inputs:
        return Pipeline.from_pipeline(of, **options)
    pipeline = FedPipeline.from_pipeline(of, **options)
    pipeline.set_inputs(inputs)
    return pipeline
