"""Interrupts and threads change no stream: each batch comes once, in its order."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from dali_core.plugin.base_iterator import BaseIterator
from tests.plugin.fake_pipeline import ListAdapter
from tests.process.injected import CONSUMERS, EPOCHS, PIPELINES, check, fed, reader
from tests.process.interrupted import STREAMS, stream

SINCE_3_11 = pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="not available: Python 3.10 handles signals before the result of a call is stored",
)


@SINCE_3_11
@pytest.mark.parametrize("consumer", ["run", "scheduled", "iterator"])
@pytest.mark.parametrize("kind", sorted(PIPELINES.keys() - {"fed"}))
def test_an_interrupt_at_an_instruction_loses_no_batch(
    kind: str, consumer: str, root: Path
) -> None:
    count, problems = check(lambda: CONSUMERS[consumer](PIPELINES[kind](str(root))), step=101)
    assert problems == []
    assert count > 10


@SINCE_3_11
@pytest.mark.parametrize("kind", EPOCHS)
def test_an_interrupt_at_the_end_of_an_epoch_loses_no_batch(kind: str, root: Path) -> None:
    count, problems = check(lambda: EPOCHS[kind](str(root)), step=7)
    assert problems == []
    assert count > 10


@SINCE_3_11
def test_an_interrupt_while_data_is_passed_to_run_loses_no_batch() -> None:
    count, problems = check(lambda: CONSUMERS["passed"](fed()), step=23)
    assert problems == []
    assert count > 10


@SINCE_3_11
@pytest.mark.parametrize("kind", STREAMS)
def test_interrupts_at_any_time_lose_no_batch(kind: str, root: Path) -> None:
    assert stream(root, kind, 40) == "lost 0 batches 0 in order True\n"


def _in_threads(count: int, work: object) -> list[BaseException]:
    errors: list[BaseException] = []

    def run() -> None:
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


@pytest.mark.parametrize("depth", [1, 3])
def test_a_pipeline_in_several_threads_gives_each_batch_once(depth: int, root: Path) -> None:
    expected = reader(depth, str(root))
    pipeline = reader(depth, str(root))
    found: list[tuple[int, ...]] = []

    def work() -> None:
        for _ in range(60):
            (labels,) = pipeline.run()
            found.append(tuple(int(labels.at(i)[0]) for i in range(2)))

    assert _in_threads(6, work) == []
    wanted = [expected.run()[0] for _ in range(360)]
    assert sorted(found) == sorted(tuple(int(x.at(i)[0]) for i in range(2)) for x in wanted)


def test_an_iterator_in_several_threads_gives_each_batch_once(root: Path) -> None:
    iterators = [BaseIterator([reader(2, str(root))], ["x"], ListAdapter()) for _ in range(2)]
    found: list[tuple[int, ...]] = []

    def values(batch: list[dict[str, object]]) -> tuple[int, ...]:
        return tuple(int(x) for x in memoryview(batch[0]["x"]).cast("B").cast("i"))  # type: ignore[arg-type]

    def work() -> None:
        for _ in range(60):
            found.append(values(next(iterators[0])))

    assert _in_threads(6, work) == []
    assert sorted(found) == sorted(values(next(iterators[1])) for _ in range(360))
