"""Errors that the library raises.

Every message reads ``where: what must hold (got value). What to do.``  All derive from
`DaliCoreError`, which is a `RuntimeError`, from the built-in exception that fits, and from the one
that NVIDIA DALI raises in the same case, so existing handlers keep working.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from dali_core._messages import printable

_ITEM = r"(index \d+|video \d+ of those that were fed)"
_ITEMS = re.compile(f"{_ITEM}(;{_ITEM})*")
"""Sources of samples that are no files; an operator may join several."""


class SkippedFilesWarning(UserWarning):
    """A reader does not read files below a folder, because of their names, or finds none in it."""


class DaliCoreError(RuntimeError):
    """Base of all errors of this library.

    The text is one line that can be printed, whatever the names of files in it are; `args` has it
    as it was passed.
    """

    def __str__(self) -> str:
        return printable(RuntimeError.__str__(self))


class ArgumentTypeError(DaliCoreError, TypeError):
    """An argument has the wrong type, is unknown, or is missing."""


class ArgumentValueError(DaliCoreError, ValueError):
    """An argument has the right type and an impossible value."""


class _UnknownKeyError(DaliCoreError, KeyError):
    """A `KeyError` that shows its message rather than the `repr` of that."""


class ArgumentKeyError(ArgumentTypeError, ArgumentValueError, _UnknownKeyError):
    """An argument is unknown, or its value is not among the names or keys that there are."""


class ArgumentFormError(ArgumentTypeError, ArgumentValueError):
    """An argument is no number, though it must be, or arguments or inputs are missing."""


class ArgumentConflictError(ArgumentValueError, AssertionError):
    """Arguments contradict each other, or the pipelines or tensors that they are about."""


class TensorError(ArgumentValueError):
    """A tensor or a batch is not such that it allows what is asked of it."""


class TensorIndexError(TensorError, IndexError):
    """An index is beyond the samples of a batch, or the dimensions of a tensor."""


class SampleIndexError(ArgumentValueError, IndexError):
    """An epoch has no sample of this number."""


class ExchangeError(DaliCoreError, BufferError):
    """Memory cannot be exchanged with another library, such as read-only memory for writing."""


class GraphError(DaliCoreError):
    """A pipeline's graph is put together wrongly."""


class NodeUseError(GraphError, TypeError):
    """A value of a graph is used as if its data were known, as in a condition or a loop."""


class NoOutputsError(GraphError, NotImplementedError):
    """A pipeline has no outputs: none were set, and `define_graph` is not overridden."""


class PipelineStateError(DaliCoreError):
    """A pipeline is used in an order or a place that does not work, such as after `close`."""


class NotCopiedError(PipelineStateError, TypeError):
    """A pipeline or an iterator is pickled or copied."""


class StateMismatchError(DaliCoreError, ValueError):
    """A saved state does not fit the pipeline or iterator that it is loaded into."""


class NoBatchError(StopIteration, PipelineStateError):
    """Outputs were asked for, and no batch was started. Loops over outputs end with it."""


class UnknownInputError(GraphError, _UnknownKeyError):
    """A pipeline has no input of that name."""


class SerializationError(DaliCoreError):
    """A pipeline cannot be written as a document, or a document does not describe a pipeline."""


class AdapterError(DaliCoreError):
    """A framework adapter is missing or broken."""


class OperatorPackageError(DaliCoreError, ImportError):
    """Operators of another package cannot be loaded, such as because of another version."""


class CompatibilityError(ImportError, DaliCoreError):
    """The names of NVIDIA DALI cannot lead to this library."""

    __str__ = DaliCoreError.__str__


class MissingModuleError(ModuleNotFoundError, CompatibilityError):
    """NVIDIA DALI has this module, and this library has not."""


class WorkerError(DaliCoreError):
    """A worker process of a parallel source has ended, or cannot be used.

    The text may end with the traceback of the worker, in lines.
    """

    def __str__(self) -> str:
        return printable(RuntimeError.__str__(self), keeps_lines=True)


class CudaError(DaliCoreError):
    """The CUDA driver, or a device, cannot do what is asked of it.

    Attributes
    ----------
    status : str
        The driver's name of the error, such as ``"CUDA_ERROR_LAUNCH_FAILED"``; empty if the error
        is not the driver's.
    """

    def __init__(self, message: str, *, status: str = "") -> None:
        super().__init__(message)
        self.status = status


class CudaUnavailableError(CudaError):
    """There is no driver, no such device, or what is needed to use them is not installed."""


