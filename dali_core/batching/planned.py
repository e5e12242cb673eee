"""Batches of pipelines by the lengths of samples: the bins of an epoch, dealt out to processes.

A batch is found from the numbers of its epoch and its step alone. Numbers of batches and positions
are therefore not sums over what came before: step s of epoch e has the position
``e * 2**32 + s``, and numbers that continue past the last step of an epoch are steps of the next.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from numpy.typing import ArrayLike

from dali_core.batching.epoch_batches import DEFAULT_WINDOW, EpochBatches, EpochOrder
from dali_core.batching.epoch_plan import EpochPlan, Run, ceil_div
from dali_core.batching.fixed import MAX_SAMPLES
from dali_core.batching.lengths import Lengths
from dali_core.batching.plan import OF_SOURCES, Batching, BatchPlan
from dali_core.batching.planned_step import PlannedStep
from dali_core.batching.sample_lists import SampleLists
from dali_core.batching.windows import Integers, WindowRule, check_count
from dali_core.errors import ArgumentConflictError, ArgumentValueError, PipelineStateError

STEPS = 1 << 32
"""Positions that an epoch takes, which is more than it may have steps."""
_EPOCHS_KEPT = 3
"""Prefetching needs the next one, and a restart the one before."""
_MOST_EMPTY = 1000


@dataclass(eq=False)
class Planned(Batching):
    """Batches that a rule makes of an epoch's samples by their lengths, for `Pipeline`.

    `Budget.windows`, `Bucket.windows` and `Pack.windows` make it.

    Parameters
    ----------
    rule : Budget, Bucket or Pack
        The rule.
    lengths : array of int, tuple or dict of arrays, optional
        Length of each sample of the reader, in each kind that the rule knows; by default those
        that the reader declares.
    window : int
        Samples that are divided together; see `Budget.plan`.
    repack : {"each_epoch", "once"}
        Whether samples share a batch with others in each epoch; see `Budget.plan`.
    rows : int
        Bins in a batch: rows of packed samples.
    list_sizes : array of int, optional
        What is planned are lists of consecutive samples of the reader, with so many samples each.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, ArgumentConflictError
        If a parameter is none of these.
    """

    by_lengths: ClassVar[bool] = True
    rule: WindowRule
    lengths: Any = None
    window: int = DEFAULT_WINDOW
    repack: Literal["each_epoch", "once"] = "each_epoch"
    rows: int = 1
    list_sizes: Any = None
    _data: EpochBatches | None = field(default=None, repr=False)
    _epochs: OrderedDict[int, EpochBatches] = field(default_factory=OrderedDict, repr=False)
    _num_steps: dict[tuple[int, int, bool], int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.lengths, Mapping):
            self.lengths = tuple(self.lengths.values())
        if self.lengths is not None and not isinstance(self.lengths, Lengths):
            self.lengths = Lengths(self.lengths)
        if self.list_sizes is not None and not isinstance(self.list_sizes, SampleLists):
            self.list_sizes = SampleLists(self.list_sizes)
        check_count(self.rows, "rows")
        check_count(self.window, "window")
        if self.rule.has_parts:
            raise ArgumentConflictError(
                f"batching: must not split samples in a pipeline, which reads whole ones (got "
                f"{self.rule!r}). Use another algorithm or policy, or the plan by itself."
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Planned) and self.description() == other.description()

    def __hash__(self) -> int:
        return hash((self.rule, self.window, self.repack, self.rows))

    @property
    def largest(self) -> int:
        """Most samples that a batch may have, as far as the parameters say so."""
        counts = [self.rule.most_samples, self.window]
        if self._data is not None:
            counts.append(max(self._data.num_samples, 1))
        most = min(counts) * self.rows
        if self.lists is not None:
            most = max(1, min(most * self.lists.longest, self.lists.num_samples))
        return min(most, MAX_SAMPLES)

    @property
    def lists(self) -> SampleLists | None:
        """The lists of samples that are planned; None if samples are."""
        found: SampleLists | None = self.list_sizes
        return found

    def of_data(self, lengths: ArrayLike | Lengths, order: EpochOrder, *, shuffle: bool) -> Planned:
        """Return these batches of the samples of a reader.

        Parameters
        ----------
        lengths : array of int
            What the reader declares, or was given.
        order : EpochOrder
            The order of its epochs.
        shuffle : bool
            Whether that is random, so that batches are shuffled as well.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError
            If the lengths are not as the rule needs them, or the first samples do not fit.
        """
        found = lengths if isinstance(lengths, Lengths) else Lengths(lengths)
        data = EpochBatches(
            self.rule,
            found,
            seed=-1,
            epoch=0,
            shuffle=shuffle,
            window=self.window,
            repack=self.repack,
            order=order,
        )
        made = Planned(
            self.rule, found, self.window, self.repack, self.rows, self.list_sizes, _data=data
        )
        made._epochs[0] = data
        return made

    def plan(self, epochs: EpochPlan = OF_SOURCES) -> PlannedPlan:
        """Return the plan of a shard's batches."""
        return PlannedPlan(self, epochs)

    def bins(self, epoch: int) -> EpochBatches:
        """Return the bins of an epoch, of all processes."""
        found = self._epochs.get(epoch)
        if found is None:
            if self._data is None:
                raise PipelineStateError(
                    "batching: must be that of a pipeline that is built (it has no samples yet)."
                )
            found = self._epochs[epoch] = self._data.of_epoch(epoch)
            while len(self._epochs) > _EPOCHS_KEPT:
                self._epochs.popitem(last=False)
        return found

    def description(self) -> dict[str, Any]:
        """Return what must be equal where a state is used again."""
        known = isinstance(self.lengths, Lengths)
        described = {
            "rule": self.rule.description(),
            "lengths": self.lengths.fingerprint() if known else None,
            "window": self.window,
            "repack": self.repack,
            "rows": self.rows,
        }
        if self.lists is not None:
            described["list_sizes"] = self.lists.fingerprint()
        return described

    def positions(self, epoch: int, number: int) -> Integers:
        """Return where a reader has the samples of a bin in an epoch.

        Of lists they are the numbers of the samples: readers then follow the data.
        """
        bins = self.bins(epoch)
        if self.lists is None:
            return bins.positions(number)
        return self.lists.samples(bins.parts(number)[:, 0])

    def num_positions(self, epoch: int, number: int) -> int:
        """Return the number of samples of a bin."""
        bins = self.bins(epoch)
        if self.lists is None:
            return len(bins.positions(number))
        return int(self.lists.sizes(bins.parts(number)[:, 0]).sum())

    def state(self) -> dict[str, Any]:
        """Return the entries of a saved state by which it says how samples were divided."""
        return {"batch_size": self.largest, "batching": self.description()}

    def remember(self, window: Sequence[int], position: int) -> bool:
        """Take over what `PlannedPlan.known_window` returned for a position."""
        epoch, number, start = window
        return epoch == position // STEPS and self.bins(epoch).remember(number, start)

    def known_steps(self, epochs: EpochPlan, epoch: int) -> int:
        """Return the number of steps of an epoch: all of its windows are planned for it, once."""
        key = (epoch, epochs.num_shards, epochs.pad_last_batch)
        found = self._num_steps.get(key)
        if found is None:
            together = epochs.num_shards * self.rows
            count = len(self.bins(epoch))
            found = ceil_div(count, together) if epochs.pad_last_batch else count // together
            self._num_steps[key] = found
        return found


