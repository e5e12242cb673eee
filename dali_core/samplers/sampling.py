"""The base class of samplers, and all samplers that do not depend on blocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core._runtime.random import mix_seed, permutation
from dali_core.errors import ArgumentTypeError, ArgumentValueError, PipelineStateError
from dali_core.samplers.checks import check_range, check_weights, checked, checked_length


@dataclass(frozen=True)
class DataSet:
    """What samplers are told about a reader.

    Attributes
    ----------
    num_samples : int
        Samples in the data set.
    seed : int
        Seed of the order, an unsigned integer of 64 bits; the same in all shards.
    is_shuffled : bool
        Whether the reader has ``random_shuffle=True``.
    labels : sequence of int or None
        Label of each sample, if the reader knows them before it reads the samples.
    blocks : sequence of int or None
        Number of samples in each part of the data set that is read as a whole, such as a row group
        of a file of columns, if there are such parts.
    """

    num_samples: int
    seed: int = 0
    is_shuffled: bool = False
    labels: Sequence[int] | None = None
    blocks: Sequence[int] | None = None

    def shuffle(self, indices: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """Return indices in the random order of an epoch, if the reader shuffles."""
        if not self.is_shuffled:
            return indices
        order: NDArray[np.int64] = permutation(len(indices), self.seed, epoch)
        return indices[order]

    def draw(self, epoch: int, count: int) -> NDArray[np.float64]:
        """Return random numbers of an epoch, uniform from 0 to below 1."""
        # The raw numbers of a bit generator are the same in all versions of NumPy.
        key = np.array([mix_seed(self.seed, _DRAW_SALT), epoch], np.uint64)
        raw: NDArray[np.uint64] = np.random.Philox(key=key).random_raw(count)
        numbers: NDArray[np.float64] = (raw >> np.uint64(11)) * 2.0**-53
        return numbers


class Sampler(ABC):
    """The order of each epoch of a data set."""

    @abstractmethod
    def length(self, data: DataSet) -> int:
        """Return the number of samples in an epoch, which is the same in all epochs.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If the sampler does not fit the data set.
        """

    @abstractmethod
    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the indices of an epoch's samples in the data set, in their order.

        It must depend on nothing but `data` and `epoch`: it is called in every process, again for
        epochs that were sampled before, and not for epochs that are skipped.
        """


class Subset(Sampler):
    """Some samples, in their order or shuffled; those listed twice are read twice.

    Parameters
    ----------
    indices : array of int, shape (n,)
        Which samples. With ``random_shuffle=True`` each epoch has them in another order.
    """

    def __init__(self, indices: ArrayLike) -> None:
        self._indices = checked(indices, "indices").copy()

    def length(self, data: DataSet) -> int:
        """Return the number of indices."""
        check_range(self._indices, data.num_samples)
        return len(self._indices)

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the indices, shuffled if the reader shuffles."""
        return data.shuffle(self._indices, epoch)


class Weighted(Sampler):
    """Samples drawn at random, each with a probability in proportion to its weight.

    Parameters
    ----------
    weights : array of float, shape (number of samples,)
        Finite numbers from 0 on. Samples with a weight of 0 are never drawn.
    replacement : bool
        Whether a sample may be drawn several times in an epoch.
    length : int, optional
        Samples in an epoch. By default, as many as there are weights, or, without replacement,
        as many as there are positive weights.
    """

    def __init__(
        self, weights: ArrayLike, replacement: bool = True, length: int | None = None
    ) -> None:
        self._weights = np.array(weights, np.float64)
        self._replacement = replacement
        check_weights(self._weights)
        num_positive = int(np.count_nonzero(self._weights))
        most = None if replacement else num_positive
        self._length = checked_length(
            length, len(self._weights) if replacement else num_positive, most
        )
        self._cumulative = np.cumsum(self._weights)

    def length(self, data: DataSet) -> int:
        """Return the number of samples that are drawn."""
        if len(self._weights) != data.num_samples:
            raise ArgumentValueError(
                f"sampler: weights must have an entry for each of the {data.num_samples} samples "
                f"(got {len(self._weights)}). Pass as many."
            )
        return self._length

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Draw the samples of an epoch."""
        if self._replacement:
            drawn = data.draw(epoch, self._length) * self._cumulative[-1]
            found = np.searchsorted(self._cumulative, drawn, side="right")
            # Rounding may lead to the very end, behind the last sample that has a weight.
            last = np.flatnonzero(self._weights)[-1]
            indices: NDArray[np.int64] = np.minimum(found, last)
            return indices
        # The smallest of exponential variates, divided by the weights (Efraimidis and Spirakis,
        # "Weighted random sampling with a reservoir", Information Processing Letters 97, 2006).
        with np.errstate(divide="ignore"):
            keys = -_log(1.0 - data.draw(epoch, len(self._weights))) / self._weights
        keys[self._weights == 0] = np.inf
        order: NDArray[np.int64] = np.argsort(keys, kind="stable")[: self._length]
        return order


