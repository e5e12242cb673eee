"""References to outputs of a pipeline that has not run yet, which carry its inputs.

A call in a worker returns references, which hold the inputs of their sample. The references of a
batch are collated to one, which holds the inputs of the batch. PyTorch sends it to the main process
in the batch, by the queue of the `DataLoader`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import get_worker_info
from torch.utils.data._utils.collate import default_collate_fn_map

from dali_core.errors import ArgumentFormError, ArgumentTypeError

_ALIGNMENT = 64  # bytes; no type of numbers needs more


class DALIProxy:
    """Stands for a pipeline in the workers of a `DataLoader`; see `DALIServer.proxy`.

    A call takes the data for the inputs of the pipeline, of one sample, and returns a reference for
    each output. It may be sent to other processes, and has neither threads nor files.

    Parameters
    ----------
    server : str
        Which server the references are for.
    input_names : sequence of str
        Names of the pipeline's inputs. If there is one, it may be passed by position.
    num_outputs : int
        Number of the pipeline's outputs.
    """

    def __init__(self, server: str, input_names: Sequence[str], num_outputs: int) -> None:
        # The documented way to extend `default_collate`, and done wherever there is a proxy.
        default_collate_fn_map[SampleReference] = collate
        self._server = server
        self._num_outputs = num_outputs
        self._names = sorted(input_names)
        is_one = len(input_names) == 1
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if is_one else inspect.Parameter.KEYWORD_ONLY
        self.__signature__ = inspect.Signature(
            [inspect.Parameter(name, kind) for name in self._names],
            return_annotation=SampleReference if num_outputs == 1 else tuple,
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._server, self._names, self._num_outputs)

    def __call__(self, *args: Any, **inputs: Any) -> Any:
        """Return what stands for the outputs of one sample.

        Parameters
        ----------
        *args, **inputs : array_like
            The data of each input, by the names of the inputs, or by position if there is only one:
            arrays of numbers, or what NumPy converts to such an array. They must not be changed
            before the batch is collated.

        Returns
        -------
        SampleReference or tuple of SampleReference
            One for each output; without a tuple if there is only one.

        Raises
        ------
        ArgumentFormError
            If other inputs are passed than the pipeline has. It is a ValueError and a TypeError.
        ArgumentTypeError
            If an input is no array of numbers on the host.
        """
        try:
            bound = self.__signature__.bind(*args, **inputs)
        except TypeError as error:
            names = ", ".join(self._names)
            form = names if len(self._names) == 1 else "*, " + names
            raise ArgumentFormError(
                f"DALIProxy: must be called with the inputs of the pipeline, ({form}) (got "
                f"{len(args)} by position and by name {', '.join(inputs) or 'none'}: {error}). "
                "Pass each of them."
            ) from error
        arrays = {name: _array(name, data) for name, data in bound.arguments.items()}
        call = Call(self._server, arrays)
        references = tuple(SampleReference(call, index) for index in range(self._num_outputs))
        return references[0] if len(references) == 1 else references


class Call:
    """The inputs of one sample.

    Parameters
    ----------
    server : str
        Name of the server that has the pipeline.
    inputs : dict of str to numpy.ndarray
        The data.

    Attributes
    ----------
    batch : Calls or None
        The batch that it belongs to, if that is known.
    place : int
        Its place there.
    """

    def __init__(self, server: str, inputs: Mapping[str, NDArray[Any]]) -> None:
        self.server = server
        self.inputs = inputs
        self.batch: Calls | None = None
        self.place = 0


class Calls:
    """The inputs of a batch.

    Parameters
    ----------
    calls : sequence of Call
        The samples, whose `batch` and `place` are set.

    Attributes
    ----------
    run : object
        What the server has made of it.
    """

    def __init__(self, calls: Sequence[Call]) -> None:
        self.server = calls[0].server
        self.run: Any = None
        self._size = len(calls)
        columns = {name: [call.inputs[name] for call in calls] for name in calls[0].inputs}
        self._inputs: dict[str, Any] = columns
        if get_worker_info() is not None:  # it is about to be sent
            self._inputs = {name: _Packed(arrays) for name, arrays in columns.items()}
        for place, call in enumerate(calls):
            call.batch, call.place = self, place

    def is_of(self, calls: Sequence[Call]) -> bool:
        """Return whether these are the calls of the batch, in their order."""
        return len(calls) == self._size and all(
            call.batch is self and call.place == place for place, call in enumerate(calls)
        )

    def pop_inputs(self) -> dict[str, list[NDArray[Any]]]:
        """Return the samples of each input, and drop the references to them."""
        inputs, self._inputs = self._inputs, {}
        return {
            name: column.arrays() if isinstance(column, _Packed) else column
            for name, column in inputs.items()
        }


class SampleReference:
    """Stands for an output of one sample.

    Parameters
    ----------
    call : Call
        The inputs.
    output : int
        Number of the output.
    """

    def __init__(self, call: Call, output: int) -> None:
        self.call = call
        self.output = output

    @property
    def calls(self) -> Calls | None:
        """The inputs of its batch, if that is known."""
        return self.call.batch

    @property
    def server(self) -> str:
        """The name of the server that has the pipeline."""
        return self.call.server


class BatchReference:
    """Stands for an output of a batch.

    Parameters
    ----------
    calls : Calls
        The inputs.
    output : int
        Number of the output.
    """

    def __init__(self, calls: Calls, output: int) -> None:
        self.calls = calls
        self.output = output

    @property
    def server(self) -> str:
        """The name of the server that has the pipeline."""
        return self.calls.server


def collate(references: Sequence[SampleReference], **_: Any) -> BatchReference:
    """Turn the references of the samples of a batch to one, as `default_collate` calls it."""
    calls = [reference.call for reference in references]
    batch = calls[0].batch
    if batch is None or not batch.is_of(calls):
        batch = Calls(calls)
    return BatchReference(batch, references[0].output)


class _Packed:
    """Arrays in one tensor, for PyTorch sends tensors in shared memory."""

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        self._kinds = [(array.dtype.str, array.shape) for array in arrays]
        self._starts = [0]
        for array in arrays:
            end = self._starts[-1] + array.nbytes
            self._starts.append(-(-end // _ALIGNMENT) * _ALIGNMENT)
        self._tensor = torch.empty(self._starts[-1], dtype=torch.uint8)
        for array, copy in zip(arrays, self.arrays(), strict=True):
            copy[...] = array

    def arrays(self) -> list[NDArray[Any]]:
        """Return the arrays, which share the memory of the tensor."""
        memory = self._tensor.numpy()
        return [
            np.ndarray(shape, dtype, memory, start)
            for (dtype, shape), start in zip(self._kinds, self._starts, strict=False)
        ]


def _array(name: str, data: Any) -> NDArray[Any]:
    try:
        array = np.asarray(data)
    except Exception as error:
        raise _no_numbers(name, data, repr(error)) from error
    if array.dtype.kind not in "biuf":
        raise _no_numbers(name, data, f"an array of {array.dtype}")
    return array


def _no_numbers(name: str, data: Any, why: str) -> ArgumentTypeError:
    return ArgumentTypeError(
        f"DALIProxy: {name} must be an array of numbers on the host (got a {type(data).__name__}, "
        f"which is {why}). Convert it; bytes with numpy.frombuffer(data, numpy.uint8)."
    )
