"""Memory that processes share: one anonymous file, which the kernel frees with its last user."""

from __future__ import annotations

import mmap
import os
import pickle
from typing import Any

import numpy

from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.workers.produced import Produced, pack_exception, unpack_exception

SMALLEST_CAPACITY = 1 << 20

# So far apart slots begin in the file. It has holes: only pages that were written take memory.
_STRIDE = 1 << 40
_ALIGNMENT = 64  # as all tensors of this library have it

_Place = tuple[int, tuple[int, ...], str, str]  # where a sample begins, its shape, type and layout


def create_file(num_slots: int) -> int:
    """Make the anonymous file for slots, and give its descriptor."""
    descriptor = os.memfd_create("dali_core workers")
    os.ftruncate(descriptor, num_slots * _STRIDE)
    return descriptor


class SharedSlots:
    """Maps slots of the file into memory, as much of each as is needed.

    Parameters
    ----------
    descriptor : int
        The file; it stays the caller's.
    capacities : list of int
        Bytes of each slot at first. They grow with what is written or read.
    """

    def __init__(self, descriptor: int, capacities: list[int]) -> None:
        self._descriptor = descriptor
        self.capacities = list(capacities)
        self._maps: dict[int, mmap.mmap] = {}

    def view(self, slot: int, size: int) -> mmap.mmap:
        """Map at least `size` bytes of a slot. Views of smaller maps stay valid."""
        if size > self.capacities[slot]:
            self.capacities[slot] = _whole_pages(max(size, 2 * self.capacities[slot]))
            self._maps.pop(slot, None)
        if slot not in self._maps:
            self._maps[slot] = mmap.mmap(
                self._descriptor, self.capacities[slot], offset=slot * _STRIDE
            )
        return self._maps[slot]


def capacity_for(num_bytes: int) -> int:
    """Round a wanted capacity up to one that a slot can have."""
    return _whole_pages(max(num_bytes, SMALLEST_CAPACITY))


class SlotWriter:
    """Writes samples into a slot, one after the other.

    Parameters
    ----------
    slots : SharedSlots
        The memory.
    slot : int
        Which part of it.
    """

    def __init__(self, slots: SharedSlots, slot: int) -> None:
        self._slots = slots
        self._slot = slot
        self._end = 0

    def keep(self, sample: TensorCPU) -> _Place:
        """Write a sample. Its own memory may be used for the next one then."""
        array = numpy.asarray(sample)
        start = -(-self._end // _ALIGNMENT) * _ALIGNMENT
        self._end = start + array.nbytes
        memory = self._slots.view(self._slot, self._end)
        numpy.copyto(numpy.ndarray(array.shape, array.dtype, memory, start), array)
        return start, array.shape, array.dtype.str, sample.layout()

    def finish(self, produced: Produced) -> tuple[int, int]:
        """Write which samples there are, and say where that begins and ends."""
        failures = {number: pack_exception(error) for number, error in produced.failures.items()}
        description = pickle.dumps((produced.columns, failures, produced.has_ended, produced.state))
        start, end = self._end, self._end + len(description)
        self._slots.view(self._slot, end)[start:end] = description
        return start, end


def read(slots: SharedSlots, slot: int, start: int, end: int, lease: object) -> Produced:
    """View what was written into a slot.

    Parameters
    ----------
    slots, slot, start, end
        Where `SlotWriter.finish` has put the description.
    lease : object
        Kept as long as any of the samples is referenced.
    """
    memory = slots.view(slot, end)
    described, failures, has_ended, state = pickle.loads(memory[start:end])  # noqa: S301 (our process)
    whole = _Leased(end, numpy.uint8, memory)
    whole.lease = lease

    def sample(entry: _Place | None) -> TensorCPU | None:
        if entry is None:
            return None
        offset, shape, dtype, layout = entry
        return TensorCPU(numpy.ndarray(shape, dtype, whole, offset), layout)

    return Produced(
        [[sample(entry) for entry in column] for column in described],
        {number: unpack_exception(*packed) for number, packed in failures.items()},
        has_ended,
        state,
    )


class _Leased(numpy.ndarray[Any, Any]):
    """What the samples of a slot are views of."""

    lease: object


def _whole_pages(size: int) -> int:
    return -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
