"""Lengths that are only known once samples are processed: measured once, then kept in a cache."""

from __future__ import annotations

import hashlib
import itertools
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core._file_cache import CACHE_VARIABLE, FileCache, cache_folder, key_of
from dali_core._progress_bar import with_progress
from dali_core._runtime.thread_start import map_in_threads
from dali_core.batching.windows import check_count
from dali_core.errors import ArgumentTypeError, ArgumentValueError

Integers = NDArray[np.signedinteger[Any]]

LengthsOf = Callable[[NDArray[np.int64]], ArrayLike]
"""Returns the length of each sample, or several lengths of each, by the numbers of samples."""

_FILE = "lengths-1.sqlite"  # the number changes with what entries have
_PART_SAMPLES = 1 << 18
"""In an entry of the cache: what an interrupted pass may have to measure again."""
_HEAD = struct.Struct("<4sIqq")
_MAGIC = b"dcml"


def measure_lengths(
    lengths_of: LengthsOf,
    num_samples: int,
    *,
    fingerprint: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    batch_size: int = 256,
    num_threads: int | None = None,
    progress: bool | None = None,
) -> Integers:
    """Measure the lengths of all samples, such as their numbers of tokens, once.

    What was measured is kept in the index cache (environment variable ``DALI_CORE_INDEX_CACHE``),
    from where later calls with the same fingerprint, of any process, take it. A pass that was
    interrupted continues where it was.

    Parameters
    ----------
    lengths_of : callable
        Gets an array of the numbers of some samples, and returns an array with the length of each;
        with several lengths of each (tokens and images), one of shape (samples, lengths). It is
        called by several threads at a time, so it should do its work without the GIL, as
        tokenizers do.
    num_samples : int
        Number of samples in the data set.
    fingerprint : str, path, or sequence of these
        What the lengths depend on. Texts, such as the JSON of a tokenizer, count by themselves,
        and paths (`pathlib.Path`) by size and time of the last change of the file.
    batch_size : int
        How many samples a call is for.
    num_threads : int, optional
        By default one for each processor of this process.
    progress : bool, optional
        Whether to show how many batches have been measured; by default on terminals.

    Returns
    -------
    array of int32 or int64, shape (samples,) or (samples, lengths)
        The lengths, int64 only if one needs that, for `Pipeline` (``lengths=``) and plans.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the results are no lengths of the samples, or a file of the fingerprint is missing.
    Exception
        Whatever `lengths_of` raises.

    Examples
    --------
    >>> import numpy as np
    >>> texts = ["one", "three", "seven"]
    >>> measure_lengths(lambda some: [len(texts[i]) for i in some], 3, fingerprint="example")
    array([3, 5, 5], dtype=int32)
    """
    num_samples = check_count(num_samples, "num_samples", least=0)
    batch_size = check_count(batch_size, "batch_size")
    if num_threads is None:
        num_threads = len(os.sched_getaffinity(0))
    measuring = _Measuring(
        lengths_of, num_samples, batch_size, check_count(num_threads, "num_threads")
    )
    cache = FileCache(cache_folder(CACHE_VARIABLE, "records"), _FILE, CACHE_VARIABLE)
    name = digest_of(fingerprint)
    starts = range(0, num_samples, _PART_SAMPLES)
    # A path for the table, whose other columns are numbers.
    keys = [(f"{name}-{start}", num_samples, _PART_SAMPLES) for start in starts]
    found: dict[str, Integers] = {}
    for path, data in cache.load_bytes(keys).items():
        start = int(path.rpartition("-")[2])
        try:
            found[path] = _unpacked(data, min(_PART_SAMPLES, num_samples - start))
        except ValueError as error:
            cache.warn(f"an entry is damaged, {error}")
    missing = [(key, start) for key, start in zip(keys, starts, strict=True) if key[0] not in found]
    counts = [measuring.num_batches(start) for _, start in missing]
    done = sum(map(measuring.num_batches, starts)) - sum(counts)
    batches = with_progress(
        itertools.chain.from_iterable(measuring.part(start) for _, start in missing),
        done + sum(counts),
        progress,
        unit="call",
        title="Lengths",
        initial=done,
    )
    for (key, _), count in zip(missing, counts, strict=True):
        found[key[0]] = _narrow(_joined(list(itertools.islice(batches, count))))
        cache.store_bytes([(key, _packed(found[key[0]]))])
    next(batches, None)  # which ends the bar
    return _joined([found[key[0]] for key in keys])


