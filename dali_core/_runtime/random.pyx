# cython: annotation_typing=False
"""Counter-based random numbers and the stateless order of an epoch."""

from libc.stdint cimport int64_t, uint64_t, uintptr_t
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.vector cimport vector

from dali_core._runtime cimport engine

import numpy as np

cdef extern from "dali_core/philox.hpp" namespace "dali_core":
    cdef cppclass RandomStream:
        RandomStream(uint64_t seed, engine.SampleKey sample)
        unsigned int next_uint32()


def mix_seed(uint64_t seed, uint64_t salt) -> int:
    """Derive the seed of a part from the seed of the whole.

    Parameters
    ----------
    seed, salt : int
        Unsigned 64-bit numbers; the salt tells the parts apart.

    Returns
    -------
    int
        An unsigned 64-bit number.
    """
    return engine.mix64(seed ^ engine.mix64(salt))


def permute(uint64_t position, uint64_t size, uint64_t seed, uint64_t epoch) -> int:
    """Return the element at a position of an epoch's random order.

    Parameters
    ----------
    position : int
        Position in the order, below `size`.
    size : int
        Number of elements.
    seed, epoch : int
        What the order depends on.

    Returns
    -------
    int
        An element of ``range(size)``; different for different positions.
    """
    if position >= size:
        raise IndexError(
            f"permute: position must be below size {size} (got {position}). "
            "Ask for a position in the order."
        )
    cdef engine.Permutation* order = new engine.Permutation(size, seed, epoch)
    try:
        return order.apply(position)
    finally:
        del order


def permutation(
    uint64_t size, uint64_t seed, uint64_t epoch, uint64_t first=0, count: int | None = None
) -> NDArray[Any]:
    """Return an epoch's random order, as a whole or a part of it.

    Parameters
    ----------
    size : int
        Number of elements.
    seed, epoch : int
        What the order depends on.
    first, count : int, optional
        The positions ``first .. first + count - 1``; by default all from `first` on.

    Returns
    -------
    array of int64, shape (count,)
        What `permute` returns for each position.
    """
    if first > size or (count is not None and not 0 <= count <= size - first):
        raise IndexError(
            f"permutation: positions must be within size {size} (got {count} from {first} on). "
            "Ask for a part of the order."
        )
    cdef uint64_t number = size - first if count is None else count
    elements = np.empty(number, np.int64)
    cdef int64_t* start = _start_of(elements)
    cdef engine.Permutation* order = new engine.Permutation(size, seed, epoch)
    with nogil:
        order.list(first, number, start)
    del order
    return elements


cdef int64_t* _start_of(object array):
    # Typed memoryviews would make the compiler translate five times as much.
    return <int64_t*><uintptr_t>array.__array_interface__["data"][0]


cdef class ListedOrder:
    """The order of an epoch as a list, for as long as a batch needs it.

    Parameters
    ----------
    indices : array of int64
        For each position the index in the data set; copied.
    """

    def __init__(self, indices: NDArray[Any]):
        given = np.ascontiguousarray(indices)
        if given.dtype != np.int64 or given.ndim != 1:
            raise ValueError(
                "ListedOrder: indices must be int64 of one dimension (got "
                f"{given.dtype} of shape {given.shape}). Convert them."
            )
        cdef int64_t* start = _start_of(given)
        cdef shared_ptr[vector[int64_t]] copied = make_shared[vector[int64_t]](
            start, start + <Py_ssize_t>given.size
        )
        self.indices = <shared_ptr[const vector[int64_t]]>copied


def draw_uint32(uint64_t seed, uint64_t epoch, uint64_t sample, size_t count) -> list[int]:
    """Draw the first numbers of an operator's random stream for one sample.

    Parameters
    ----------
    seed : int
        Seed of the operator.
    epoch, sample : int
        Which sample.
    count : int
        How many numbers.

    Returns
    -------
    list of int
        Unsigned 32-bit numbers.
    """
    cdef engine.SampleKey key
    key.epoch = epoch
    key.sample = sample
    cdef RandomStream* stream = new RandomStream(seed, key)
    try:
        return [stream.next_uint32() for _ in range(count)]
    finally:
        del stream
