"""Types and errors, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import numpy
import torch

from dali_core import errors, types
from dali_core.tensors import TensorCPU, TensorListCPU

kind: types.DALIDataType = types.to_dali_type(torch.float16)
scalar: type[numpy.generic] = types.to_numpy_type(types.FLOAT)
assert kind is types.DALIDataType.FLOAT16
assert scalar is numpy.float32
number: int = int(kind)
name: str = kind.name
letters: str = "abcdefghi"[types.FLOAT16]
assert (number, name, letters) == (8, "FLOAT16", "i")
filters: list[types.DALIInterpType] = [types.INTERP_NN, types.DALIInterpType.INTERP_LINEAR]
colours: dict[types.DALIImageType, str] = {types.RGB: "three channels", types.GRAY: "one"}
style: types.PipelineAPIType = types.PipelineAPIType.ITERATOR
layout: types.TensorLayout = types.TensorLayout(types.NHWC)
assert (layout, len(layout), layout + "X") == ("HWC", 3, "HWCX")
assert {types.NCHW, types.NFCHW, types.NFHWC, types.SAME} == {"CHW", "FCHW", "FHWC", ""}
assert types.CPU_ONLY_DEVICE_ID < 0
stream: tuple[int, int] = types.CUDAStream(7).__cuda_stream__()
assert stream == (0, types.CUDAStream(ptr=7).ptr)
assert types.NO_TYPE not in (types.BOOL, types.STRING, types.FEATURE, types.PYTHON_OBJECT)


def fetch(sample: types.SampleInfo) -> numpy.ndarray[tuple[int, ...], numpy.dtype[numpy.int64]]:
    """Return a sample for its position."""
    return numpy.array(
        [sample.idx_in_epoch, sample.idx_in_batch, sample.iteration, sample.epoch_idx]
    )


def fetch_all(batch: types.BatchInfo) -> int:
    """Return a number for the position of a batch."""
    return batch.iteration + batch.epoch_idx


assert fetch(types.SampleInfo(1, 2, 3, epoch_idx=4)).tolist() == [1, 2, 3, 4]
assert fetch_all(types.BatchInfo(iteration=1, epoch_idx=2)) == 3

ragged = TensorListCPU([numpy.zeros(2), numpy.zeros(3)])
found: list[type[Exception]] = []
try:
    ragged.as_tensor()
except errors.TensorError as error:
    found += [
        error_type for error_type in (ValueError, RuntimeError) if isinstance(error, error_type)
    ]
try:
    ragged[2]
except errors.TensorIndexError as error:
    found += [IndexError] * isinstance(error, IndexError)
try:
    TensorCPU("text")
except errors.ArgumentTypeError as error:
    found += [TypeError] * isinstance(error, errors.DaliCoreError)
try:
    TensorCPU(numpy.zeros(2), "HW")
except errors.ArgumentValueError:
    found += [ValueError]
try:
    TensorCPU(b"read only").__dlpack__()
except errors.ExchangeError as error:
    found += [BufferError] * isinstance(error, BufferError)
assert found == [ValueError, RuntimeError, IndexError, TypeError, ValueError, BufferError]


def describe(error: errors.SampleError) -> str:
    """Describe bad samples."""
    first: errors.BadSample = error.failures[0]
    return f"{first.operator} {first.location} {first.sample} {first.source} {error.message}"


def is_ours(error: Exception) -> bool:
    """Distinguish errors of this library from others."""
    of_pipelines = (errors.GraphError, errors.PipelineStateError, errors.StateMismatchError)
    of_arguments = (errors.ArgumentKeyError, errors.ArgumentFormError, errors.NodeUseError)
    of_iterators = (errors.ArgumentConflictError, errors.ArgumentValueError)
    of_memory = (errors.OutOfMemoryError, errors.OutOfDeviceMemoryError)
    of_packages = (errors.AdapterError, errors.OperatorPackageError)
    of_use = (errors.NotCopiedError, errors.SkippedFilesWarning)
    of_modules = (*of_packages, errors.CompatibilityError, errors.MissingModuleError)
    of_samples = (errors.BadSampleLimitError, errors.NoOutputsError, errors.WorkerError)
    of_devices = (errors.CudaError, errors.CudaUnavailableError, *of_memory)
    of_the_graph = (*of_pipelines, *of_modules, *of_iterators, *of_arguments)
    return isinstance(error, (*of_the_graph, *of_samples, *of_devices, *of_use))


assert not is_ours(ValueError())
