# cython: annotation_typing=False
"""Hands reads of objects in remote storage from native threads to threads of Python."""

from libc.stdint cimport int64_t, uintptr_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.utility cimport move

cdef extern from "dali_core/kernels/files/remote_reads.hpp" namespace "dali_core" nogil:
    cdef cppclass Request "dali_core::RemoteReads::Request":
        string url
        int64_t offset
        int64_t size

    cdef cppclass CppRemoteReads "dali_core::RemoteReads":
        CppRemoteReads(int64_t max_bytes, cbool joins) except +
        shared_ptr[Request] next() except +
        cbool has_waiting() except +
        void answer(Request& request, const char* data, int64_t size) except +
        void fail(Request& request, const string& problem) except +
        void interrupt() except +
        void resume() except +


cdef class RemoteRequest:
    """Bytes of an object that a native thread waits for.

    Attributes
    ----------
    url : str
        The object.
    offset, size : int
        The part of it; a size of -1 is everything from the offset on.
    """

    cdef shared_ptr[Request] _request

    @property
    def url(self) -> str:
        return self._request.get().url.decode(errors="surrogateescape")

    @property
    def offset(self) -> int:
        return self._request.get().offset

    @property
    def size(self) -> int:
        return self._request.get().size


cdef class RemoteReads:
    """Reads that native threads ask for, until somebody answers. It begins interrupted.

    Parameters
    ----------
    max_bytes : int
        Limit of the bytes that those who answer have in flight; one request may exceed it.
    joins : bool
        Whether one request may be for several parts of an object that are near each other.
    """

    cdef shared_ptr[CppRemoteReads] _reads

    def __init__(self, max_bytes: int, joins: bool = False) -> None:
        self._reads = make_shared[CppRemoteReads](<int64_t>max_bytes, <cbool>joins)

    @property
    def address(self) -> int:
        """Where native code finds it, for as long as this object lives."""
        return <uintptr_t>&self._reads

    def next(self) -> RemoteRequest | None:
        """Wait for the next request; return None once reading is interrupted."""
        cdef RemoteRequest request = RemoteRequest.__new__(RemoteRequest)
        cdef CppRemoteReads* reads = self._reads.get()
        with nogil:
            request._request = move(reads.next())
        return request if request._request.get() != NULL else None

    def has_waiting(self) -> bool:
        """Return whether `next` would return a request at once."""
        return self._reads.get().has_waiting()

    def answer(self, RemoteRequest request not None, data: object) -> None:
        """Give the native thread its bytes: a contiguous buffer, which may be empty."""
        cdef CppRemoteReads* reads = self._reads.get()
        cdef const unsigned char[::1] view = memoryview(data).cast("B")
        cdef int64_t size = view.shape[0]
        cdef const char* start = <const char*>&view[0] if size > 0 else NULL
        with nogil:
            reads.answer(request._request.get()[0], start, size)

    def fail(self, RemoteRequest request not None, problem: str) -> None:
        """Raise an error in the native thread."""
        self._reads.get().fail(
            request._request.get()[0], problem.encode(errors="surrogateescape")
        )

    def interrupt(self) -> None:
        """Fail all reads, now and from now on, and release who waits in `next`."""
        self._reads.get().interrupt()

    def resume(self) -> None:
        """Take reads again."""
        self._reads.get().resume()
