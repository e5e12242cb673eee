"""Fetches the samples of a batch: here, or in a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dali_core._readers.protocol import Fetcher
from dali_core._runtime.tensor import TensorCPU
from dali_core._runtime.workers import Keep, Produced
from dali_core.errors import ArgumentTypeError


class Fetching:
    """Fetches samples by their indices.

    Parameters
    ----------
    fetcher : Fetcher
        Fetches them.
    num_outputs : int or None
        Of how many arrays its samples are; None if they are one, alone or in a tuple.
    """

    def __init__(self, fetcher: Fetcher, num_outputs: int | None) -> None:
        self.fetcher = fetcher
        self._num_outputs = num_outputs

    def __call__(self, keep: Keep, indices: Sequence[int], skips_errors: bool) -> Produced:
        """Fetch samples.

        Parameters
        ----------
        keep : callable
            Keeps a tensor for as long as the result exists.
        indices : sequence of int
            Which samples.
        skips_errors : bool
            Whether to fetch the others after one that fails.
        """
        many = self._many(indices)
        columns: list[list[Any]] = [[] for _ in range(self._num_outputs or 1)]
        failures: dict[int, BaseException] = {}
        for place, index in enumerate(indices):
            try:
                sample = self.fetcher.fetch(index) if many is None else many[place]
                row: list[Any] = [keep(TensorCPU(part)) for part in self._parts(sample)]
            except BaseException as error:
                failures[place] = error
                if not skips_errors or not isinstance(error, Exception):
                    break
                row = [None] * len(columns)
            for column, kept in zip(columns, row, strict=True):
                column.append(kept)
        return Produced(columns, failures)

    def _many(self, indices: Sequence[int]) -> Sequence[Any] | None:
        """Fetch all samples at once; return None if they have to be fetched one by one.

        That also finds out which of them cannot be fetched.
        """
        try:
            samples = self.fetcher.fetch_many(indices)
        except Exception:
            return None
        return None if samples is None or len(samples) != len(indices) else samples

    def _parts(self, sample: Any) -> Sequence[Any]:
        if isinstance(sample, Mapping):
            raise ArgumentTypeError(
                "the source must return an array, or a tuple of arrays, for a sample (got a "
                f"{type(sample).__name__} with {', '.join(map(repr, list(sample)[:5]))}). Return "
                "its values as a tuple, or read a Hugging Face data set or an Arrow table by "
                "dali_core.arrow.ArrowSource(data, columns=[...])."
            )
        if self._num_outputs is None:
            # Sources of columns, and data sets of PyTorch, have tuples of a single one, too.
            return sample if isinstance(sample, tuple) and len(sample) == 1 else (sample,)
        is_row = isinstance(sample, (tuple, list))
        if is_row and len(sample) == self._num_outputs:
            return tuple(sample)
        got = f"a {type(sample).__name__}" + (f" of {len(sample)}" if is_row else "")
        raise ArgumentTypeError(
            f"the source must return a tuple of {self._num_outputs} arrays for a sample (got "
            f"{got}). Change num_outputs or the source."
        )