class ClassBalanced(Sampler):
    """Samples drawn at random with replacement, so that all classes are equally frequent.

    Parameters
    ----------
    labels : array of int, shape (number of samples,), optional
        Class of each sample. By default, the reader's labels; `readers.file` and readers of videos
        have them.
    length : int, optional
        Samples in an epoch; by default as many as in the data set.
    """

    def __init__(self, labels: ArrayLike | None = None, length: int | None = None) -> None:
        self._labels = None if labels is None else checked(labels, "labels")
        self._length = length if length is None else checked_length(length, 1)
        self._made: tuple[DataSet, Weighted] | None = None

    def length(self, data: DataSet) -> int:
        """Return the number of samples that are drawn."""
        return self._weighted(data).length(data)

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Draw the samples of an epoch."""
        return self._weighted(data).indices(data, epoch)

    def _weighted(self, data: DataSet) -> Weighted:
        if self._made is not None and self._made[0] is data:
            return self._made[1]
        labels = data.labels if self._labels is None else self._labels
        if labels is None:
            raise ArgumentTypeError(
                "sampler: ClassBalanced must know the labels, and this reader learns them only "
                "when it reads samples (got no labels). Pass labels=..., one for each sample."
            )
        if len(labels) != data.num_samples:
            raise ArgumentValueError(
                f"sampler: labels must have an entry for each of the {data.num_samples} samples "
                f"(got {len(labels)}). Pass as many."
            )
        _, number, count = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
        weighted = Weighted(1.0 / count[number.reshape(-1)], length=self._length)
        self._made = data, weighted
        return weighted


class Repeated(Sampler):
    """Each sample several times in a row, with different random numbers (repeated augmentation).

    With `interleaved_shards` the repetitions of a sample are in the same global batch, on different
    shards where there are several. ``random_shuffle=True`` shuffles the samples, not repetitions.

    Parameters
    ----------
    times : int
        How often each sample comes.
    sampler : Sampler or array of int, optional
        Which samples, and in which order; by default all.
    length : int, optional
        Samples in an epoch, counted with repetitions; the others are left out, which are others in
        each epoch if the reader shuffles. By default nothing is left out.
    """

    def __init__(self, times: int, sampler: Any = None, length: int | None = None) -> None:
        self._times = checked_length(times, 1, name="times")
        self._sampler = None if sampler is None else as_sampler(sampler)
        self._length = length if length is None else checked_length(length, 1)

    def length(self, data: DataSet) -> int:
        """Return the number of samples, counted with their repetitions."""
        once = data.num_samples if self._sampler is None else self._sampler.length(data)
        most = once * self._times
        return most if self._length is None else checked_length(self._length, most, most)

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the order of an epoch, with repetitions."""
        if self._sampler is None:
            once = data.shuffle(np.arange(data.num_samples, dtype=np.int64), epoch)
        else:
            once = self._sampler.indices(data, epoch)
        length = self.length(data)
        return np.repeat(once[: -(-length // self._times)], self._times)[:length]


class Curriculum(Sampler):
    """Samples that a function chooses for each epoch.

    Parameters
    ----------
    function : callable
        Called with the number of an epoch; returns an array of indices, shape (n,). It must return
        the same for the same epoch, in every process.
    length : int, optional
        Samples in an epoch. The chosen samples are shuffled, and repeated in another random order,
        until there are so many; of more than that, the first are read. By default the function
        must return equally many indices for all epochs.
    """

    def __init__(self, function: Callable[[int], ArrayLike], length: int | None = None) -> None:
        if not callable(function):
            raise ArgumentTypeError(
                f"sampler: function must be callable (got {function!r:.100}). Pass a function that "
                "takes the number of an epoch."
            )
        self._function = function
        self._length = length if length is None else checked_length(length, 1)

    def length(self, data: DataSet) -> int:
        """Return the number of samples in an epoch."""
        return len(self._chosen(data, 0)) if self._length is None else self._length

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Return the samples that the function chooses for an epoch."""
        chosen = self._chosen(data, epoch)
        if self._length is None:
            return data.shuffle(chosen, epoch)
        passes = [
            chosen[permutation(len(chosen), mix_seed(data.seed, _PASS_SALT + number), epoch)]
            for number in range(-(-self._length // len(chosen)))
        ]
        return np.concatenate(passes)[: self._length]

    def _chosen(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        chosen = checked(self._function(epoch), f"what the function returns for epoch {epoch}")
        check_range(chosen, data.num_samples)
        return chosen


class Iterated(Sampler):
    """A sampler as PyTorch has them: iterated once for each epoch.

    Parameters
    ----------
    sampler : object
        Has ``__iter__``, which gives integers, ``__len__`` and perhaps ``set_epoch``. Without
        ``set_epoch`` it is iterated for all epochs one after the other, from the first one on.
    """

    def __init__(self, sampler: Any) -> None:
        self._sampler = sampler
        self._set_epoch: Callable[[int], object] | None = getattr(sampler, "set_epoch", None)
        self._given: dict[int, NDArray[np.int64]] = {}  # the last ones, if it cannot go back
        self._next_epoch = 0
        if getattr(sampler, "num_replicas", 1) != 1:
            raise ArgumentValueError(
                "sampler: must give the order of the whole data set, which the reader cuts into "
                f"shards (got a {type(sampler).__name__} with num_replicas="
                f"{sampler.num_replicas}). Pass num_shards and shard_id to the reader, and a "
                "sampler with num_replicas=1."
            )

    def length(self, data: DataSet) -> int:
        """Return what the sampler says its length is."""
        return checked_length(len(self._sampler), 1, name="the length")

    def indices(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        """Iterate over the sampler."""
        if self._set_epoch is not None:
            self._set_epoch(epoch)
            return data.shuffle(self._iterate(data, epoch), epoch)
        if epoch < self._next_epoch and epoch not in self._given:
            raise PipelineStateError(
                f"sampler: must have set_epoch to go back to epoch {epoch} (a "
                f"{type(self._sampler).__name__} was iterated {self._next_epoch} times). Add "
                "set_epoch, or make a new pipeline with a new sampler."
            )
        while self._next_epoch <= epoch:
            self._given[self._next_epoch] = self._iterate(data, self._next_epoch)
            self._given.pop(self._next_epoch - _EPOCHS_KEPT, None)
            self._next_epoch += 1
        return data.shuffle(self._given[epoch], epoch)

    def _iterate(self, data: DataSet, epoch: int) -> NDArray[np.int64]:
        length = self.length(data)
        given: list[int] = []
        for index in self._sampler:
            if not hasattr(index, "__index__"):
                raise ArgumentTypeError(
                    f"sampler: must give integers (a {type(self._sampler).__name__} gave "
                    f"{index!r:.80} at place {len(given)} of epoch {epoch}). Pass a sampler of "
                    "single indices; the pipeline makes batches."
                )
            if len(given) == length:
                raise _wrong_length(epoch, length, f"more than {length}")
            given.append(index.__index__())
        return np.array(given, np.int64)


def as_sampler(value: Any) -> Sampler:
    """Return what a user passed as `sampler` as a `Sampler`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is none.
    """
    if isinstance(value, Sampler):
        return value
    if isinstance(value, (list, tuple, range)) or hasattr(value, "__array__"):
        return Subset(value)
    if hasattr(value, "__iter__") and hasattr(value, "__len__"):
        return Iterated(value)
    raise ArgumentTypeError(
        "sampler must be an array of indices, an object with __iter__ and __len__, or one of "
        f"dali_core.samplers (got {value!r:.100}). Pass one of these."
    )


def order_of(sampler: Sampler, data: DataSet, epoch: int, length: int) -> NDArray[np.int64]:
    """Return the order of an epoch, which is checked.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it has another length than the sampler said, or indices that no sample has, or if the
        sampler raises an exception.
    """
    given = _called(f"an order for epoch {epoch}", sampler.indices, data, epoch)
    order = checked(given, f"the order of epoch {epoch}")
    if len(order) != length:
        raise _wrong_length(epoch, length, f"{len(order)}")
    check_range(order, data.num_samples)
    return order


def length_of(sampler: Sampler, data: DataSet) -> int:
    """Return the number of samples in an epoch, which is checked; raises as `order_of` does."""
    return checked_length(_called("its length", sampler.length, data), 1, name="the length")


def _called(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except (ArgumentTypeError, ArgumentValueError, PipelineStateError):
        raise
    except Exception as error:
        raise ArgumentValueError(
            f"sampler: must give {what} (it raised {error!r:.200}). Fix it."
        ) from error


def _wrong_length(epoch: int, length: int, got: str) -> ArgumentValueError:
    return ArgumentValueError(
        f"sampler: must give {length} indices for each epoch, as many as its length says (got "
        f"{got} for epoch {epoch}). Make both agree."
    )


def _log(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms of positive numbers, with the same bits on all machines.

    That of NumPy depends on the processor. This is 2 artanh((m - 1) / (m + 1)) + e log 2.
    """
    mantissas, exponents = np.frexp(numbers)
    is_small = mantissas < 0.7071067811865476
    mantissas, exponents = np.where(is_small, 2.0 * mantissas, mantissas), exponents - is_small
    ratio = (mantissas - 1.0) / (mantissas + 1.0)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for power in range(35, 0, -2):
        total = total * square + 1.0 / power
    found: NDArray[np.float64] = 2.0 * ratio * total + exponents * 0.6931471805599453
    return found


_DRAW_SALT = 0x64726177
_PASS_SALT = 0x70617373
_EPOCHS_KEPT = 8
