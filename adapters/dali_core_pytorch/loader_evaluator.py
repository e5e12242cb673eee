"""Measures how fast a program would be if its loader took no time."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dali_core.errors import ArgumentTypeError, ArgumentValueError

_MODES = ("log", "replay")


class LoaderEvaluator:
    """A loader that measures itself, or that repeats batches which it keeps in memory.

    Train with the one, then with the other: if an epoch takes as long with batches from memory, the
    loader is not what limits the program.

    Parameters
    ----------
    dataloader : iterable
        The loader, such as a `torch.utils.data.DataLoader` or an iterator of this library. In mode
        ``"replay"`` it must have a length.
    mode : {"log", "replay"}
        ``"log"``: pass the batches of the loader on, and measure how long each takes.
        ``"replay"``: read an epoch now, keep the last batches, and repeat these, as many as the
        epoch has.
    num_cached_batches : int
        How many batches mode ``"replay"`` keeps; at least 1.
    metrics_file : str, optional
        Where `save_metrics` writes to.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If arguments do not fit, or there is no batch to repeat.
    """

    def __init__(
        self,
        dataloader: Any,
        mode: str = "log",
        num_cached_batches: int = 20,
        metrics_file: str | None = None,
    ) -> None:
        if mode not in _MODES:
            raise ArgumentValueError(
                f"LoaderEvaluator: mode must be 'log' or 'replay' (got {mode!r}). Use one of them."
            )
        if type(num_cached_batches) is not int or num_cached_batches < 1:
            raise ArgumentValueError(
                "LoaderEvaluator: num_cached_batches must be an integer of at least 1 (got "
                f"{num_cached_batches!r}). Pass such a number."
            )
        self.dataloader = dataloader
        self.mode = mode
        self.num_cached_batches = num_cached_batches
        self.metrics_file = metrics_file
        self.batch_times: list[float] = []
        self._started = self._ended = 0.0
        self.cached_batches: list[Any] = []
        if mode == "replay":
            self.cached_batches = list(deque(dataloader, maxlen=num_cached_batches))
            if not self.cached_batches:
                raise ArgumentValueError(
                    "LoaderEvaluator: dataloader must have a batch to repeat (got none). Pass one "
                    "with data."
                )

    @property
    def cache_ready(self) -> bool:
        """Whether there are batches to repeat."""
        return bool(self.cached_batches)

    def __len__(self) -> int:
        """Return the number of batches of an epoch."""
        return len(self.dataloader)

    def __iter__(self) -> Iterator[Any]:
        """Iterate over an epoch, and measure the time until each batch is there."""
        self.batch_times.clear()
        batches = self._repeated() if self.mode == "replay" else iter(self.dataloader)
        self._started = before = time.perf_counter()
        for batch in batches:
            self.batch_times.append(time.perf_counter() - before)
            yield batch
            before = self._ended = time.perf_counter()

    def get_metrics(self) -> dict[str, Any]:
        """Return times of the last epoch in seconds, as far as it went, and counts."""
        times = self.batch_times
        return {
            "mode": self.mode,
            "total_batches": len(times),
            "total_time": max(self._ended - self._started, 0.0),
            "avg_batch_time": sum(times) / len(times) if times else 0.0,
            "min_batch_time": min(times, default=0.0),
            "max_batch_time": max(times, default=0.0),
            "batch_times": [*times],
            "cached_batches": len(self.cached_batches),
            "cache_ready": self.cache_ready,
        }

    def save_metrics(self, filename: str | None = None) -> None:
        """Write `get_metrics` as JSON to a file: `filename`, or `metrics_file`.

        Raises
        ------
        ArgumentTypeError
            If neither was given.
        """
        path = filename or self.metrics_file
        if path is None:
            raise ArgumentTypeError(
                "LoaderEvaluator.save_metrics: filename must be given without metrics_file (got "
                "neither). Pass one."
            )
        Path(path).write_text(json.dumps(self.get_metrics(), indent=2), "utf-8")

    def print_summary(self) -> None:
        """Print what `get_metrics` returns."""
        metrics = self.get_metrics()
        print(f"Loader in mode {self.mode}: {metrics['total_batches']} batches")
        print(f"  batches kept:      {len(self.cached_batches)} of {self.num_cached_batches}")
        print(f"  time of the epoch: {metrics['total_time']:.3f} s")
        for name, key in (("mean", "avg"), ("least", "min"), ("most", "max")):
            print(f"  {name} per batch: {metrics[f'{key}_batch_time'] * 1e3:.3f} ms")

    def _repeated(self) -> Iterator[Any]:
        for number in range(len(self)):
            yield self.cached_batches[number % len(self.cached_batches)]
