# cython: annotation_typing=False
"""Hands reads of objects in remote storage from native threads to threads of Python."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.utility cimport move
from libcpp.vector cimport vector

from dali_core.errors import OutOfMemoryError

cdef extern from "Python.h" nogil:
    int PyGILState_Check()

cdef extern from "<mutex>" namespace "std" nogil:
    cdef cppclass mutex:
        void lock()
        void unlock()

cdef extern from "dali_core/host_memory.hpp" namespace "dali_core" nogil:
    void require_host_memory(size_t bytes) except +

cdef extern from "dali_core/native_io/files/remote_reads.hpp" namespace "dali_core" nogil:
    cdef cppclass Request "dali_core::RemoteReads::Request":
        string url
        int64_t offset
        int64_t size

    cdef cppclass Bytes "dali_core::RemoteReads::Bytes":
        const char* data
        int64_t size
        @staticmethod
        Bytes copy_of(const char* data, int64_t size) except +

    cdef cppclass CppRemoteReads "dali_core::RemoteReads":
        CppRemoteReads(int64_t max_bytes, cbool joins) except +
        shared_ptr[Request] next() except +
        cbool has_waiting() except +
        void answer(Request& request, Bytes bytes) except +
        void fail(Request& request, const string& problem) except +
        void interrupt() except +
        void resume() except +

cdef extern from *:
    """
    static dali_core::RemoteReads::Bytes held(Py_buffer* view, void (*release)(Py_buffer*)) {
      return {std::shared_ptr<Py_buffer>(view, release),
              static_cast<const char*>(view->buf), view->len};
    }
    """
    Bytes held(Py_buffer* view, void (*release)(Py_buffer*) noexcept nogil) except +


def require_memory(size: int) -> None:
    """Raise `OutOfMemoryError` unless so many bytes may be in memory at once."""
    try:
        require_host_memory(min(size, _MOST_BYTES))
    except MemoryError as error:
        raise OutOfMemoryError(str(error)) from error


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
    """Reads that native threads request, until they are answered. It begins interrupted.

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
        """Give the native thread its bytes: a contiguous buffer, which may be empty.

        What is large is not copied, unless it is an object of Python's `bytes`, which others may
        have, and which they know not to change.
        """
        cdef CppRemoteReads* reads = self._reads.get()
        cdef Bytes answer, copied
        cdef Py_buffer* view = <Py_buffer*>malloc(sizeof(Py_buffer))
        if view == NULL:
            raise MemoryError
        try:
            PyObject_GetBuffer(data, view, PyBUF_SIMPLE)
        except BaseException:
            free(view)
            raise
        answer = held(view, &_release)
        if view.len < _MIN_SHARED or isinstance(data, bytes):
            with nogil:
                copied = Bytes.copy_of(answer.data, answer.size)
            answer = copied
        with nogil:
            reads.answer(request._request.get()[0], move(answer))
        _release_buffers()

    def fail(self, RemoteRequest request not None, problem: str) -> None:
        """Raise an error in the native thread."""
        self._reads.get().fail(
            request._request.get()[0], problem.encode(errors="surrogateescape")
        )

    def interrupt(self) -> None:
        """Fail all reads, now and from now on, and release who waits in `next`."""
        self._reads.get().interrupt()
        _release_buffers()

    def resume(self) -> None:
        """Take reads again."""
        self._reads.get().resume()


# Below it, a copy costs less than the larger buffer that small answers may be parts of.
cdef Py_ssize_t _MIN_SHARED = 64 << 10

_MOST_BYTES = (1 << 63) - 1

# Buffers that threads without the GIL no longer use; the next thread with it releases them.
cdef vector[Py_buffer*] _released
cdef mutex _released_mutex


cdef void _release(Py_buffer* view) noexcept nogil:
    if PyGILState_Check():
        with gil:
            PyBuffer_Release(view)
            free(view)
        return
    _released_mutex.lock()
    _released.push_back(view)
    _released_mutex.unlock()


cdef void _release_buffers():
    cdef vector[Py_buffer*] found
    cdef Py_buffer* view
    _released_mutex.lock()
    found.swap(_released)
    _released_mutex.unlock()
    for view in found:
        PyBuffer_Release(view)
        free(view)
