# cython: annotation_typing=False
"""Paths of many files in little memory, from folders, texts and lists."""

import os
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence

from libc.stdint cimport int32_t, int64_t, uintptr_t
from libcpp cimport bool as cbool
from libcpp.memory cimport make_shared, shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

cdef extern from "<string_view>" namespace "std" nogil:
    cdef cppclass string_view:
        string_view()
        string_view(const char*, size_t)
        const char* data()
        size_t size()

cdef extern from "dali_core/native_io/files/path_list.hpp" namespace "dali_core" nogil:
    cdef cppclass PathFileWriter:
        string next() except +

    cdef cppclass CppPathList "dali_core::PathList":
        void begin_folder(string_view prefix) except +
        void add(string_view name, int64_t label) except +
        void finish() except +
        void clear() except +
        int64_t size()
        int64_t num_folders()
        string path(int64_t index) except +
        void copy_labels(int32_t* target) except +
        string_view prefix(int64_t folder)
        cbool may_contain(const string& text)
        unique_ptr[PathFileWriter] writer(string note) except +
        cbool open(const string& path, string& note) except +

cdef extern from "dali_core/native_io/files/folder_names.hpp" namespace "dali_core" nogil:
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

cdef extern from "dali_core/native_io/files/labeled_lines.hpp" namespace "dali_core" nogil:
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
        result = array("i", bytes(4 * len(self)))
        cdef uintptr_t start = result.buffer_info()[0]
        if start:
            self._paths.get().copy_labels(<int32_t*>start)
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
    ) -> dict[str, int]:
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

        Returns
        -------
        dict of str to int
            Numbers of the other files by the extensions of their names, without hidden files.
        """
        skipped = {}
        self._begin(prefix)
        for name in names:
            if patterns(name):
                self._add(name, label)
            else:
                _count(skipped, name)
        return skipped

    def add_local_folder(
        self, folder: str, prefix: str, label: int, NamePatterns patterns not None
    ) -> dict[str, int]:
        """Add files of a folder of this machine whose names match, in the order of their bytes.

        Parameters
        ----------
        folder : str
            Its path.
        prefix, label, patterns
            As for `add_folder`.

        Returns
        -------
        dict of str to int
            As for `add_folder`.

        Raises
        ------
        OSError
            As for `list_names`.
        """
        cdef FolderNames found
        cdef int64_t number = label
        cdef size_t i
        cdef dict skipped = {}
        _list_folder(found, os.fsencode(folder), False)
        self._begin(prefix)
        for i in range(found.size()):
            if patterns.takes(found.name(i)):
                self._paths.get().add(found.name(i), number)
            else:
                _count(skipped, _text(found.name(i)))
        return skipped

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

    def clear(self) -> None:
        """Remove all paths, and return their memory to the system."""
        self._paths.get().clear()

    def write_to(self, write: Callable[[bytes], object], note: bytes) -> None:
        """Write a list in memory, to be opened by `open`.

        Parameters
        ----------
        write : callable
            Gets the bytes of the file, piece by piece.
        note : bytes
            Anything to be kept with it.
        """
        cdef unique_ptr[PathFileWriter] writer = self._paths.get().writer(note)
        while True:
            piece = <bytes>writer.get().next()
            if not piece:
                break
            write(piece)

    @classmethod
    def open(cls, path: str) -> tuple[PathList, bytes] | None:
        """Return the list in a file, of which parts are read when they are needed, and its note.

        Returns
        -------
        tuple of PathList and bytes, or None
            None unless `write_to` has written the file. A part that is damaged raises a
            `RuntimeError` when it is needed, and then the file is removed.

        Raises
        ------
        OSError
            If the file cannot be read.
        """
        cdef PathList result = PathList()
        cdef string encoded = os.fsencode(path)
        cdef string note
        cdef cbool is_sound
        try:
            with nogil:
                is_sound = result._paths.get().open(encoded, note)
        except RuntimeError as error:
            raise OSError(str(error)) from error
        return (result, <bytes>note) if is_sound else None

    cdef int _add(self, str path, int64_t label) except -1:
        cdef bytes encoded = os.fsencode(path)
        self._paths.get().add(string_view(encoded, len(encoded)), label)
        return 0

    cdef int _begin(self, str prefix) except -1:
        cdef bytes encoded = os.fsencode(prefix)
        self._paths.get().begin_folder(string_view(encoded, len(encoded)))
        return 0


cdef int _count(dict skipped, str name) except -1:
    if not name.startswith("."):
        extension = os.path.splitext(name)[1].lower()
        skipped[extension] = skipped.get(extension, 0) + 1
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
