"""Bad-sample limits and their error messages."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

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


class _Counts(NamedTuple):
    """Of the samples that were returned; the key is that of the last bad one."""

    epoch: int = -1
    num_given: int = 0
    num_bad: int = 0
    last_key: tuple[int, int] | None = None


class LogChange(NamedTuple):
    """What a batch adds to the record of bad samples."""

    new: list[BadSample]
    counts: _Counts


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
        self.samples_kept: deque[BadSample] = deque(maxlen=_MAX_KEPT)
        self.counts = _Counts()

    @property
    def samples(self) -> list[BadSample]:
        """The bad samples; of very many, the last ones."""
        return list(self.samples_kept)

    def changed(self, batch: GivenBatch) -> tuple[LogChange, BadSampleLimitError | None]:
        """Return what `take_over` adds for a batch, and an error if more are bad than may be."""
        new = []
        last_key = self.counts.last_key
        for sample, key in zip(batch.bad, batch.keys, strict=True):
            # Padding repeats the last sample of an epoch, which is bad only once.
            if key != last_key:
                new.append(sample)
            last_key = key
        epoch, num_given, num_bad, _ = self.counts
        if batch.epochs and batch.epochs[-1] != epoch:
            epoch, num_given, num_bad = batch.epochs[-1], 0, 0
        num_given += sum(each == epoch for each in batch.epochs)
        num_bad += sum(sample.epoch == epoch for sample in new)
        counts = _Counts(epoch, num_given, num_bad, last_key)
        error = None
        if new and self._limit is not None and num_bad > self._allowed(self._limit, num_given):
            error = self._error(self._limit, new, counts)
        return LogChange(new, counts), error

    def take_over(self, change: LogChange | None) -> None:
        """Take over what `changed` returned, in one piece: there are only assignments."""
        if change is not None:
            self.samples_kept += change.new
            self.counts = change.counts

    def state(self) -> dict[str, Any]:
        """Return what `restore` needs, as JSON has it; of very many samples, the last ones."""
        return {
            "samples": [asdict(sample) for sample in list(self.samples_kept)[-_MAX_IN_STATE:]],
            "epoch": self.counts.epoch,
            "num_given": self.counts.num_given,
            "num_bad": self.counts.num_bad,
            "last_key": list(self.counts.last_key) if self.counts.last_key is not None else None,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Resume from where `state` was called; an empty mapping means the beginning.

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
        self.samples_kept.clear()
        self.samples_kept += samples
        known = (key[0], key[1]) if last_key is not None else None
        self.counts = _Counts(state.get("epoch", -1), numbers[1], numbers[2], known)

    def _allowed(self, limit: float, num_given: int) -> float:
        return limit if isinstance(limit, int) else max(SHARE_FLOOR, limit * num_given)

    def _error(
        self, limit: float, new: Sequence[BadSample], counts: _Counts
    ) -> BadSampleLimitError:
        last = new[-1]
        rule = f"{limit}" if isinstance(limit, int) else f"{limit:.3g} of all samples"
        recent = [sample for sample in [*self.samples_kept, *new] if sample.epoch == counts.epoch]
        named = "; ".join(
            f"{sample.source or f'sample {sample.sample} of iteration {sample.iteration}'}: "
            f"{sample.message}"
            for sample in recent[-_NUM_NAMED:]
        )
        return BadSampleLimitError(
            f"at most {rule} may be bad in an epoch (got {counts.num_bad} among the "
            f"{counts.num_given} returned; the last: {named}). Fix the data, or raise "
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
