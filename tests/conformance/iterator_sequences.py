"""Random programs that drive iterators, run by this library and by NVIDIA DALI.

``python -m tests.conformance.iterator_sequences 1500`` runs so many and prints those that differ.
"""

from __future__ import annotations

import functools
import logging
import random
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy

POLICIES = ("FILL", "DROP", "PARTIAL")
MANY = 40  # compared batches of an epoch, since an epoch may be infinite


@dataclass(frozen=True)
class Reader:
    """A pipeline that reads files, whose labels are their numbers."""

    num_samples: int
    num_shards: int
    shard: int
    stick: bool
    pad: bool
    after_epoch: bool = False

    can_resume = True

    def add(self, library: Library, files: list[str], first: int) -> Any:
        """Add the reader to the current pipeline."""
        _, labels = library.fn.readers.file(
            files=files[: self.num_samples],
            labels=list(range(first, first + self.num_samples)),
            num_shards=self.num_shards,
            shard_id=self.shard,
            stick_to_shard=self.stick,
            pad_last_batch=self.pad,
            shuffle_after_epoch=self.after_epoch,
            name="reader",
        )
        # Random orders differ; how many samples there are does not.
        return labels * 0 + first if self.after_epoch else labels


@dataclass(frozen=True)
class Source:
    """A pipeline that is fed from Python, with batches of given lengths."""

    form: str
    lengths: tuple[int, ...]
    cycle: str | bool | None

    @property
    def can_resume(self) -> bool:
        """Whether the reference knows the position of the source."""
        return self.form in ("by batch", "by sample")

    def add(self, library: Library, files: list[str], first: int) -> Any:
        """Add the source to the current pipeline."""
        starts = numpy.cumsum([0, *self.lengths])
        batches = [
            numpy.arange(first + start, first + start + length, dtype=numpy.int32).reshape(-1, 1)
            for start, length in zip(starts, self.lengths, strict=False)
        ]

        def by_batch(number: int) -> Any:
            if number >= len(batches):
                raise StopIteration
            return batches[number]

        def by_sample(info: Any) -> Any:
            if info.idx_in_epoch >= starts[-1]:
                raise StopIteration
            return numpy.int32([first + info.idx_in_epoch])

        def generate() -> Iterator[Any]:
            yield from batches

        source: Any = {
            "by batch": by_batch,
            "by sample": by_sample,
            "generator": generate,
            "iterable": batches,
        }[self.form]
        return library.fn.external_source(
            source=source,
            batch=self.form != "by sample",
            cycle=None if self.form.startswith("by") else self.cycle,
        )


@dataclass(frozen=True)
class Case:
    """The actions of both libraries."""

    pipelines: tuple[Reader | Source, ...]
    batch_size: int
    depth: int
    policy: str
    options: dict[str, Any]
    actions: tuple[str, ...]

    @classmethod
    def draw(cls, rng: random.Random) -> Case:
        """Draw a case in which any two features may be combined."""
        batch_size = rng.randint(1, 6)
        kind = rng.choice(["reader", "reader", "sized reader", "source", "source", "sized source"])
        count = 1 if kind == "source" else rng.choice([1, 1, 1, 2, 3])
        pipelines: list[Reader | Source]
        if kind.endswith("reader"):
            pipelines = list(draw_readers(rng, count, disagree=kind == "sized reader"))
        else:
            pipelines = list(draw_sources(rng, count, batch_size, endless=kind == "sized source"))
        options: dict[str, Any] = {
            "auto_reset": rng.random() < 0.5,
            "prepare_first_batch": rng.random() < 0.7,
        }
        if kind == "reader":
            options["reader_name"] = "reader"
        elif kind != "source":
            total = sum(
                p.num_samples // p.num_shards if isinstance(p, Reader) else sum(p.lengths)
                for p in pipelines
            )
            size = rng.choice([total, total, total + rng.randint(-4, 4), rng.randint(1, 30)])
            options["size"] = max(size, 1)
            options["last_batch_padded"] = rng.random() < 0.4
        actions = "nnnnmrieebdl"
        if all(pipeline.can_resume for pipeline in pipelines):
            actions += "ccs"
        begin = rng.choice(["", "", "i", "ii", "e", "r"])
        return cls(
            tuple(pipelines),
            batch_size,
            rng.choice([1, 2, 2, 2, 3]),
            rng.choice(POLICIES),
            options,
            (*begin, *(rng.choice(actions) for _ in range(12))),
        )


