"""The format of `fn.readers.dicom`: frames of files, or the volumes of series."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dali_core._readers.byte_ranges import ByteRanges
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.formats.dicom_compressed import check_syntax, decode, fragments
from dali_core._readers.formats.dicom_elements import (
    BIG_ENDIAN,
    DEFLATED,
    EXPLICIT,
    IMPLICIT,
    TruncatedError,
    parse,
)
from dali_core._readers.formats.dicom_image import Image, series_of, ybr_to_rgb
from dali_core._readers.formats.dicom_series import Slice, ordered
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._runtime.remote_reads import require_memory
from dali_core._runtime.thread_start import map_in_threads
from dali_core._spec import Arg
from dali_core._storage import Storage, join_path
from dali_core.errors import ArgumentValueError, MissingModuleError
from dali_core.operators.readers.listed_files import file_args, list_files

_START = 1 << 15  # bytes of a file that are read first
_MOST_TABLES = 64  # of fragments, that are kept

_LISTING_ARGS = (
    *file_args("*.dcm"),
    Arg(
        "series",
        bool,
        "Whether a sample is the volume of all slices of a series, not one frame of a file.",
        False,
    ),
)


class Damaged(NamedTuple):
    """A file that cannot be read.

    Attributes
    ----------
    error : Exception
        What is wrong with it.
    series : str
        Its series, if that can be read.
    """

    error: Exception
    series: str


Header: TypeAlias = Image | Damaged | None
"""The header of a file; None if it has no image."""


class Dicom(Format):
    """Frames of files, or volumes of series."""

    name = "readers.dicom"
    doc = """Read slices or volumes from DICOM files.

A sample is a frame: float32 of (rows, columns), rescaled by slope and intercept of the frame;
colours are RGB, of (rows, columns, 3), as they are stored. Files with several frames have as many
samples. With ``series=True`` a sample is the volume of a series, float32 of (slices, rows,
columns), whose slices are ordered by their positions, never by the names of files. Series come in
the order of their first files. Slices that are missing, come twice, or do not fit the others make a
bad sample.

Pixels may be native, or compressed by RLE or lossless JPEG of up to 16 bits, which are decoded in
Python; JPEG of 8 bits and JPEG 2000 are decoded by Pillow (the extra is `dicom`). Errors name the
file, and never a text in it.