class _Measuring:
    """Measures the parts of a data set, in threads."""

    def __init__(
        self, lengths_of: LengthsOf, num_samples: int, batch_size: int, num_threads: int
    ) -> None:
        self._lengths_of = lengths_of
        self._num_samples = num_samples
        self._batch_size = batch_size
        self._num_threads = num_threads

    def num_batches(self, start: int) -> int:
        return len(self._batches(start))

    def part(self, start: int) -> Iterator[Integers]:
        batches = self._batches(start)
        return map_in_threads(self._measured, batches, min(self._num_threads, len(batches)))

    def _batches(self, start: int) -> range:
        return range(start, min(start + _PART_SAMPLES, self._num_samples), self._batch_size)

    def _measured(self, start: int) -> Integers:
        part_end = start - start % _PART_SAMPLES + _PART_SAMPLES
        stop = min(start + self._batch_size, part_end, self._num_samples)
        where = f"lengths_of must return an integer from 0 on for each of samples {start} to {stop}"
        found = np.asarray(self._lengths_of(np.arange(start, stop)))
        if found.dtype.kind not in "iu":
            raise ArgumentTypeError(f"{where} (got an array of {found.dtype}). Convert it.")
        if found.ndim not in (1, 2) or len(found) != stop - start:
            raise ArgumentValueError(f"{where} (got an array of shape {found.shape}). Return one.")
        if found.size and (found.min() < 0 or found.max() >= 2**63):
            row = int(
                np.flatnonzero(((found < 0) | (found >= 2**63)).reshape(len(found), -1).any(1))[0]
            )
            raise ArgumentValueError(
                f"{where} (got {found[row].tolist()} for sample {start + row}). Correct it."
            )
        return found.astype(np.int64)


def _joined(parts: Sequence[Integers]) -> Integers:
    shapes = {part.shape[1:] for part in parts}
    if len(shapes) > 1:
        raise ArgumentValueError(
            f"lengths_of must return as many lengths for each sample (got arrays of shapes "
            f"{', '.join(f'(samples, {shape})' for shape in sorted(shapes))}). Return the same."
        )
    return np.concatenate(parts) if parts else np.zeros(0, np.int32)


def digest_of(fingerprint: Any) -> str:
    """Return a text that depends on the texts and the files of a fingerprint.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it consists of something else, or a file is missing.
    """
    is_one = isinstance(fingerprint, (str, os.PathLike))
    parts = [fingerprint] if is_one else list(fingerprint)
    found = hashlib.sha256()
    for part in parts:
        if isinstance(part, os.PathLike):
            try:
                text = repr(key_of(os.fspath(part)))
            except OSError as error:
                raise ArgumentValueError(
                    f"fingerprint must name files that exist (got {os.fspath(part)!r}: "
                    f"{error.strerror}). Check the path, or pass a text."
                ) from error
        elif isinstance(part, str):
            text = part
        else:
            raise ArgumentTypeError(
                f"fingerprint must be texts and paths (got {part!r:.100}). Pass str(...) of it."
            )
        data = text.encode(errors="surrogatepass")
        found.update(b"%d:" % len(data) + data)
    return found.hexdigest()


def _narrow(lengths: Integers) -> Integers:
    fits = not lengths.size or int(lengths.max()) < 2**31
    return lengths.astype(np.int32) if fits else lengths


def _packed(lengths: Integers) -> bytes:
    body = lengths.astype(lengths.dtype.newbyteorder("<")).tobytes()
    kinds = 0 if lengths.ndim == 1 else lengths.shape[1]
    return _HEAD.pack(_MAGIC, zlib.crc32(body), kinds, len(lengths)) + body


def _unpacked(data: bytes, count: int) -> Integers:
    if len(data) < _HEAD.size:
        raise ValueError("with other content")
    magic, checksum, kinds, num_rows = _HEAD.unpack_from(data)
    body = memoryview(data)[_HEAD.size :]
    if magic != _MAGIC or zlib.crc32(body) != checksum:
        raise ValueError("with a wrong checksum")
    width = max(kinds, 1) * count
    if num_rows != count or kinds < 0 or len(body) not in (4 * width, 8 * width):
        raise ValueError("with other content")
    dtype = np.int32 if len(body) == 4 * width else np.int64
    found: Integers = np.frombuffer(body, np.dtype(dtype).newbyteorder("<")).astype(dtype)
    if found.min() < 0:
        raise ValueError("with other content")
    return found.reshape(count, kinds) if kinds else found
