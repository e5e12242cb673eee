"""Loads damaged states: ``python -m tests.fuzz.damage_states COUNT SEED``.

Every fourth is that of an iterator, every fourth a checkpoint. Pipelines with loaded states must be
able to continue. Prints the numbers of states that were loaded and rejected, and failures, as JSON.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dali_core import Pipeline
from dali_core.errors import ArgumentTypeError, DaliCoreError, StateMismatchError
from dali_core.plugin.base_iterator import BaseIterator
from tests.fuzz.mutations import mutated, mutated_text
from tests.state.listing import ListAdapter
from tests.state.making import KINDS, write_files

OPTIONS = {"num_threads": 1, "device_id": None, "prefetch_queue_depth": 1}
MAX_SECONDS = 300
OF_READERS = ("shuffled", "rotating shards", "padded shards", "interleaved shards")


class Hangs(BaseException):
    """Loading hangs."""


def give_up(number: int, frame: Any) -> None:
    raise Hangs


def take_two(source: Any) -> None:
    """Run the next batch; bad data is fine, as long as the error says so."""
    for _ in range(2):
        try:
            source.run() if isinstance(source, Pipeline) else next(source)
        except (DaliCoreError, StopIteration):
            continue
        except Exception as error:
            # Exceptions of a source propagate unchanged, with a note of the location.
            if not any("external_source" in note for note in getattr(error, "__notes__", ())):
                raise


class Round:
    """Creates pipelines and iterators, and loads damaged states."""

    def __init__(self, folder: Path) -> None:
        self.files = write_files(folder)
        self.states: dict[str, Any] = {}

    def pipeline(self, kind: str, **options: Any) -> Pipeline:
        return KINDS[kind](self.files, {**OPTIONS, **options})

    def iterator(self, kind: str) -> BaseIterator:
        names = ["label", "uniform", "normal"]
        return BaseIterator(self.pipeline(kind), names, ListAdapter(), reader_name="reader")

    def state(self, kind: str, is_iterator: bool) -> Any:
        key = f"{kind} {is_iterator}"
        if key not in self.states:
            source: Any = self.iterator(kind) if is_iterator else self.pipeline(kind)
            take_two(source)
            self.states[key] = source.state_dict()
            close(source)
        return self.states[key]

    def load(self, seed: int) -> Iterator[str]:
        """Load one damaged state: return its origin and the outcome."""
        draw = random.Random(seed)
        way = draw.choice(("state", "state", "iterator", "checkpoint"))
        kind = draw.choice(OF_READERS if way == "iterator" else list(KINDS))
        yield f"{way} of {kind}"
        state = self.state(kind, way == "iterator")
        source: Any = None
        try:
            if way == "checkpoint":
                source = self.pipeline(kind, checkpoint=mutated_text(state, seed))
                source.build()
            else:
                source = self.iterator(kind) if way == "iterator" else self.pipeline(kind)
                source.load_state_dict(mutated(state, seed))
        except (StateMismatchError, ArgumentTypeError):
            result = "refused"
        else:
            take_two(source)
            result = "loaded"
        close(source)
        yield result


def close(source: Any) -> None:
    for pipeline in [source] if isinstance(source, Pipeline) else source._pipelines:
        pipeline.close()


def main() -> None:
    """Load one state after the other."""
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGALRM, give_up)
    outcomes = {"loaded": 0, "refused": 0}
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        work = Round(Path(folder))
        for number in range(seed, seed + count):
            steps = work.load(number)
            what = next(steps)
            print(number, what, file=sys.stderr, flush=True)
            signal.alarm(MAX_SECONDS)
            try:
                outcomes[next(steps)] += 1
            except (Exception, Hangs) as error:
                wrong.append([number, what, f"{type(error).__name__}: {str(error)[:300]}"])
            signal.alarm(0)
    print(json.dumps({**outcomes, "wrong": wrong}))


if __name__ == "__main__":
    main()
