# cython: annotation_typing=False
"""Paths of many files in little memory, from folders, texts and lists."""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libc.string cimport memcpy
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()

cdef extern from "dali_core/kernels/files/path_list.hpp" namespace "dali_core" nogil:
    cdef cppclass CppPathList "dali_core::PathList":
        void begin_folder(string_view prefix) except +
        void add(string_view name, int64_t label) except +
        void finish() except +
        int64_t size()
        int64_t num_folders()
        const vector[int32_t]& labels()
        string path(int64_t index) except +
        string_view prefix(int64_t folder)
        cbool may_contain(const string& text)
        string to_bytes() except +
        cbool from_bytes(string_view data) except +

cdef extern from "dali_core/kernels/files/folder_names.hpp" namespace "dali_core" nogil:
    cdef cppclass FolderNames:
        int list(const string& folder, cbool want_folders) except +
        size_t size()
        string_view name(size_t index)
        const string& problem_path()

    cdef enum class Match "dali_core::NamePatterns::Match"(int):
        kNo
        kYes
        kUnknown

    cdef cppclass CppNamePatterns "dali_core::NamePatterns":
        CppNamePatterns(const vector[string]& patterns, cbool case_sensitive) except +
        Match match(string_view name) except +

cdef extern from "dali_core/kernels/files/labeled_lines.hpp" namespace "dali_core" nogil:
    cdef cppclass LabeledLines:
        LabeledLines(string_view text)
        cbool find_unclear(CppPathList& paths) except +
        string line() except +
        int64_t number()


def list_names(folder: str, *, folders: bool) -> list[str]:
    """Return the names of the folders, or of the files, in a folder, sorted by their bytes.

    Raises
    ------
    OSError
        If it cannot be listed, or what a link in it leads to cannot be told.
    """
    cdef FolderNames found
    _list_folder(found, os.fsencode(folder), folders)
    return [_text(found.name(i)) for i in range(found.size())]


cdef class NamePatterns:
    """Shell patterns, of which one must match a name.

    Parameters
    ----------
    patterns : sequence of str
        The patterns.
    case_sensitive : bool
        Whether they tell 'a' from 'A'.
    matches : callable
        Does the same, and is asked about what is not simple.
    """

    cdef shared_ptr[CppNamePatterns] _patterns
    cdef object _matches

    def __init__(
        self, patterns: Sequence[str], case_sensitive: bool, matches: Callable[[str], object]
    ) -> None:
        cdef vector[string] texts = [os.fsencode(pattern) for pattern in patterns]
        self._patterns = make_shared[CppNamePatterns](texts, <cbool>case_sensitive)
        self._matches = matches

    def __call__(self, name: str) -> bool:
        """Return whether a name matches."""
        cdef bytes encoded = os.fsencode(name)
        return self.takes(string_view(encoded, len(encoded)))

    cdef int takes(self, string_view name) except -1:
        cdef Match found = self._patterns.get().match(name)
        if found == Match.kUnknown:
            return bool(self._matches(_text(name)))
        return found == Match.kYes


