"""How bad samples are handled: how many are too many, and what errors say about them."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from dali_core.errors import BadSample, BadSampleLimitError

DEFAULT_LIMIT = 0.01
"""Share of an epoch's samples that may be bad when the user does not say how many."""

SHARE_FLOOR = 10
"""So many bad samples in an epoch are never more than a share allows: after the first few samples
of an epoch a share means little."""

_MAX_KEPT = 10_000
_MAX_IN_STATE = 1_000
_NUM_NAMED = 3


@dataclass(frozen=True)
class GivenBatch:
    """What the log has to know about a batch that is returned.

    Attributes
    ----------
    epochs : sequence of int
        Epoch of each sample, not decreasing.
    keys : sequence of tuple
        Epoch and sample id of each of `bad`. Padding repeats them.
    bad : sequence of BadSample
        The bad samples, in their order.
    """

    epochs: Sequence[int]
    keys: Sequence[tuple[int, int]]
    bad: Sequence[BadSample]


class BadSampleLog:
    """Collects bad samples in the order of batches, and says when an epoch has too many.

    Parameters
    ----------
    limit : int, float or None
        Most bad samples in an epoch: their number, or their share of the samples returned so far.
        None for no limit.
    """

    def __init__(self, limit: float | None) -> None:
        self._limit = limit
        self._samples: deque[BadSample] = deque(maxlen=_MAX_KEPT)
        self._epoch = -1
        self._num_given = 0
        self._num_bad = 0
        self._last_key: tuple[int, int] | None = None

    @property
    def samples(self) -> list[BadSample]:
        """The bad samples; of very many, the last ones."""
        return list(self._samples)

    def add(self, batch: GivenBatch) -> None:
        """Take note of a batch.

        Raises
        ------
        BadSampleLimitError
            If it has a bad sample, and with it more are bad than the limit allows.
        """
        new = []
        for sample, key in zip(batch.bad, batch.keys, strict=True):
            # Padding repeats the last sample of an epoch, which is bad only once.
            if key != self._last_key:
                new.append(sample)
            self._last_key = key
        self._samples += new
        if batch.epochs and batch.epochs[-1] != self._epoch:
            self._epoch = batch.epochs[-1]
            self._num_given = self._num_bad = 0
        self._num_given += sum(epoch == self._epoch for epoch in batch.epochs)
        self._num_bad += sum(sample.epoch == self._epoch for sample in new)
        if new and self._limit is not None and self._num_bad > self._allowed(self._limit):
            raise self._error(self._limit, new)

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as JSON has it; of very many samples, the last ones."""
        return {
            "samples": [asdict(sample) for sample in list(self._samples)[-_MAX_IN_STATE:]],
            "epoch": self._epoch,
            "num_given": self._num_given,
            "num_bad": self._num_bad,
            "last_key": list(self._last_key) if self._last_key is not None else None,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from where `state` was called; an empty mapping means the beginning.

        Raises
        ------
        TypeError, ValueError
            If it is nothing that `state` gives.
        """
        samples = [_restored(sample) for sample in state.get("samples", ())]
        numbers = [state.get(name, 0) for name in ("epoch", "num_given", "num_bad")]
        last_key = state.get("last_key")
        key = tuple(last_key) if last_key is not None else (0, 0)
        if len(key) != 2 or not all(type(number) is int for number in (*numbers, *key)):
            raise TypeError("epoch, num_given, num_bad and both of last_key are ints")
        self._samples.clear()
        self._samples += samples
        self._epoch = state.get("epoch", -1)
        self._num_given, self._num_bad = numbers[1:]
        self._last_key = key if last_key is not None else None

    def _allowed(self, limit: float) -> float:
        return limit if isinstance(limit, int) else max(SHARE_FLOOR, limit * self._num_given)

    def _error(self, limit: float, new: Sequence[BadSample]) -> BadSampleLimitError:
        last = new[-1]
        rule = f"{limit}" if isinstance(limit, int) else f"{limit:.3g} of all samples"
        recent = [sample for sample in self._samples if sample.epoch == self._epoch]
        named = "; ".join(
            f"{sample.source or f'sample {sample.sample} of iteration {sample.iteration}'}: "
            f"{sample.message}"
            for sample in recent[-_NUM_NAMED:]
        )
        return BadSampleLimitError(
            f"at most {rule} may be bad in an epoch (got {self._num_bad} among the "
            f"{self._num_given} returned; the last: {named}). Mend the data, or raise "
            "max_bad_samples of the Pipeline.",
            operator=last.operator,
            location=last.location,
            epoch=last.epoch,
            iteration=last.iteration,
            sample=last.sample,
            source=last.source,
            failures=new,
        )


def counted_anew(state: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a log that knows the same bad samples, and has none in this epoch."""
    return {**state, "epoch": -1, "last_key": None}


def name_others(failures: Sequence[BadSample]) -> str:
    """Return which samples failed besides the first one."""
    others = failures[1:]
    if not others:
        return ""
    named = "; ".join(map(str, others[:_NUM_NAMED]))
    rest = len(others) - _NUM_NAMED
    return (
        f" ({len(others)} more sample{'s' if len(others) > 1 else ''} of this batch failed: {named}"
        f"{f'; and {rest} more' if rest > 0 else ''}.)"
    )


def _restored(entry: Mapping[str, Any]) -> BadSample:
    sample = BadSample(**entry)
    numbers = (sample.epoch, sample.iteration, sample.sample)
    texts = (sample.operator, sample.location, sample.message, sample.source or "")
    if not all(type(number) is int for number in numbers) or not all(
        isinstance(text, str) for text in texts
    ):
        raise TypeError("epoch, iteration and sample are ints, the other entries are texts")
    return sample
