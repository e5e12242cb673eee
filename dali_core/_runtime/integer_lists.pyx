# cython: annotation_typing=False
"""Makes arrays of lists of integers, such as the numbers of tokens."""

from cpython.long cimport PyLong_AsLongLong
from libc.stdint cimport int32_t, int64_t

from typing import Any

import numpy as np
from numpy.typing import NDArray


def integers(numbers: list[int], dtype: Any) -> NDArray[Any]:
    """Return an array of the integers of a list, several times faster than NumPy.

    Parameters
    ----------
    numbers : list of int
        The integers.
    dtype : dtype
        int32 or int64.

    Returns
    -------
    array, shape (numbers,)
        The integers in this type.

    Raises
    ------
    OverflowError
        If the type does not have one of them.
    TypeError
        If one is no integer.
    """
    cdef list given = numbers
    cdef Py_ssize_t i, count = len(given)
    cdef int32_t[::1] short_view
    cdef int64_t[::1] long_view
    cdef long long value
    found = np.empty(count, dtype)
    if found.dtype == np.int64:
        long_view = found
        for i in range(count):
            long_view[i] = PyLong_AsLongLong(given[i])
        return found
    short_view = found
    for i in range(count):
        value = PyLong_AsLongLong(given[i])
        if value != <int32_t>value:
            raise OverflowError(f"the number {value} is no int32")
        short_view[i] = <int32_t>value
    return found
