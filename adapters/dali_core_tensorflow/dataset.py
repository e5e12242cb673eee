"""Pipelines as datasets of TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import tensorflow as tf

from dali_core import Pipeline
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    SerializationError,
)
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from dali_core.plugin.iterator_arguments import warn
from dali_core_tensorflow.adapter import HostAdapter
from dali_core_tensorflow.inputs import Input, check_inputs, copied
from dali_core_tensorflow.passes import FreshPasses, SharedPasses

_OF_PIPELINE: Any = object()


class _Iterator(BaseIterator):
    """The iterator of a dataset, which as in NVIDIA DALI has no end if nothing says one."""

    _finds_reader = False


class DALIDataset(tf.data.Dataset):  # type: ignore[misc]
    """Make a `tf.data.Dataset` of a pipeline; its elements are tuples of batches.

    Parameters
    ----------
    pipeline : Pipeline
        Its outputs must be on the host, and uniform within a batch.
    output_dtypes : tf.DType or tuple of tf.DType
        Types of the outputs.
    output_shapes : shape or tuple of shapes, optional
        Shapes of batches, None for what is unknown or varies. Batches have dimensions of extent 1
        removed where that makes them fit, such as labels of shape (N, 1) for (N,).
    fail_on_device_mismatch : bool, optional
        Whether outputs on a GPU are an error; otherwise they are copied to the host.
    batch_size, num_threads, device_id, prefetch_queue_depth, exec_dynamic : optional
        Arguments of `Pipeline` that replace those of `pipeline`. If neither has a batch size, it
        is 1.
    exec_separated, cpu_prefetch_queue_depth, gpu_prefetch_queue_depth : optional
        With `exec_separated`, the two depths replace `prefetch_queue_depth`.
    dtypes, shapes : optional
        Deprecated names of `output_dtypes` and `output_shapes`.
    size, reader_name, last_batch_policy, last_batch_padded : optional
        Where an epoch ends; see `dali_core.plugin.base_iterator.BaseIterator`. Without `size` and
        `reader_name`, the dataset ends with its sources, and never if there are only readers.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If arguments do not fit each other or the pipeline.

    Notes
    -----
    Each iteration has a pipeline of its own, which is a copy of `pipeline`, without its state or
    checkpoint. It begins with the first batch; with `size` or `reader_name`, with the epoch after
    the last complete iteration. A pipeline that calls Python code, such as an `external_source`
    with a source, cannot be copied: it is run itself, by one iteration at a time, and its arguments
    cannot be replaced.

    Tensors share the memory of the pipeline's outputs, which is never overwritten.

    An error of the pipeline is raised by TensorFlow as one of `tf.errors`, whose message contains
    it. The next batch can be asked for afterwards.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        output_dtypes: Any = None,
        output_shapes: Any = None,
        fail_on_device_mismatch: bool = True,
        *,
        batch_size: int | None = None,
        num_threads: int | None = None,
        device_id: int | None = _OF_PIPELINE,
        exec_separated: bool = False,
        exec_dynamic: bool | None = None,
        prefetch_queue_depth: int | None = None,
        cpu_prefetch_queue_depth: int = 2,
        gpu_prefetch_queue_depth: int = 2,
        dtypes: Any = None,
        shapes: Any = None,
        size: int = -1,
        reader_name: str | None = None,
        last_batch_policy: LastBatchPolicy = LastBatchPolicy.FILL,
        last_batch_padded: bool = False,
    ) -> None:
        _check_pipeline(pipeline)
        specs = _specs(
            _renamed("dtypes", output_dtypes, dtypes),
            _renamed("shapes", output_shapes, shapes),
            pipeline.num_outputs,
        )
        depths = {"cpu_size": cpu_prefetch_queue_depth, "gpu_size": gpu_prefetch_queue_depth}
        given: dict[str, Any] = {
            "batch_size": batch_size,
            "num_threads": num_threads,
            "exec_dynamic": exec_dynamic or None,
            "prefetch_queue_depth": depths if exec_separated else prefetch_queue_depth,
        }
        options = {name: value for name, value in given.items() if value is not None}
        if device_id is not _OF_PIPELINE:
            options["device_id"] = device_id
        epochs: dict[str, Any] = {
            "size": size,
            "reader_name": reader_name,
            "last_batch_policy": last_batch_policy,
            "last_batch_padded": last_batch_padded,
        }
        follows_epochs = reader_name is not None or not (isinstance(size, int) and size < 0)
        inputs = self._given_inputs()
        if inputs and follows_epochs:
            raise ArgumentConflictError(
                "DALIDatasetWithInputs: size and reader_name must be left out with input_datasets, "
                f"which end the epoch (got size={size}, reader_name={reader_name!r}). Use "
                "dataset.take for fewer batches."
            )
        adapter = HostAdapter(copies_from_gpu=not fail_on_device_mismatch)
        names = [f"output {number}" for number in range(len(specs))]

        def iterate(over: Pipeline) -> BaseIterator:
            return _Iterator(over, names, adapter, prepare_first_batch=False, **epochs)

        passes: FreshPasses | SharedPasses
        try:
            pipeline.serialize()
        except SerializationError as error:
            _check_not_replaced(pipeline, options, inputs, error)
            passes = SharedPasses(iterate(pipeline), specs, follows_epochs)
        else:
            # If neither has one, as in NVIDIA DALI.
            options.setdefault("batch_size", pipeline.max_batch_size or 1)

            def iterate_over_copy() -> BaseIterator:
                return iterate(copied(pipeline, options, inputs))

            passes = FreshPasses(iterate_over_copy, specs, follows_epochs)
        self._dataset = tf.data.Dataset.from_generator(passes, output_signature=specs)
        if passes.length is not None:
            # Keras asks for it.
            length = tf.data.experimental.assert_cardinality(passes.length)
            self._dataset = self._dataset.apply(length)
        super().__init__(tf.data.experimental.to_variant(self._dataset))

    def _given_inputs(self) -> Mapping[str, Input]:
        return {}

    def _inputs(self) -> list[Any]:
        """Return the datasets that this one is made of, as TensorFlow requires."""
        return [self._dataset]

    @property
    def element_spec(self) -> Any:
        """A `tf.TensorSpec` for each output."""
        return self._dataset.element_spec