Returns
-------
DataNode or list of DataNode
    The images or volumes; with `affine`, a list with the affines."""
    args = (
        *_LISTING_ARGS,
        Arg(
            "rescale",
            bool,
            "Whether values are multiplied by the slope and added to the intercept; otherwise "
            "they are integers as they are stored.",
            True,
        ),
        Arg(
            "affine",
            bool,
            "Whether to return for each volume, too, what maps indices of slice, row and column to "
            "places of the patient, in millimetres: float64 of (4, 4).",
            False,
        ),
    )
    listing_args = _LISTING_ARGS

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse affines of single frames."""
        if arguments["affine"] and not arguments["series"]:
            raise ArgumentValueError(
                "affine must be given with series=True, since frames have none (got True). Leave "
                "it out."
            )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List frames or series, whose headers are read once."""
        listed = list_files(dict(arguments), storage)
        paths = [join_path(listed.root, name) for name in listed.files]
        files = ByteRanges(paths, storage, "files")
        headers = list(map_in_threads(lambda file: _header(files, file), range(len(paths)), 8))
        for header in headers:
            if isinstance(header, Damaged) and isinstance(header.error, MissingModuleError):
                raise header.error
        found = (_Volumes if arguments["series"] else _Frames)(files, storage, headers)
        if not len(found):
            raise ArgumentValueError(
                f"files must have images (got none in {paths[0]!r}). Check files and file_filter."
            )
        return found

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return 2 with affines, or else 1."""
        return 2 if arguments["affine"] else 1

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read frames."""
        assert isinstance(source, _Images)
        return _Reading(source, arguments["rescale"], arguments["affine"])


def _header(files: ByteRanges, file: int) -> Header:
    """Read the header of a file, or return what is wrong with it; None if it has no image."""
    series = ""
    try:
        size = files.size(file)
        have = min(_START, size)
        while True:
            try:
                found = parse(files.read(file, 0, have))
                break
            except TruncatedError:
                if have == size:
                    raise
                have = min(16 * have, size)
        if found.pixels is None:
            return None
        series = series_of(found.elements)
        image = Image.of(found, size)
        if image.num_bytes < 0:
            check_syntax(image.syntax)
        elif image.syntax not in (IMPLICIT, EXPLICIT, DEFLATED, BIG_ENDIAN):
            raise ValueError("pixels of a compressed syntax must be in fragments")
        return image
    except MissingModuleError as error:
        return Damaged(error, series)
    except Exception as error:  # of structures, of many kinds
        return Damaged(_named(files.paths[file], error), series)


def _named(path: str, error: Exception) -> ValueError:
    message = str(error)
    if path in message:
        return ValueError(message)
    return ValueError(f"{path!r} must be an image of DICOM ({message}). Check it.")


class _Images(DataSource):
    """Samples that are made of frames; those of damaged files say what is wrong."""

    def __init__(
        self,
        files: ByteRanges,
        storage: Storage,
        headers: Sequence[Header],
    ) -> None:
        self.files, self.reads, self.headers = files, storage, headers

    def slices(self, index: int) -> Sequence[Slice]:
        """Return file, frame and header of each slice of a sample."""
        raise NotImplementedError

    @property
    def fingerprint(self) -> str:
        counts = [len(one.frames) if isinstance(one, Image) else 0 for one in self.headers]
        return fingerprint_of(self.files.names, counts)


class _Frames(_Images):
    def __init__(
        self,
        files: ByteRanges,
        storage: Storage,
        headers: Sequence[Header],
    ) -> None:
        super().__init__(files, storage, headers)
        # One that is damaged is one bad sample.
        counts = [
            len(one.frames) if isinstance(one, Image) else int(one is not None) for one in headers
        ]
        self._ends = np.cumsum(counts, dtype=np.int64)

    def __len__(self) -> int:
        return int(self._ends[-1])

    def slices(self, index: int) -> Sequence[Slice]:
        file = int(np.searchsorted(self._ends, index, side="right"))
        header = self.headers[file]
        if isinstance(header, Damaged):
            raise header.error
        assert header is not None
        return [Slice(file, index - (int(self._ends[file - 1]) if file else 0), header)]


class _Volumes(_Images):
    def __init__(
        self,
        files: ByteRanges,
        storage: Storage,
        headers: Sequence[Header],
    ) -> None:
        super().__init__(files, storage, headers)
        found: dict[Any, list[int]] = {}
        for file, header in enumerate(headers):
            if header is not None:
                # One that cannot say of which series it is, is one of its own.
                found.setdefault(header.series or file, []).append(file)
        self._series = list(found.values())

    def __len__(self) -> int:
        return len(self._series)

    def slices(self, index: int) -> Sequence[Slice]:
        found = []
        for file in self._series[index]:
            header = self.headers[file]
            if isinstance(header, Damaged):
                raise header.error
            assert header is not None
            found += [Slice(file, frame, header) for frame in range(len(header.frames))]
        return found


class _Reading(Fetcher):
    def __init__(self, source: _Images, rescale: bool, affine: bool) -> None:
        self._source = source
        self._rescale, self._affine = rescale, affine
        self._tables: dict[int, list[list[tuple[int, int]]]] = {}
        self._lock = threading.Lock()

    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        """Read the samples of a batch in threads."""
        wanted = list(dict.fromkeys(indices))
        found = dict(zip(wanted, self._each(self.fetch, wanted), strict=True))
        return [found[index] for index in indices]

    def fetch(self, index: int) -> tuple[Any, ...]:
        """Return a frame, or a volume and perhaps its affine."""
        slices = self._source.slices(index)
        if not isinstance(self._source, _Volumes):
            return (self._image(slices[0]),)
        path = self._source.files.paths[slices[0].file]
        try:
            slices, affine = ordered(slices)
        except ValueError as error:
            raise ValueError(f"{path!r} and other files of its series: {error}") from error
        rows, columns, _ = slices[0].image.shape
        kind = np.dtype(np.float32) if self._rescale else slices[0].image.dtype
        require_memory(len(slices) * rows * columns * kind.itemsize)
        frames = self._each(self._image, slices)
        volume = np.stack(frames)
        return (volume, affine) if self._affine else (volume,)

    def _each(self, function: Any, items: Sequence[Any]) -> list[Any]:
        storage = self._source.reads
        if len(items) < 2 or (not storage.is_used and self._is_small(items)):
            return [function(item) for item in items]
        processors = len(os.sched_getaffinity(0))
        most = storage.options.max_in_flight if storage.is_used else processors
        return list(map_in_threads(function, items, min(most, len(items))))

    def _is_small(self, items: Sequence[Any]) -> bool:
        # Threads start for what is decoded, not for what is only read.
        headers = [one.image for one in items if isinstance(one, Slice)]
        return bool(headers) and all(image.num_bytes >= 0 for image in headers)

    def _image(self, one: Slice) -> NDArray[Any]:
        path = self._source.files.paths[one.file]
        image = one.image
        try:
            stored = self._stored(one)
            if image.shape[2] == 3:
                return _rgb(stored, image)
            stored = stored[..., 0]
            if not self._rescale:
                return np.ascontiguousarray(stored)
            slope, intercept = image.frames[one.frame].scale
            if (slope, intercept) == (1, 0):
                return stored.astype(np.float32)
            with np.errstate(over="ignore"):
                values: NDArray[np.float64] = stored * np.float64(slope) + intercept
                return values.astype(np.float32)
        except MissingModuleError:
            raise
        except Exception as error:  # of decoders, of many kinds
            raise _named(path, error) from error

    def _stored(self, one: Slice) -> NDArray[Any]:
        files, image = self._source.files, one.image
        if image.num_bytes >= 0:
            offset, size = image.frame_range(one.frame)
            require_memory(size)
            if image.syntax == DEFLATED:
                inflated = parse(files.read(one.file)).inflated or b""
                return image.native(inflated[offset : offset + size], one.frame)
            return image.native(files.read(one.file, offset, size), one.frame)
        table, data = self._tables.get(one.file), None
        if table is None:
            data = files.read(one.file, image.offset)
            table = fragments(data, image)
            with self._lock:
                if len(self._tables) >= _MOST_TABLES:
                    self._tables.clear()
                self._tables[one.file] = table
        parts = table[one.frame]
        if data is None:
            places = [(one.file, image.offset + start, size) for start, size in parts]
            joined = b"".join(files.read_many(places))
        else:
            joined = b"".join(data[start : start + size] for start, size in parts)
        rows, columns, samples = image.shape
        require_memory(rows * columns * samples * 4)
        return decode(joined, image)


def _rgb(stored: NDArray[Any], image: Image) -> NDArray[Any]:
    """Return colours as red, green and blue."""
    # Decoders of JPEG have converted them.
    if image.colours == "RGB" or image.syntax.startswith("1.2.840.10008.1.2.4."):
        return np.ascontiguousarray(stored)
    if stored.dtype != np.uint8 or image.colours not in ("YBR_FULL", "YBR_FULL_422"):
        raise ValueError("colours must be RGB, YBR_FULL or YBR_FULL_422, of 8 bits")
    return ybr_to_rgb(stored)
