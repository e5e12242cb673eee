# cython: annotation_typing=False
"""Divides the samples of a window into bins, by their lengths."""

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libcpp cimport bool as cbool
from libcpp.utility cimport move
from libcpp.vector cimport vector

import numpy as np

cdef extern from "dali_core/_runtime/batching/window_bins.hpp" \
        namespace "dali_core::batching" nogil:
    cdef cppclass Lengths:
        const int64_t* values
        int32_t num_items
        int32_t num_kinds

    cdef cppclass Division:
        vector[int32_t] bins
        int32_t num_bins

    Division _best_fit "dali_core::batching::best_fit"(
        const Lengths& lengths, const int64_t* capacities, int32_t max_samples) except +
    Division _next_fit "dali_core::batching::next_fit"(
        const Lengths& lengths, const int64_t* capacities, int32_t max_samples) except +
    Division _budget "dali_core::batching::budget"(
        const Lengths& lengths, int64_t tokens, cbool padded, int32_t max_samples,
        int32_t multiple_of) except +
    Division _classes "dali_core::batching::classes"(
        const int32_t* class_of, int32_t num_items, const int64_t* sizes, int32_t num_classes,
        int32_t* first) except +
    void _list_bins "dali_core::batching::list_bins"(
        const Division& division, int64_t* items, int64_t* starts) except +


def best_fit(
    lengths: NDArray[Any], capacities: NDArray[Any], int32_t max_samples
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pack by descending length, each item into the fullest bin in which it fits.

    Ties go to the bin that was begun first, and among items to the one that comes first.

    Parameters
    ----------
    lengths : array of int64, shape (items, kinds)
        Not negative, and at most the capacities. The first kind orders items and bins.
    capacities : array of int64, shape (kinds,)
        What a bin holds of each kind.
    max_samples : int
        Most items in a bin.

    Returns
    -------
    items : array of int64, shape (items,)
        The items of each bin, ascending, one bin after the other.
    starts : array of int64, shape (bins + 1,)
        Where each bin begins in `items`, and where the last one ends.
    """
    cdef const int64_t* limits = <const int64_t*>_data(capacities)
    cdef Lengths rows = _rows(lengths)
    cdef Division division
    with nogil:
        division = move(_best_fit(rows, limits, max_samples))
    return _listed(division)


def next_fit(
    lengths: NDArray[Any], capacities: NDArray[Any], int32_t max_samples
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Pack in order: a bin is closed when the next item does not fit.

    Parameters and results are those of `best_fit`.
    """
    cdef const int64_t* limits = <const int64_t*>_data(capacities)
    cdef Lengths rows = _rows(lengths)
    cdef Division division
    with nogil:
        division = move(_next_fit(rows, limits, max_samples))
    return _listed(division)


def budget(
    lengths: NDArray[Any], int64_t tokens, bool padded, int32_t max_samples, int32_t multiple_of
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Sort by length, and cut where the next item would exceed a budget.

    Parameters
    ----------
    lengths : array of int64, shape (items, 1)
        Not negative. An item that exceeds the budget by itself gets a bin of its own.
    tokens : int
        The budget: for the number of items times the longest, or for the sum of lengths.
    padded : bool
        Which of the two.
    max_samples : int
        Most items in a bin.
    multiple_of : int
        Bins of more items than this are cut down to a multiple; the others begin the next one.

    Returns
    -------
    items, starts : array of int64
        As of `best_fit`.
    """
    cdef Lengths rows = _rows(lengths)
    cdef cbool is_padded = padded
    cdef Division division
    with nogil:
        division = move(_budget(rows, tokens, is_padded, max_samples, multiple_of))
    return _listed(division)


def classes(
    class_of: NDArray[Any], sizes: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Cut the items of each class into bins of the class's size.

    Parameters
    ----------
    class_of : array of int32, shape (items,)
        Class of each item, below the number of classes.
    sizes : array of int64, shape (classes,)
        Items in a bin, at least 1.

    Returns
    -------
    items, starts : array of int64
        As of `best_fit`; bins are in the order of classes.
    first : array of int32, shape (classes + 1,)
        The first bin of each class, and the number of bins.
    """
    first = np.empty(len(sizes) + 1, np.int32)
    cdef const int32_t* numbers = <const int32_t*>_data(class_of)
    cdef const int64_t* counts = <const int64_t*>_data(sizes)
    cdef int32_t* found = <int32_t*>_data(first)
    cdef int32_t num_items = len(class_of), num_classes = len(sizes)
    cdef Division division
    with nogil:
        division = move(_classes(numbers, num_items, counts, num_classes, found))
    return (*_listed(division), first)


cdef Lengths _rows(object lengths):
    cdef Lengths rows
    rows.values = <const int64_t*>_data(lengths)
    rows.num_items, rows.num_kinds = lengths.shape
    return rows


cdef tuple _listed(const Division& division):
    items = np.empty(division.bins.size(), np.int64)
    starts = np.empty(division.num_bins + 1, np.int64)
    _list_bins(division, <int64_t*>_data(items), <int64_t*>_data(starts))
    return items, starts


cdef void* _data(object array) except? NULL:
    # Typed memoryviews would make the compiler translate five times as much.
    assert array.flags.c_contiguous
    return <void*><uintptr_t>array.__array_interface__["data"][0]