def draw_readers(rng: random.Random, count: int, *, disagree: bool) -> Iterator[Reader]:
    """Draw readers of one data set, or of several that are inconsistent."""

    def draw() -> tuple[int, int, tuple[bool, bool, bool]]:
        num_samples = rng.randint(count, 20)
        num_shards = rng.randint(count, min(num_samples, 5)) if num_samples > count else count
        stick, pad = rng.random() < 0.5, rng.random() < 0.4
        return num_samples, num_shards, (stick, pad, not stick and rng.random() < 0.4)

    num_samples, num_shards, way = draw()
    for shard in rng.sample(range(num_shards), count):
        yield Reader(num_samples, num_shards, shard, *way)
        if disagree and rng.random() < 0.3:
            num_samples, new_shards, way = draw()
            num_shards = max(num_shards, new_shards) if num_samples >= 5 else num_shards
            num_samples = max(num_samples, num_shards)


def draw_sources(
    rng: random.Random, count: int, batch_size: int, *, endless: bool
) -> Iterator[Source]:
    """Draw sources, whose last batches may be short, and which may end at different times."""

    def draw() -> list[int]:
        lengths = [batch_size] * rng.randint(1, 5)
        if rng.random() < 0.4:
            lengths[-1] = rng.randint(1, batch_size)
        return lengths

    lengths = draw()
    cycles = ["quiet", True, None, "raise", "no"] if endless else [None, "raise", False, "quiet"]
    form = rng.choice(["by batch", "by sample", "generator", "iterable"])
    cycle = rng.choice(cycles)
    for _ in range(count):
        yield Source(form, tuple(lengths), cycle)
        if rng.random() < 0.3:
            lengths = draw()


class Library:
    """One of the two implementations, with the same interface."""

    def __init__(self, core: Any, plugin: Any) -> None:
        self.core = core
        self.fn = core.fn
        self.plugin = plugin
        self.is_reference = core.__name__ == "nvidia.dali"
        self.mixed_epochs = False

    def pipelines(
        self, files: list[str], case: Case, checkpoints: list[Any] | None = None
    ) -> list[Any]:
        """Make the pipelines of a case."""
        pipelines = []
        can_resume = all(spec.can_resume for spec in case.pipelines)
        for number, spec in enumerate(case.pipelines):
            pipeline = self.core.Pipeline(
                case.batch_size,
                1,
                None,
                prefetch_queue_depth=case.depth,
                enable_checkpointing=can_resume,
                checkpoint=checkpoints[number] if checkpoints else None,
            )
            with pipeline:
                pipeline.set_outputs(spec.add(self, files, 100 * number))
            if self.is_reference:
                pipeline.reset = functools.partial(self._reset, pipeline)
            pipelines.append(pipeline)
        return pipelines

    def iterator(self, files: list[str], case: Case, checkpoints: list[Any] | None = None) -> Any:
        """Make the iterator of a case."""
        with warnings.catch_warnings():
            # Both warn of some of the drawn combinations.
            warnings.simplefilter("ignore")
            return self.plugin.DALIGenericIterator(
                self.pipelines(files, case, checkpoints),
                ["label"],
                last_batch_policy=self.plugin.LastBatchPolicy[case.policy],
                **case.options,
            )

    def _reset(self, pipeline: Any) -> None:
        self.mixed_epochs |= looks_beyond_the_end(pipeline)
        type(pipeline).reset(pipeline)


def observe(library: Library, files: list[str], case: Case) -> tuple[Case, list[Any]]:
    """Perform the actions of a case on an iterator, and record all that is observable.

    Returns
    -------
    (Case, list)
        The case without the actions that were skipped for the reference, and the observations.
    """
    seen: list[Any] = []
    actions: list[str] = []
    was_reset = False
    try:
        iterator = library.iterator(files, case)
    except Exception as error:
        return case, [error]
    seen.append(counts(iterator, case))
    for action in case.actions:
        if library.is_reference:
            if has_starved(iterator):
                break
            if differs_on_purpose(iterator, action, was_reset=was_reset):
                continue
            was_reset = (was_reset or action == "r") and not iterator._ever_consumed
        library.mixed_epochs = False
        found: Any
        try:
            if action == "c":  # resumes as if in another process
                iterator = library.iterator(files, case, iterator.checkpoints())
                found = "resumed"
            elif action == "s":  # saves, and continues
                found = len(iterator.checkpoints())
            else:
                found = ACTIONS[action](iterator)
        except Exception as error:
            found = error
        if library.mixed_epochs:
            break
        actions.append(action)
        seen += [found, counts(iterator, case)]
    return replace(case, actions=tuple(actions)), seen


def has_starved(iterator: Any) -> bool:
    """Return whether no batch is in flight in the reference, though a source has not ended.

    After batches that it rejects it starts no others; how many are left depends on the depth.
    """
    return iterator._ever_scheduled and any(
        pipeline.empty() and not pipeline._last_iter for pipeline in iterator._pipes
    )