class DALIDatasetWithInputs(DALIDataset):
    """Make a `tf.data.Dataset` of a pipeline that processes data of TensorFlow, or of Python.

    Parameters
    ----------
    pipeline : Pipeline
        As for `DALIDataset`. Its `fn.external_source` operators without a source must have names.
    *args
        As for `DALIDataset`.
    input_datasets : dict, optional
        For each of these names a `tf.data.Dataset`, a function that returns an iterable of arrays,
        or an `Input`. A dataset or a function gives samples, and is iterated over anew for each
        iteration; the first that ends, ends the iteration.
    **options
        As for `DALIDataset`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, UnknownInputError
        If arguments do not fit each other or the pipeline.
    PipelineStateError
        If it has inputs, and is made in a graph rather than in eager mode.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *args: Any,
        input_datasets: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._checked_inputs = check_inputs(input_datasets) if input_datasets is not None else {}
        super().__init__(pipeline, *args, **options)

    def _given_inputs(self) -> Mapping[str, Input]:
        return self._checked_inputs


def _check_pipeline(pipeline: Any) -> None:
    if not isinstance(pipeline, Pipeline):
        raise ArgumentTypeError(
            f"DALIDataset: pipeline must be a Pipeline (got {pipeline!r}). Call the function that "
            "pipeline_def decorates, and pass the result."
        )


def _renamed(name: str, value: Any, deprecated: Any) -> Any:
    if deprecated is None:
        return value
    if value is not None:
        raise ArgumentConflictError(
            f"DALIDataset: output_{name} and {name} must not both be given. Leave {name} out."
        )
    warn(f"DALIDataset: {name} is deprecated. Use output_{name}.", DeprecationWarning)
    return tuple(deprecated) if isinstance(deprecated, list) else deprecated


def _specs(dtypes: Any, shapes: Any, num_outputs: int) -> tuple[Any, ...]:
    listed = dtypes if isinstance(dtypes, tuple) else (dtypes,)
    if not all(isinstance(dtype, tf.DType) for dtype in listed):
        raise ArgumentTypeError(
            f"DALIDataset: output_dtypes must be a tf.DType or a tuple of them (got {dtypes!r}). "
            "Pass one for each output, such as (tf.float32, tf.int32)."
        )
    if len(listed) != num_outputs:
        raise ArgumentValueError(
            f"DALIDataset: output_dtypes must have an entry for each output (got {len(listed)} for "
            f"{num_outputs} outputs). Pass one for each."
        )
    if shapes is None:
        shapes = (None,) * num_outputs
    elif not isinstance(dtypes, tuple):
        shapes = (shapes,)
    if not isinstance(shapes, Sequence) or len(shapes) != num_outputs:
        raise ArgumentValueError(
            f"DALIDataset: output_shapes must have an entry for each of {num_outputs} outputs (got "
            f"{shapes!r}). Pass a tuple of shapes, such as ((8, 224, 224, 3), (8,))."
        )
    try:
        return tuple(
            tf.TensorSpec(shape, dtype) for shape, dtype in zip(shapes, listed, strict=True)
        )
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            f"DALIDataset: output_shapes must hold shapes (got {shapes!r}: {error}). Pass tuples "
            "of integers and None, or None for any shape."
        ) from error


def _check_not_replaced(
    pipeline: Pipeline,
    options: Mapping[str, Any],
    inputs: Mapping[str, Input],
    error: SerializationError,
) -> None:
    """Refuse what a pipeline that cannot be copied cannot have."""
    if inputs:
        raise ArgumentConflictError(
            "DALIDatasetWithInputs: a pipeline with input_datasets must not call Python code "
            f"(got: {error}). Pass the function as an input: input_datasets={{name: function}}."
        ) from error
    own = {
        "batch_size": pipeline.max_batch_size,
        "num_threads": pipeline.num_threads,
        "device_id": pipeline.device_id,
        "prefetch_queue_depth": pipeline.prefetch_queue_depth,
        "exec_dynamic": pipeline.exec_dynamic,
    }
    for name, value in options.items():
        if value != own[name]:
            raise ArgumentConflictError(
                f"DALIDataset: {name} must be that of the pipeline, {own[name]!r}, since the "
                f"pipeline calls Python code and cannot be copied (got {value!r}). Pass it to the "
                "pipeline."
            ) from error
