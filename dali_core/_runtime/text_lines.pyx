# cython: annotation_typing=False
"""Finds the lines of texts, as fast as memory is read."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.string cimport memchr, memcpy
from libcpp cimport bool as cbool
from libcpp.vector cimport vector

import numpy as np

cdef int64_t LARGEST_SIZE = 0xFFFFFFFF


cdef inline cbool is_blank(const uint8_t* first, const uint8_t* end) noexcept nogil:
    while first < end and (first[0] == 32 or first[0] == 9 or first[0] == 13):
        first += 1
    return first == end


cdef class LineScanner:
    """Finds the lines of a text that comes in pieces.

    Lines end with a line feed, of which a carriage return before it is part. The last one need not.
    A byte order mark of UTF-8 at the very beginning is no part of the first line.

    Parameters
    ----------
    skips_blank : bool
        Whether lines without anything but spaces, tabs and carriage returns are left out.
    """

    cdef vector[int64_t] starts
    cdef vector[uint32_t] sizes
    cdef vector[int64_t] blanks
    cdef int64_t place
    cdef int64_t line_start
    cdef uint8_t last_byte
    cdef cbool skips_blank
    cdef cbool line_is_blank

    def __init__(self, *, bint skips_blank):
        self.skips_blank = skips_blank
        self.place = self.line_start = 0
        self.last_byte = 0
        self.line_is_blank = True

    def scan(self, piece: bytes | bytearray | memoryview) -> None:
        """Continue with the next bytes; the first piece has at least three, or all there are."""
        cdef const uint8_t[::1] view = piece
        cdef const uint8_t* data
        cdef int64_t skipped = 0
        cdef int64_t size = view.shape[0]
        if size == 0:
            return
        data = &view[0]
        if self.place == 0 and size >= 3:
            if data[0] == 0xEF and data[1] == 0xBB and data[2] == 0xBF:
                skipped = self.line_start = 3
        with nogil:
            self._scan(data, data + skipped, data + size)
        self.place += size

    def finish(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """End the text, and return its lines.

        Returns
        -------
        starts : array of int64
            The first byte of each line.
        sizes : array of uint32
            Its number of bytes, without its end; the largest number stands for more, too.
        blanks : array of int64
            For each line that was left out, how many came before that were not.
        """
        if self.place > self.line_start:
            self._add(self.place, self.line_is_blank)
            self.line_start = self.place
        starts = np.empty(self.starts.size(), np.int64)
        sizes = np.empty(self.sizes.size(), np.uint32)
        blanks = np.empty(self.blanks.size(), np.int64)
        _fill(starts, self.starts.data(), 8 * self.starts.size())
        _fill(sizes, self.sizes.data(), 4 * self.sizes.size())
        _fill(blanks, self.blanks.data(), 8 * self.blanks.size())
        return starts, sizes, blanks

    cdef void _scan(
        self, const uint8_t* data, const uint8_t* first, const uint8_t* end
    ) noexcept nogil:
        cdef const uint8_t* found
        cdef uint8_t before
        while first < end:
            found = <const uint8_t*>memchr(first, 10, <size_t>(end - first))
            if found == NULL:
                break
            if self.skips_blank and self.line_is_blank:
                self.line_is_blank = is_blank(first, found)
            before = found[-1] if found > first else self.last_byte
            self._add(self.place + (found - data) - (before == 13), self.line_is_blank)
            self.line_start = self.place + (found - data) + 1
            self.last_byte = 0
            self.line_is_blank = True
            first = found + 1
        if first < end:
            self.last_byte = end[-1]
            if self.skips_blank and self.line_is_blank:
                self.line_is_blank = is_blank(first, end)

    cdef void _add(self, int64_t line_end, cbool blank) noexcept nogil:
        cdef int64_t size = line_end - self.line_start
        if self.skips_blank and blank:
            self.blanks.push_back(<int64_t>self.starts.size())
            return
        self.starts.push_back(self.line_start)
        self.sizes.push_back(<uint32_t>min(size, LARGEST_SIZE))


cdef void _fill(array, const void* data, size_t size):
    cdef unsigned char[::1] target
    if size:
        target = array.view(np.uint8)
        memcpy(&target[0], data, size)