class PlannedPlan(BatchPlan):
    """The batches of one process: step t of process r of R has the bins from ``t * R + r`` on.

    All processes have as many steps. With `pad_last_batch` of the reader, a process without a bin
    at the last step has an earlier one there, of weight 0; otherwise no process has that step.

    Parameters
    ----------
    batching : Planned
        The bins.
    epochs : EpochPlan
        The shards: their number is that of the processes.
    shift : int
        What is added to the number of a batch to get its position, or one past an epoch's end.
    """

    batching: Planned

    def __init__(self, batching: Planned, epochs: EpochPlan, shift: int = 0) -> None:
        super().__init__(batching, epochs)
        self._shift = shift
        self._last_begin = (0, 0)  # of an epoch that was passed, and its number

    def starting(self, batch: int, position: int) -> PlannedPlan:
        """Return the same plan with the batch at `position` numbered `batch`."""
        return PlannedPlan(self.batching, self.epochs, position - batch)

    def place(self, batch: int) -> tuple[int, int]:
        """Return the epoch of a batch, and its step there."""
        label = batch + self._shift
        begin, epoch = self._last_begin
        if label < begin or label // STEPS > begin // STEPS:
            begin, epoch = label // STEPS * STEPS, label // STEPS
        num_empty = 0
        while not self.has_step(epoch, label - begin):
            num_steps = self.num_steps(epoch)
            num_empty = 0 if num_steps else num_empty + 1
            if num_empty == _MOST_EMPTY:
                raise ArgumentValueError(
                    f"batching: an epoch must have a batch for each of {self.epochs.num_shards} "
                    f"processes (got {len(self.batching.bins(epoch))} bins). Use fewer "
                    "processes, or set pad_last_batch of the reader."
                )
            begin += num_steps
            epoch += 1
            self._last_begin = begin, epoch
        return epoch, label - begin

    def size(self, batch: int) -> int:
        """Return the number of samples in a batch."""
        return self.step_size(*self.place(batch))

    def position(self, batch: int) -> int:
        """Return the position of a batch."""
        label = batch + self._shift
        if label % STEPS == 0:
            return label
        epoch, step = self.place(batch)
        return epoch * STEPS + step

    def find(self, position: int) -> tuple[int, int]:
        """Return the batch of a position, and 0: every position is that of a batch."""
        return position - self._shift, 0

    def count(self, start: int, stop: int) -> int:
        """Return how many numbers of samples are set aside for the batches between positions."""
        return (stop - start) * self.batching.largest

    def samples(self, start: int, count: int) -> list[Run]:
        """List at most so many samples from a position on, in their order."""
        runs: list[Run] = []
        batch = start - self._shift
        while len(runs) < count:
            more = self.runs(batch)
            batch += 1
            if not more:
                break
            runs += more
        return runs[:count]

    def runs(self, batch: int) -> list[Run]:
        """List the samples of a batch, in their order."""
        epoch, step = self.place(batch)
        return [
            Run(epoch, position, 1, 1)
            for number in self.step_bins(epoch, step)
            for position in self.batching.positions(epoch, number).tolist()
        ]

    def row_lengths(self, batch: int) -> list[int]:
        """Return the number of samples in each row of a batch: in each of its bins."""
        epoch, step = self.place(batch)
        numbers = self.step_bins(epoch, step)
        return [self.batching.num_positions(epoch, number) for number in numbers]

    def extents(self, batch: int) -> list[int]:
        """Return the largest lengths that samples of a batch may have: the edges of a bucket."""
        epoch, step = self.place(batch)
        bins = self.batching.bins(epoch)
        found = [bins.extents(number) for number in self.step_bins(epoch, step)]
        return [max(kinds) for kinds in zip(*found, strict=True)]

    def has_step(self, epoch: int, step: int) -> bool:
        """Return whether an epoch has a step, as a rule without counting all of them."""
        if not self.epochs.pad_last_batch:
            return self.has_full_step(epoch, step)
        first = step * self.epochs.num_shards * self.batching.rows
        return self.batching.bins(epoch).has(first)

    def has_full_step(self, epoch: int, step: int) -> bool:
        """Return whether every process has all bins of a step."""
        together = self.epochs.num_shards * self.batching.rows
        return self.batching.bins(epoch).has((step + 1) * together - 1)

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch, which is the same for all processes."""
        return self.batching.known_steps(self.epochs, epoch)

    def num_full_steps(self, epoch: int) -> int:
        """Return the number of steps at which every process has all of its bins."""
        together = self.epochs.num_shards * self.batching.rows
        return len(self.batching.bins(epoch)) // together

    def weight(self, epoch: int, step: int) -> int:
        """Return 1, or 0 for a batch that only takes the place of a missing one."""
        return int(self.batching.bins(epoch).has(self._first_bin(step)))

    def step_bins(self, epoch: int, step: int) -> list[int]:
        """Return the numbers of the bins of a step."""
        bins, first, rows = self.batching.bins(epoch), self._first_bin(step), self.batching.rows
        numbers = [number for number in range(first, first + rows) if bins.has(number)]
        return numbers or [(first + row) % len(bins) for row in range(rows)]

    def step_size(self, epoch: int, step: int) -> int:
        """Return the number of samples of a step."""
        numbers = self.step_bins(epoch, step)
        return sum(self.batching.num_positions(epoch, number) for number in numbers)

    def step_tokens(self, epoch: int, step: int, rank: int | None = None) -> int:
        """Return the sum of the lengths of a step, by default of the process itself.

        A batch of weight 0 has none. Every process can compute that of all others.
        """
        bins, rows = self.batching.bins(epoch), self.batching.rows
        own = self.epochs.shard_id if rank is None else rank
        first = (step * self.epochs.num_shards + own) * rows
        return sum(bins.tokens(one) for one in range(first, first + rows) if bins.has(one))

    def step(self, epoch: int, step: int) -> PlannedStep:
        """Describe a step."""
        ranks = range(self.epochs.num_shards)
        return PlannedStep(
            epoch,
            step,
            self.step_size(epoch, step),
            self.step_tokens(epoch, step),
            sum(self.step_tokens(epoch, step, rank) for rank in ranks),
            self.weight(epoch, step),
        )

    def locate(self, position: int) -> tuple[int, int]:
        """Return the epoch of a position, and the step there."""
        return divmod(position, STEPS)

    def epoch_start(self, epoch: int) -> int:
        """Return the position of the first batch of an epoch."""
        return epoch * STEPS

    def num_begun(self, count: int) -> int:
        """Return the steps of the first epoch: batches do not follow from numbers of samples."""
        return self.num_steps(0)

    def num_filled(self, count: int) -> int:
        """Return the full steps of the first epoch."""
        return self.num_full_steps(0)

    def resumed(self, other: BatchPlan, position: int) -> int | None:
        """Return the position that corresponds to one under another plan of the same data.

        The batches of all processes at a step are the same ones for any number of processes, as
        long as what was given is a whole number of steps.
        """
        epoch, step = self.locate(position)
        together = step * other.epochs.num_shards
        step, rest = divmod(together, self.epochs.num_shards)
        return None if rest else self.epoch_start(epoch) + step

    def is_possible(self, position: int) -> bool:
        """Return whether there is a batch before a position, or an epoch begins there."""
        epoch, step = self.locate(position)
        return step == 0 or self.has_step(epoch, step - 1)

    def known_window(self, position: int) -> list[int]:
        """Return the epoch of a position and a window there that is known, for a state."""
        epoch, step = self.locate(position)
        first = step * self.epochs.num_shards * self.batching.rows
        return [epoch, *self.batching.bins(epoch).known_window(first)]

    def describe(self, num_epochs: int | None = None) -> str:
        """Return a table of the epochs: steps, filling, padding, tokens."""
        data, batching = self.epochs, self.batching
        rows = f" in {batching.rows} rows" if batching.rows > 1 else ""
        lines = [
            f"{data.num_samples} samples, process {data.shard_id} of {data.num_shards}, "
            f"{batching.rule.description()}{rows}, windows of {batching.window}"
        ]
        for epoch in range(1 if num_epochs is None else num_epochs):
            report = batching.bins(epoch).report(data.num_shards, batching.rows)
            rest = report.num_bins - report.num_steps * data.num_shards * batching.rows
            least, median, most = report.step_tokens
            lines.append(
                f"epoch {epoch}: {self.num_steps(epoch)} steps, fill {report.fill:.4f}, padding "
                f"{report.waste:.4f}, tokens of a step {least} to {most} (median {median}), "
                f"samples of a bin {report.sizes[0]} to {report.sizes[2]}, imbalance "
                f"{report.imbalance:.3f}, {report.num_shapes} shapes to compile for, "
                f"{report.num_dropped} samples too long, {rest} bins "
                f"{'in a step that is padded' if data.pad_last_batch else 'left out at the end'}"
            )
        return "\n".join(lines)

    def _first_bin(self, step: int) -> int:
        return (step * self.epochs.num_shards + self.epochs.shard_id) * self.batching.rows
