"""What is measured inside the process of a peer. Needs nothing but the standard library."""

from __future__ import annotations

import gc
import hashlib
import multiprocessing
import platform
import re
import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

Result = dict[str, Any]

# Long enough that hashing a block lets go of the GIL, short enough (about 0.1 ms) to stop on time.
_HASHED_BLOCK = bytes(128 * 1024)


def versions(peer: ModuleType) -> Result:
    """Give the versions of a peer, and what it can run."""
    versions = {"python": platform.python_version()} | peer.versions()
    return {"versions": versions, "pipelines": sorted(peer.PIPELINES)}


def throughput(
    peer: ModuleType,
    *,
    pipeline: str,
    files: list[str],
    threads: int,
    batch_size: int,
    warm_up: int,
    batches: int,
) -> Result:
    """Measure images per second over some batches, and memory.

    The batches before the measured ones start threads and processes, fill caches and pools, and use
    up what was prefetched while nobody waited. When the clock starts and when it stops, the loader
    is equally far ahead.
    """
    imported = _peak_memory()
    source = peer.open_batches(pipeline, files, threads, batch_size)
    _warm_up(source, warm_up)
    start = time.perf_counter()
    images = _consume(source, batches)
    seconds = time.perf_counter() - start
    return {
        "images_per_second": images / seconds,
        "images": images,
        "memory_imported": imported,
        "memory_peak": _peak_memory(),
    }


def memory(
    peer: ModuleType,
    *,
    pipeline: str,
    files: list[str],
    threads: int,
    batch_size: int,
    batches: int,
    every: int,
) -> Result:
    """Measure resident memory, in bytes, after every so many batches."""
    source = peer.open_batches(pipeline, files, threads, batch_size)
    resident = []
    for _ in range(batches // every):
        _consume(source, every)
        resident.append(_kilobytes(Path("/proc/self/status"), "VmRSS") * 1024)
    return {"resident": resident, "memory_peak": _peak_memory()}


def hashing(peer: ModuleType, *, threads: int, seconds: float) -> Result:
    """Measure how many blocks some threads hash in a second, without the GIL or much memory."""

    def count(end: float) -> int:
        blocks = 0
        while time.perf_counter() < end:
            hashlib.sha256(_HASHED_BLOCK).digest()
            blocks += 1
        return blocks

    with ThreadPoolExecutor(threads) as pool:
        end = time.perf_counter() + seconds
        blocks = sum(pool.map(count, [end] * threads))
    return {"blocks_per_second": blocks / seconds}


def busy_main_thread(
    peer: ModuleType,
    *,
    pipeline: str,
    files: list[str],
    threads: int,
    batch_size: int,
    warm_up: int,
    batches: int,
    share: float,
) -> Result:
    """Measure images per second while the thread that asks for batches is occupied in between.

    First batches are asked for back to back. Then, after each batch, the thread spends ``share`` of
    the time of a batch (as just measured) asleep, hashing (busy on a processor, but not holding the
    GIL), or in a loop of Python (busy, and holding the GIL).
    """
    source = peer.open_batches(pipeline, files, threads, batch_size)
    _warm_up(source, warm_up)
    start = time.perf_counter()
    images = _consume(source, batches)
    seconds = time.perf_counter() - start
    result: Result = {"back_to_back": images / seconds}
    pause = share * seconds / batches
    occupations: dict[str, Callable[[float], None]] = {
        "asleep": time.sleep,
        "hashing": _hash_for,
        "python": _loop_for,
    }
    for name, occupation in occupations.items():
        _warm_up(source, warm_up)
        start = time.perf_counter()
        images = 0
        for _ in range(batches):
            images += next(source)
            occupation(pause)
        result[name] = images / (time.perf_counter() - start)
    return result


def batch_overhead(
    peer: ModuleType,
    pipeline: str,
    batch_size: int,
    warm_up: int,
    batches: int,
    threads: int = 1,
) -> Result:
    """Measure the time from one batch to the next, when there is next to nothing to compute."""
    source = peer.open_batches(pipeline, [], threads, batch_size)
    _warm_up(source, warm_up)
    times = []
    for _ in range(batches):
        start = time.perf_counter()
        next(source)
        times.append(time.perf_counter() - start)
    return {
        "microseconds": 1e6 * statistics.fmean(times),
        "microseconds_median": 1e6 * statistics.median(times),
    }


def hand_over(
    peer: ModuleType, framework: str, action: str, batch_size: int, warm_up: int, batches: int
) -> Result:
    """Measure how long it takes to turn the outputs of a pipeline into tensors of a framework.

    Tensors of a batch are let go before the next batch, as in a loop that trains.
    """
    version, actions = peer.hand_over(framework, batch_size)
    prepare, measured = actions[action]()
    times = []
    for _ in range(warm_up + batches):
        batch = prepare()
        start = time.perf_counter()
        tensors = measured(batch)
        times.append(time.perf_counter() - start)
        del batch, tensors
    times = times[warm_up:]
    return {
        "framework_version": version,
        "microseconds": 1e6 * statistics.median(times),
        "microseconds_mean": 1e6 * statistics.fmean(times),
    }


def _warm_up(source: Iterator[int], batches: int) -> None:
    _consume(source, batches)
    gc.collect()


def _consume(source: Iterator[int], batches: int) -> int:
    return sum(next(source) for _ in range(batches))


def _loop_for(seconds: float) -> None:
    end = time.perf_counter() + seconds
    counter = 0
    while time.perf_counter() < end:
        for step in range(100):
            counter += step


def _hash_for(seconds: float) -> None:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        hashlib.sha256(_HASHED_BLOCK).digest()


def _peak_memory() -> int:
    """Give the peak resident memory of this process and its worker processes, in bytes.

    A worker counts with its proportional set size, so that pages that processes share count once.
    """
    peak = _kilobytes(Path("/proc/self/status"), "VmHWM")
    for worker in multiprocessing.active_children():
        peak += _kilobytes(Path(f"/proc/{worker.pid}/smaps_rollup"), "Pss")
    return peak * 1024


def _kilobytes(path: Path, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(
            f"{path}: must have a line {field} (found none). Memory is measured on Linux only."
        )
    return int(found[1])
