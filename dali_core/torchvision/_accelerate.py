"""Loaders of PyTorch whose images are decoded and transformed by this library."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from dali_core._runtime.thread_start import start_new_thread
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision._collation import Collation
from dali_core.torchvision._datasets import Samples, samples_of
from dali_core.torchvision._draws import seeded
from dali_core.torchvision._frameworks import torch


def accelerate(loader: Any, num_threads: int | None = None) -> Loader:
    """Make a loader that gives the batches of a data loader of PyTorch in less time.

    Images are read, decoded and transformed by threads of this process, as one program each.
    Sampler, order, lengths, collation and pinning are those of the given loader. Random numbers of
    a sample depend on the seed of the epoch, which `torch.manual_seed` governs, and on its place in
    the epoch: not on the number of threads.

    Parameters
    ----------
    loader : torch.utils.data.DataLoader
        A loader over a data set with indices: `torchvision.datasets.ImageFolder`, others of
        torchvision that have images in files, and subsets and concatenations of these. Transforms
        that are not known are called as functions of Python; for other data sets, the loader itself
        is used.
    num_threads : int, optional
        Number of threads; by default as many as the loader has workers, or one for each processor
        if it has none.

    Returns
    -------
    Loader
        The loader; ``print(loader.plan())`` says what is native.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no such loader, or its data set has no indices.
    """
    return Loader(loader, num_threads)


class Loader:
    """A data loader that `accelerate` has made.

    Attributes
    ----------
    loader : torch.utils.data.DataLoader
        The loader that says what batches are made of.
    num_threads : int
        Number of threads.
    """

    def __init__(self, loader: Any, num_threads: int | None = None) -> None:
        data = torch().utils.data
        if not isinstance(loader, data.DataLoader):
            raise ArgumentTypeError(
                f"torchvision.accelerate: loader must be a torch.utils.data.DataLoader (got a "
                f"{type(loader).__name__}). Make one of the data set."
            )
        if isinstance(loader.dataset, data.IterableDataset):
            raise ArgumentTypeError(
                "torchvision.accelerate: the data set must have indices (got an IterableDataset). "
                "Use the loader as it is."
            )
        if num_threads is None:
            num_threads = loader.num_workers or _num_processors()
        if isinstance(num_threads, bool) or not isinstance(num_threads, int) or num_threads < 1:
            raise ArgumentValueError(
                f"torchvision.accelerate: num_threads must be a positive integer (got "
                f"{num_threads!r:.60})."
            )
        self.loader = loader
        self.num_threads = num_threads
        self._collation = Collation(loader.collate_fn)

    @property
    def dataset(self) -> Any:
        """The data set."""
        return self.loader.dataset

    @property
    def batch_size(self) -> Any:
        """Samples in a batch, or None."""
        return self.loader.batch_size

    @property
    def sampler(self) -> Any:
        """The sampler, for example for its `set_epoch`."""
        return self.loader.sampler

    @property
    def batch_sampler(self) -> Any:
        """The sampler of batches, or None."""
        return self.loader.batch_sampler

    @property
    def collate_fn(self) -> Any:
        """The function that makes a batch of samples."""
        return self.loader.collate_fn

    def __len__(self) -> int:
        return len(self.loader)

    def plan(self) -> str:
        """Return a text with a line for each part of a sample: what computes it."""
        samples = samples_of(self.dataset)
        lines = samples.lines()
        if not samples.is_native:
            return "\n".join([*lines, "by the data loader itself"])
        collate = self.loader.collate_fn
        name = getattr(collate, "__qualname__", type(collate).__name__)
        threads = f"{self.num_threads} thread{'s' * (self.num_threads > 1)}"
        lines += [f"{name}: Python function", f"in {threads}, no worker processes"]
        if self.loader.worker_init_fn is not None:
            lines.append("worker_init_fn: not called")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"accelerate({self.loader!r}, num_threads={self.num_threads})"

    def __iter__(self) -> Iterator[Any]:
        loader = self.loader
        samples = samples_of(loader.dataset)
        if not samples.is_native:
            return iter(loader)  # functions of Python run best in the processes that it has
        is_batched = loader.batch_sampler is not None
        # In the order of a data loader, so that the same seed gives the same order of samples.
        order = iter(loader.batch_sampler if is_batched else loader.sampler)
        seed = int(
            torch().empty((), dtype=torch().int64).random_(generator=loader.generator).item()
        )
        return self._batches(samples, order, is_batched, seed)

    def _batches(
        self, samples: Samples, order: Iterator[Any], is_batched: bool, seed: int
    ) -> Iterator[Any]:
        loader = self.loader
        depth = max(2, (loader.prefetch_factor or 1) * max(loader.num_workers, 1))
        pins = loader.pin_memory and torch().cuda.is_available()
        waiting: deque[Future[Any]] = deque()
        position = 0
        collate = self._collation if is_batched else loader.collate_fn
        pool = _Threads(self.num_threads)
        try:
            is_over = False
            while True:
                while not is_over and len(waiting) < depth:
                    entry: Any = next(order, _END)
                    if entry is _END:
                        is_over = True
                        break
                    indices = entry if is_batched else [entry]
                    batch = _Batch(samples, indices, is_batched, collate, pool, self.num_threads)
                    waiting.append(batch.start(seed, position))
                    position += len(indices)
                if not waiting:
                    return
                found = waiting.popleft().result()
                yield torch().utils.data._utils.pin_memory.pin_memory(found) if pins else found
        finally:
            pool.close()


_END = object()


_Task = Callable[[], object]


class _Threads:
    """Threads that make calls, in the order in which they are submitted.

    Unlike those of `concurrent.futures`, they leave no callbacks in which Ctrl-C would be lost.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._tasks: SimpleQueue[_Task | None] = SimpleQueue()
        for number in range(count):
            serve = partial(_serve, self._tasks)
            start_new_thread(serve, f"dali_core.torchvision {number}", daemon=True)

    def submit(self, function: Callable[..., object], *arguments: Any) -> None:
        """Have a function called, which raises nothing."""
        self._tasks.put(partial(function, *arguments))

    def close(self) -> None:
        """End the threads after what they are doing, without waiting; drop all other calls."""
        try:
            while True:
                self._tasks.get_nowait()
        except Empty:
            pass
        for _ in range(self._count):
            self._tasks.put(None)