cdef class PathList:
    """Paths, each of which has a label, in the order in which they were added.

    It is a sequence of str. Native code reads it without copying it.
    """

    cdef shared_ptr[CppPathList] _paths

    def __cinit__(self) -> None:
        self._paths = make_shared[CppPathList]()

    def __len__(self) -> int:
        return self._paths.get().size()

    def __getitem__(self, index: int) -> str:
        cdef int64_t size = self._paths.get().size()
        cdef int64_t number = index + size if index < 0 else index
        if not 0 <= number < size:
            raise IndexError(f"index must be below {size} (got {index}).")
        cdef string path = self._paths.get().path(number)
        return os.fsdecode(<bytes>path)

    def __iter__(self) -> Iterator[str]:
        return map(self.__getitem__, range(len(self)))

    @property
    def labels(self) -> Sequence[int]:
        """The label of each path, as 32-bit integers."""
        cdef const vector[int32_t]* labels = &self._paths.get().labels()
        result = array("i", bytes(4 * labels.size()))
        cdef int[::1] view = result
        if labels.size() > 0:
            memcpy(&view[0], labels.data(), 4 * labels.size())
        return result

    @property
    def folders(self) -> list[str]:
        """What paths of each folder begin with."""
        return [_text(self._paths.get().prefix(i)) for i in range(self._paths.get().num_folders())]

    @property
    def address(self) -> int:
        """Where native code finds it, for as long as this object lives."""
        return <uintptr_t>&self._paths

    def may_contain(self, text: str) -> bool:
        """Return False if no name that was added has this text in it."""
        return self._paths.get().may_contain(<string>os.fsencode(text))

    def extend(self, paths: Iterable[str], labels: Iterable[int]) -> None:
        """Add paths with their labels."""
        for path, label in zip(paths, labels, strict=True):
            self._add(path, label)

    def add_folder(
        self, prefix: str, names: Iterable[str], label: int, patterns: NamePatterns
    ) -> None:
        """Add files of a folder whose names match.

        Parameters
        ----------
        prefix : str
            What their paths begin with.
        names : iterable of str
            Their names.
        label : int
            Their label.
        patterns : NamePatterns
            What their names must match.
        """
        self._begin(prefix)
        for name in names:
            if patterns(name):
                self._add(name, label)

    def add_local_folder(
        self, folder: str, prefix: str, label: int, NamePatterns patterns not None
    ) -> None:
        """Add files of a folder of this machine whose names match, in the order of their bytes.

        Parameters
        ----------
        folder : str
            Its path.
        prefix, label, patterns
            As for `add_folder`.

        Raises
        ------
        OSError
            As for `list_names`.
        """
        cdef FolderNames found
        cdef int64_t number = label
        cdef size_t i
        _list_folder(found, os.fsencode(folder), False)
        self._begin(prefix)
        for i in range(found.size()):
            if patterns.takes(found.name(i)):
                self._paths.get().add(found.name(i), number)

    def add_lines(
        self, text: bytes, judge: Callable[[int, str], tuple[str, int] | None]
    ) -> None:
        """Add the files of a text with a path and a label on each line.

        Parameters
        ----------
        text : bytes
            The text, in UTF-8.
        judge : callable
            Gets number and text of a line about which something is not plain. Returns path and
            label, None for a line without any, or raises an error.
        """
        cdef CppPathList* target = self._paths.get()
        cdef LabeledLines* lines = new LabeledLines(
            string_view(<const char*><bytes>text, len(text))
        )
        cdef cbool is_unclear = True
        cdef string line
        try:
            while True:
                with nogil:
                    is_unclear = lines.find_unclear(target[0])
                if not is_unclear:
                    break
                line = lines.line()
                found = judge(lines.number(), os.fsdecode(<bytes>line))
                if found is not None:
                    path, label = found
                    self._add(path, label)
        finally:
            del lines
        target.finish()

    def finish(self) -> None:
        """Release the memory that is kept for more paths."""
        self._paths.get().finish()

    def to_bytes(self) -> bytes:
        """Return everything as bytes."""
        return self._paths.get().to_bytes()

    @classmethod
    def from_bytes(cls, data: bytes | memoryview) -> PathList | None:
        """Return a list from any bytes.

        Returns
        -------
        PathList or None
            None unless `to_bytes` can have written them about folders with files directly in them.
        """
        cdef PathList result = PathList()
        cdef const unsigned char[::1] given = data
        cdef string_view view = string_view()
        cdef cbool is_sound
        if given.shape[0] > 0:
            view = string_view(<const char*>&given[0], given.shape[0])
        with nogil:
            is_sound = result._paths.get().from_bytes(view)
        return result if is_sound else None

    cdef int _add(self, str path, int64_t label) except -1:
        cdef bytes encoded = os.fsencode(path)
        self._paths.get().add(string_view(encoded, len(encoded)), label)
        return 0

    cdef int _begin(self, str prefix) except -1:
        cdef bytes encoded = os.fsencode(prefix)
        self._paths.get().begin_folder(string_view(encoded, len(encoded)))
        return 0


cdef int _list_folder(FolderNames& found, bytes folder, cbool want_folders) except -1:
    cdef string path = folder
    cdef int error
    with nogil:
        error = found.list(path, want_folders)
    if error != 0:
        path = found.problem_path()
        raise OSError(error, os.strerror(error), os.fsdecode(<bytes>path))
    return 0


cdef str _text(string_view text):
    return os.fsdecode(text.data()[:text.size()])