def looks_beyond_the_end(pipeline: Any) -> bool:
    """Return whether the reference has reached the end of a source, with batches in flight.

    At a reset it then restarts the source, so the following batches depend on the prefetch depth.
    """
    return bool(pipeline._last_iter) and not pipeline.empty()


def differs_on_purpose(iterator: Any, action: str, *, was_reset: bool) -> bool:
    """Return whether the reference is in a state in which this library differs on purpose.

    See the top of `test_iterators`.
    """
    if action == "r" and iterator._first_batch is not None:
        return True
    if action in "cs" and was_reset and not iterator._ever_consumed:
        return True
    if action == "r" and any(
        pipeline.is_restored_from_checkpoint and pipeline._first_iter
        for pipeline in iterator._pipes
    ):
        return True
    return action in "rieb" and iterator.size < 0 and looks_beyond_the_end(iterator._pipes[0])


def counts(iterator: Any, case: Case) -> dict[str, Any]:
    """Return the attributes of the iterator, private ones included."""
    names = ["batch_size", "output_map", "_num_gpus", "_size", "_last_batch_padded"]
    if "reader_name" in case.options:
        names.append("_shards_num")
    # If a batch may contain more than an epoch of a reader, the reference miscounts.
    if "reader_name" not in case.options or iterator._size > iterator.batch_size:
        names.append("_counter")
    seen = {name: getattr(iterator, name) for name in names}
    if "reader_name" in case.options:
        seen["_is_stick_to_shard"] = bool(iterator._is_stick_to_shard)
        arrays = ["_shards_id", "_shard_sizes_per_gpu_initial"]
        if "_counter" in names:
            arrays += ["_counter_per_gpu", "_shard_sizes_per_gpu"]
        seen |= {name: getattr(iterator, name).tolist() for name in arrays}
    seen["_last_batch_policy"] = iterator._last_batch_policy.name
    seen["has_first"] = iterator._first_batch is not None
    if iterator.size >= 0:
        seen["len"] = len(iterator)
    return seen


def labels(batch: list[dict[str, Any]]) -> list[list[int]]:
    """Return the labels of every pipeline."""
    return [part["label"].ravel().tolist() for part in batch]


def _left_early(iterator: Any) -> list[Any]:
    return [labels(batch) for _, batch in zip(range(2), iterator, strict=False)]


def _without_iter(iterator: Any) -> list[Any]:
    found: list[Any] = []
    while len(found) < MANY:
        try:
            found.append(labels(next(iterator)))
        except StopIteration:
            break
    return found


ACTIONS: dict[str, Callable[[Any], Any]] = {
    "n": lambda iterator: labels(next(iterator)),
    "m": lambda iterator: labels(iterator.next()),
    "r": lambda iterator: iterator.reset(),
    "i": lambda iterator: iter(iterator) is iterator,
    "e": lambda iterator: [labels(b) for _, b in zip(range(MANY), iterator, strict=False)],
    "b": _left_early,
    "d": _without_iter,
    "l": lambda iterator: len(iterator) if iterator.size >= 0 else None,
}


def difference(own: list[Any], other: list[Any]) -> str | None:
    """Return the first difference of two observations, or None: our errors may be subclasses."""
    for number, (ours, theirs) in enumerate(zip(own, other, strict=False)):
        is_error = isinstance(theirs, Exception)
        if not (isinstance(ours, type(theirs)) if is_error else ours == theirs):
            return f"step {number}: {ours!r} here, {theirs!r} there"
    return None if len(own) == len(other) else f"{len(own)} steps here, {len(other)} there"


def make_files(folder: Path) -> list[str]:
    """Write files for readers."""
    paths = [folder / f"{index:02}.bin" for index in range(30)]
    for path in paths:
        path.write_bytes(b"content")
    return [str(path) for path in paths]


def main(count: int, seed: int) -> None:
    """Run `count` random cases and print the differences."""
    import nvidia.dali.fn
    import nvidia.dali.plugin.pytorch

    import dali_core.fn
    import dali_core.plugin.pytorch

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    own = Library(dali_core, dali_core.plugin.pytorch)
    other = Library(nvidia.dali, nvidia.dali.plugin.pytorch)
    rng = random.Random(seed)
    different = 0
    with tempfile.TemporaryDirectory() as folder:
        files = make_files(Path(folder))
        for number in range(count):
            case = Case.draw(rng)
            case, theirs = observe(other, files, case)
            where = difference(observe(own, files, case)[1], theirs)
            if where is not None:
                different += 1
                print(f"#{number} {case}\n  {where}", flush=True)
    print(f"{count} sequences, {different} differ")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0)