def _serve(tasks: SimpleQueue[_Task | None]) -> None:
    while (task := tasks.get()) is not None:
        task()
        del task  # it refers to samples


class _Batch:
    """A batch that is computed: its last sample collates it."""

    def __init__(
        self,
        samples: Samples,
        indices: Sequence[Any],
        is_batched: bool,
        collate: Any,
        pool: _Threads,
        num_threads: int,
    ) -> None:
        self._samples = samples
        self._indices = indices
        self._is_batched = is_batched
        self._collate = collate
        self._pool = pool
        self._num_threads = num_threads
        self._values: list[Any] = [None] * len(indices)
        self._missing = len(indices)
        self._lock = threading.Lock()
        self._future: Future[Any] = Future()

    def start(self, seed: int, position: int) -> Future[Any]:
        """Start to compute, and return where the batch will be."""
        if not self._indices:
            self._pool.submit(self._finish)
        else:
            # Tasks of several samples: handing one over costs as much as a small image.
            step = max(1, min(8, len(self._indices) // (4 * self._num_threads)))
            for first in range(0, len(self._indices), step):
                places = range(first, min(first + step, len(self._indices)))
                self._pool.submit(self._compute, places, seed, position)
        return self._future

    def _compute(self, places: range, seed: int, position: int) -> None:
        try:
            for place in places:
                if self._future.done():
                    break  # another sample has failed
                draws = seeded(seed, position + place)
                self._values[place] = self._samples.get(self._indices[place], draws)
        except BaseException as error:
            self._fail(error)
        with self._lock:
            self._missing -= len(places)
            is_last = self._missing == 0
        if is_last:
            self._finish()

    def _fail(self, error: BaseException) -> None:
        with self._lock:
            if not self._future.done():
                self._future.set_exception(error)

    def _finish(self) -> None:
        if self._future.done():
            return
        try:
            found = self._values if self._is_batched else self._values[0]
            self._future.set_result(self._collate(found))
        except BaseException as error:
            self._fail(error)


def _num_processors() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
