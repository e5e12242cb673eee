"""The step behind `fn.pack`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._runtime.step import JoiningStep, SampleFailed, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core.errors import ArgumentValueError
from dali_core.operators.pack.row import MAX_EXTENT, Row, make_row

_Samples = Sequence[NDArray[Any]]


class PackStep(JoiningStep):
    """Joins the samples of a batch to rows.

    Parameters
    ----------
    arguments : dict
        Checked arguments of `fn.pack`.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._row_lengths: list[int] | None = arguments.get("row_lengths")
        self._has_row_lengths = False
        self._capacity: int | None = arguments.get("capacity")
        self._pad_to: int = arguments["pad_to"]
        self._fill_values: list[float] = arguments["fill_values"]
        self._labels: list[int] = arguments["labels"]
        self._per_segment: list[int] = arguments["per_segment"]
        self._ignore_index: int = arguments["ignore_index"]
        self._has_padding_segment: bool = arguments["padding_segment"]
        self._overflow: str = arguments["overflow"]

    def use_tensor_arguments(self, names: Sequence[str]) -> None:
        """Learn whether the lengths of rows come with the samples."""
        self._has_row_lengths = "row_lengths" in names

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Join the samples of one batch."""
        values = inputs[:-1] if self._has_row_lengths else inputs
        self._check_numbers(len(values))
        samples = [[value.at(i) for i in range(len(value))] for value in values]
        row_lengths = self._rows_of(context, inputs[-1] if self._has_row_lengths else None)
        rows, self.first_samples = self._rows(context, samples, row_lengths)
        return [
            *(
                StepOutput(self._joined(number, found, rows), values[number].layout())
                for number, found in enumerate(samples)
            ),
            StepOutput([row.segment_ids() for row in rows]),
            StepOutput([row.position_ids() for row in rows]),
            StepOutput([row.borders for row in rows]),
            StepOutput([row.longest for row in rows]),
            StepOutput([row.loss_mask() for row in rows]),
            StepOutput([row.samples for row in rows]),
        ]

    def _check_numbers(self, count: int) -> None:
        """Check what is said about single inputs."""
        if len(self._fill_values) not in (1, count):
            raise ArgumentValueError(
                f"fill_values must have one number, or one for each of the {count} inputs (got "
                f"{len(self._fill_values)}). Pass as many as there are inputs."
            )
        for name, numbers in (("labels", self._labels), ("per_segment", self._per_segment)):
            if max(numbers, default=0) >= count:
                raise ArgumentValueError(
                    f"{name} must be numbers of inputs, from 0 to {count - 1} (got "
                    f"{max(numbers)}). Pass them as an input, too."
                )
        if both := set(self._labels) & set(self._per_segment):
            raise ArgumentValueError(
                f"labels and per_segment must be different inputs (got {min(both)} in both). Leave "
                "it out of one."
            )

    def _rows_of(self, context: StepContext, given: TensorListCPU | None) -> list[int]:
        """Return the number of samples of each row."""
        size = context.batch_size
        if size == 0:
            return []
        if self._row_lengths is not None:
            lengths = self._row_lengths
        elif given is None:
            # A source may have given fewer samples than were planned.
            lengths = context.row_lengths()
            lengths = lengths if sum(lengths) == size else [size]
        else:
            arrays = [given.at(sample) for sample in range(size)]
            for sample, array in enumerate(arrays):
                if array.ndim != 1 or not np.array_equal(array, arrays[0]):
                    raise SampleFailed(sample) from ValueError(
                        "row_lengths must be one vector, the same one for all samples of the batch "
                        f"(got {array!s:.100}, and {arrays[0]!s:.100} for the first sample). Pass "
                        "the number of samples of every row with each sample."
                    )
            lengths = [int(length) for length in arrays[0]]
        if sum(lengths) != size or len(lengths) > size or min(lengths, default=0) < 0:
            raise ValueError(
                f"row_lengths must have a sum of {size}, the number of samples in the batch, at "
                f"most as many entries, and none below 0 (got {len(lengths)} of the sum "
                f"{sum(lengths)}). Pass the number of samples in each row."
            )
        return lengths

    def _rows(
        self, context: StepContext, samples: Sequence[_Samples], row_lengths: Sequence[int]
    ) -> tuple[list[Row], list[int]]:
        """Return the rows, and a sample for each: its first one."""
        capacity = MAX_EXTENT if self._capacity is None else self._capacity
        sequences = [
            value for number, value in enumerate(samples) if number not in self._per_segment
        ]
        rows, firsts, begin = [], [], 0
        for number, count in enumerate(row_lengths):
            firsts.append(min(begin, len(samples[0]) - 1))
            members, starts, lengths, end = [], [], [], 0
            for sample in range(begin, begin + count):
                if sample in context.replaced:
                    continue
                start = -(-end // self._pad_to) * self._pad_to
                try:
                    length = _length([value[sample] for value in sequences])
                    kept = self._fitting(start, length, capacity, number)
                except ValueError as error:
                    if context.failed is None:
                        raise SampleFailed(sample) from error
                    context.failed[sample] = error
                    continue
                if kept:
                    members.append(sample)
                    starts.append(start)
                    lengths.append(kept)
                    end = start + kept
            rows.append(
                make_row(
                    members,
                    starts,
                    lengths,
                    extent=self._capacity,
                    pad_to=self._pad_to,
                    has_padding_segment=self._has_padding_segment,
                )
            )
            begin += count
        return rows, firsts

    def _fitting(self, start: int, length: int, capacity: int, row: int) -> int:
        """Return how much of a sequence that begins at `start` is kept."""
        if start + length <= capacity:
            return length
        if self._overflow == "error":
            raise ValueError(
                f"the sequences of a row must have at most {capacity} elements in all (got "
                f"{start + length} in row {row}). Raise capacity, or pass overflow='truncate' or "
                "'drop'."
            )
        return max(0, capacity - start) if self._overflow == "truncate" else 0

    def _joined(self, number: int, samples: _Samples, rows: Sequence[Row]) -> list[NDArray[Any]]:
        """Join the samples of one input."""
        if not rows:
            return []
        if number in self._per_segment:
            return [_stacked(samples, row) for row in rows]
        dtype = samples[0].dtype
        is_label = number in self._labels
        if is_label:
            padding = _filled(self._ignore_index, dtype)
            if padding != self._ignore_index:
                raise ValueError(
                    f"ignore_index must be a number of the type of the labels (got "
                    f"{self._ignore_index} for {dtype}). Cast the labels to int32 or int64."
                )
        else:
            fill_values = self._fill_values
            padding = _filled(fill_values[number if len(fill_values) > 1 else 0], dtype)
        inner = samples[0].shape[1:]
        joined = []
        for row in rows:
            array = np.full((row.extent, *inner), padding, dtype)
            for sample, start, end in row.spans():
                found = samples[sample]
                _check_shape(sample, "elements of sequences", found.shape[1:], inner)
                array[start:end] = found[: end - start]
            if is_label:
                array[row.starts] = padding
            joined.append(array)
        return joined


def _stacked(samples: _Samples, row: Row) -> NDArray[Any]:
    """Return the samples of a row, along a new dimension."""
    first = samples[0]
    array = np.empty((len(row.samples), *first.shape), first.dtype)
    for place, (sample, _, _) in enumerate(row.spans()):
        _check_shape(sample, "features of segments", samples[sample].shape, first.shape)
        array[place] = samples[sample]
    return array


def _check_shape(sample: int, name: str, shape: tuple[int, ...], expected: tuple[int, ...]) -> None:
    if shape != expected:
        raise SampleFailed(sample) from ValueError(
            f"{name} must have one shape in the batch (got {shape}, and {expected} for the first "
            "sample). Resize or pad them."
        )


def _length(values: _Samples) -> int:
    """Return the length of a sequence that has one in all inputs."""
    lengths = {len(value) if value.ndim else -1 for value in values}
    if len(lengths) > 1 or -1 in lengths:
        raise ValueError(
            "inputs must be sequences of one length along their first dimension (got shapes "
            f"{', '.join(str(value.shape) for value in values)}). List others in per_segment."
        )
    return lengths.pop()


def _filled(value: float, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return the number of a type that is nearest to a value."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        value = 0 if math.isnan(value) else round(min(max(value, limits.min), limits.max))
    with np.errstate(over="ignore"):
        return np.array(value).astype(dtype)