class OutOfMemoryError(DaliCoreError, MemoryError):
    """The machine has not enough memory, or `DALI_CORE_MEMORY_LIMIT` does not allow as much."""


class OutOfDeviceMemoryError(CudaError, MemoryError):
    """A device has not enough memory left."""


@dataclass(frozen=True)
class BadSample:
    """A sample on which an operator failed.

    Attributes
    ----------
    operator : str
        Name of the operator, such as ``"decoders.image"``.
    location : str
        File and line of the user's program that added the operator.
    epoch, iteration : int
        Epoch of the sample; batch since the pipeline was built.
    sample : int
        Index in the batch.
    source : str or None
        File that the sample came from, if known; ``"index 3"`` of a data set in Python, and
        ``"video 3 of those that were fed"``.
    message : str
        What went wrong, as one line that can be printed.
    """

    operator: str
    location: str
    epoch: int
    iteration: int
    sample: int
    source: str | None
    message: str

    def __str__(self) -> str:
        place = f"sample {self.sample}"
        return f"{place}, {_named(self.source)}" if self.source else place


class SampleError(DaliCoreError):
    """An operator failed on one sample. The pipeline continues with the next batch.

    Attributes
    ----------
    operator : str
        Name of the operator, such as ``"decoders.image"``.
    location : str
        File and line of the user's program that added the operator.
    epoch, iteration : int
        Epoch of the sample; batch since the pipeline was built.
    sample : int or None
        Index in the batch, or None if the whole batch is concerned.
    source : str or None
        File that the sample came from, if known; ``"index 3"`` of a data set in Python, and
        ``"video 3 of those that were fed"``.
    failures : tuple of BadSample
        All samples of the batch that are known to be bad, in their order.
    """

    def __init__(
        self,
        message: str,
        *,
        operator: str = "",
        location: str = "",
        epoch: int = 0,
        iteration: int = 0,
        sample: int | None = None,
        source: str | None = None,
        failures: Sequence[BadSample] = (),
    ) -> None:
        self.message = message
        self.operator = operator
        self.location = location
        self.epoch = epoch
        self.iteration = iteration
        self.sample = sample
        self.source = source
        self.failures = tuple(failures)
        super().__init__(f"{self.where}: {message}")

    @property
    def where(self) -> str:
        """Operator, line of the program, batch, sample and file, as the message says them."""
        parts = [title_of(self.operator)] if self.operator else []
        if self.location:
            parts.append(f"at {self.location}")
        parts.append(f"epoch {self.epoch}, iteration {self.iteration}")
        if self.sample is not None:
            parts.append(f"sample {self.sample}")
        if self.source:
            parts.append(_named(self.source))
        return printable(", ".join(parts))

    def __reduce__(self) -> tuple[object, ...]:
        return (_restore_sample_error, (type(self), self.message, self.__dict__))


class SampleValueError(SampleError, ValueError):
    """An operator refuses a sample, or an argument of it, such as for its layout or its type."""


class SampleRangeError(SampleValueError, IndexError):
    """A number that an operator gets is beyond the dimensions, elements or frames of a sample."""


class NotFedError(SampleError, IndexError):
    """An `external_source` without a source had no batch left: too few were fed."""


class BadSampleLimitError(SampleError):
    """More samples are bad than `max_bad_samples` of a pipeline allows.

    It describes the last of them; `failures` has those of the batch. The pipeline continues with
    the next batch, and raises this error again for every batch that has more bad samples.
    """


@contextmanager
def located(where: str) -> Iterator[None]:
    """Name a place in front of the messages of errors in arguments."""
    try:
        yield
    except (ArgumentTypeError, ArgumentValueError, OutOfMemoryError) as error:
        raise type(error)(f"{where}: {error}") from error


def title_of(operator: str) -> str:
    """Return the name by which the user calls an operator: ``fn.resize``, ``DataNode.gpu``."""
    has_no_function = operator.startswith(
        ("math.", "mix_readers", "parameter", "operator ", "plugin.", "DataNode.")
    )
    return operator if has_no_function else f"fn.{operator}"


def _named(source: str) -> str:
    return source if _ITEMS.fullmatch(source) else f"file {source!r}"


def _restore_sample_error(
    cls: type[SampleError], message: str, attributes: dict[str, object]
) -> SampleError:
    keywords = {name: value for name, value in attributes.items() if name != "message"}
    return cls(message, **keywords)  # type: ignore[arg-type]
