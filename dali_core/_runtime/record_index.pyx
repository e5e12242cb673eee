# cython: annotation_typing=False
"""Lists what is in archives and files of records, without reading the data."""

from libc.stdint cimport int64_t
from libcpp.string cimport string
from libcpp.utility cimport move
from libcpp.vector cimport vector

cdef extern from "dali_core/native_io/records/record_walks.hpp" namespace "dali_core" nogil:
    cdef cppclass ArchiveMember:
        string name
        int64_t offset
        int64_t size
        string problem

    cdef cppclass Record:
        int64_t offset
        int64_t size
        string problem

    cdef cppclass WalkedFile:
        string path
        int64_t reads
        int64_t size

    vector[ArchiveMember] _walk_tar "dali_core::walk_tar"(const WalkedFile& file) except +
    vector[ArchiveMember] _walk_lmdb "dali_core::walk_lmdb"(const WalkedFile& file) except +
    vector[Record] _walk_tfrecord "dali_core::walk_tfrecord"(const WalkedFile& file) except +
    vector[Record] _walk_recordio "dali_core::walk_recordio"(const WalkedFile& file) except +


def walk_tar(path: bytes, reads: int = 0, size: int = 0) -> list[tuple[bytes, int, int, str]]:
    """Return name, offset, size and problem of each file in a tar archive, in their order.

    Parameters
    ----------
    path : bytes
        Path of the archive.
    reads, size : int
        For an object in remote storage: the address of `RemoteReads`, and its size in bytes.

    Returns
    -------
    list of (bytes, int, int, str)
        The problem says why a file cannot be read; it is empty for sound ones. A damaged header is
        a file without a name. Where the archive has ended and others follow, the last one has a
        size of -1.

    Raises
    ------
    RuntimeError
        If the archive cannot be read.
    """
    cdef WalkedFile walked
    walked.path, walked.reads, walked.size = path, reads, size
    cdef vector[ArchiveMember] found
    with nogil:
        found = move(_walk_tar(walked))
    return [(<bytes>one.name, one.offset, one.size, one.problem.decode()) for one in found]


def walk_lmdb(path: bytes, reads: int = 0, size: int = 0) -> list[tuple[bytes, int, int, str]]:
    """Return key, offset, size and problem of each entry of an LMDB database, like `walk_tar`.

    Parameters
    ----------
    path : bytes
        Path of the file that holds the data.

    Raises
    ------
    RuntimeError
        If the file cannot be read.
    """
    cdef WalkedFile walked
    walked.path, walked.reads, walked.size = path, reads, size
    cdef vector[ArchiveMember] found
    with nogil:
        found = move(_walk_lmdb(walked))
    return [(<bytes>one.name, one.offset, one.size, one.problem.decode()) for one in found]


def walk_tfrecord(path: bytes, reads: int = 0, size: int = 0) -> list[tuple[int, int, str]]:
    """Return offset, size and problem of each record in a TFRecord file, in their order.

    Parameters
    ----------
    path : bytes
        Path of the file.

    Returns
    -------
    list of (int, int, str)
        The size includes lengths and checksums. The problem says what is wrong where a stretch of
        the file is damaged; it is empty for sound records.

    Raises
    ------
    RuntimeError
        If the file cannot be read.
    """
    cdef WalkedFile walked
    walked.path, walked.reads, walked.size = path, reads, size
    cdef vector[Record] found
    with nogil:
        found = move(_walk_tfrecord(walked))
    return [(one.offset, one.size, one.problem.decode()) for one in found]


def walk_recordio(path: bytes, reads: int = 0, size: int = 0) -> list[tuple[int, int, str]]:
    """Return offset, size and problem of each record in a RecordIO file, like `walk_tfrecord`.

    Parameters
    ----------
    path : bytes
        Path of the file.

    Raises
    ------
    RuntimeError
        If the file cannot be read.
    """
    cdef WalkedFile walked
    walked.path, walked.reads, walked.size = path, reads, size
    cdef vector[Record] found
    with nogil:
        found = move(_walk_recordio(walked))
    return [(one.offset, one.size, one.problem.decode()) for one in found]
