"""Measurements inside the process of a peer. Requires only the standard library."""

from __future__ import annotations

import gc
import hashlib
import importlib
import multiprocessing
import os
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

# Long enough that hashing a block releases the GIL, short enough (about 0.1 ms) to stop on time.
_HASHED_BLOCK = bytes(128 * 1024)


def versions(peer: ModuleType) -> Result:
    """Return the versions of a peer, and the pipelines that it supports."""
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

    The warm-up batches start threads and processes, fill caches and pools, and consume the batches
    that were prefetched during start-up. The number of prefetched batches is the same when the
    clock starts and when it stops.
    """
    imported = _peak_memory()
    source = peer.open_batches(pipeline, files, threads, batch_size)
    _warm_up(source, warm_up)
    start, processors = time.perf_counter(), _processor_seconds()
    images = _consume(source, batches)
    seconds, processors = time.perf_counter() - start, _processor_seconds() - processors
    return {
        "images_per_second": images / seconds,
        "images": images,
        "processor_seconds": processors,
        "memory_imported": imported,
        "memory_peak": _peak_memory(),
    }


def processes_at_once(
    peer: ModuleType,
    *,
    pipeline: str,
    files: list[str],
    processes: int,
    batch_size: int,
    warm_up: int,
    seconds: float,
) -> Result:
    """Measure the total images per second of independent processes with one thread each."""
    context = multiprocessing.get_context("spawn")
    begin, rates = context.Barrier(processes), context.SimpleQueue()
    arguments = (peer.__name__, pipeline, files, batch_size, warm_up, seconds, begin, rates)
    workers = [context.Process(target=_one_of_many, args=arguments) for _ in range(processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        if worker.exitcode:
            raise RuntimeError(f"a process must end with status 0 (got {worker.exitcode}).")
    return {"images_per_second": sum(rates.get() for _ in workers)}


def _one_of_many(
    peer: str,
    pipeline: str,
    files: list[str],
    batch_size: int,
    warm_up: int,
    seconds: float,
    begin: Any,
    rates: Any,
) -> None:
    source = importlib.import_module(peer).open_batches(pipeline, files, 1, batch_size)
    _warm_up(source, warm_up)
    begin.wait(timeout=120)
    images, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        images += next(source)
    rates.put(images / passed)


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
    """Measure resident memory, in bytes, at regular intervals of batches."""
    source = peer.open_batches(pipeline, files, threads, batch_size)
    resident = []
    for _ in range(batches // every):
        _consume(source, every)
        resident.append(kilobytes(Path("/proc/self/status"), "VmRSS") * 1024)
    return {"resident": resident, "memory_peak": _peak_memory()}


def hashing(peer: ModuleType, *, threads: int, seconds: float) -> Result:
    """Measure the blocks per second that some threads hash, without the GIL or much memory."""

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
    """Measure images per second while the thread that requests batches is busy in between.

    First, batches are requested back to back. Then, after each batch, the thread spends ``share``
    of the time of a batch (as just measured) asleep, hashing (busy on a processor, but not holding
    the GIL), or in a loop of Python (busy, and holding the GIL).
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
    """Measure the time from one batch to the next, when there is almost no computation."""
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
    """Measure the time to convert the outputs of a pipeline to tensors of a framework.

    Tensors of a batch are released before the next batch, as in a training loop.
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


def processor_seconds(process: int) -> float:
    """Return the processor time of a process so far, also that of the system for it."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _processor_seconds() -> float:
    """Return the processor time of this process and its worker processes."""
    workers = (worker.pid for worker in multiprocessing.active_children())
    return sum(processor_seconds(process) for process in (os.getpid(), *filter(None, workers)))


def prepare(peer: ModuleType, **parameters: Any) -> Result:
    """Have a peer write the files that it reads."""
    peer.prepare(**parameters)
    return {}


def _peak_memory() -> int:
    """Return the peak resident memory of this process and its worker processes, in bytes.

    Workers count with their proportional set size, so that shared pages count once.
    """
    peak = kilobytes(Path("/proc/self/status"), "VmHWM")
    for worker in multiprocessing.active_children():
        peak += kilobytes(Path(f"/proc/{worker.pid}/smaps_rollup"), "Pss")
    return peak * 1024


def kilobytes(path: Path, field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", path.read_text(), re.MULTILINE)
    if found is None:
        raise RuntimeError(
            f"{path}: must have a line {field} (found none). Memory is measured on Linux only."
        )
    return int(found[1])
