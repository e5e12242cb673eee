"""The runner: order, numbering, ends and interruptions of steps in Python."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core._execution import runner as runner_module
from dali_core._execution import step_thread
from dali_core._execution.runner import Runner
from dali_core._execution.runner_options import RunnerOptions
from dali_core._graph.plan.planner import make_plan
from dali_core._runtime.executor import Batch
from dali_core.batching.fixed import Fixed
from dali_core.errors import PipelineStateError, SampleError
from tests.hanging import HANG_SECONDS
from tests.step_threads import step_threads
from tests.waiting import wait_until


def make_runner(
    source: Any,
    function: Callable[[Any], Any] | None = None,
    *,
    asynchronous: bool = True,
    **arguments: Any,
) -> Runner:
    with Pipeline(2, 1, None):
        node = fn.external_source(source, **arguments)
        if function is not None:
            node = fn.python_function(node, function=function)
    options = RunnerOptions(Fixed(2), num_threads=2, seed=1, asynchronous=asynchronous)
    return Runner(make_plan([node]), {}, options)


@pytest.fixture(params=[True, False], ids=["async", "inline"])
def asynchronous(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def is_collected(reference: weakref.ref[Any]) -> bool:
    def collected() -> bool:
        gc.collect()
        return reference() is None

    wait_until(collected)  # the thread may still hold references
    return True


def numbers(iteration: int) -> list[np.int64]:
    return [np.int64(iteration), np.int64(-iteration)]


def first_of(runner: Runner, batch: Batch) -> int:
    assert runner.wait(batch)
    return int(runner.outputs(batch)[0].at(0))


def test_batches_come_in_order(asynchronous: bool) -> None:
    runner = make_runner(numbers, asynchronous=asynchronous)
    batches = [runner.submit() for _ in range(20)]
    assert [first_of(runner, batch) for batch in batches] == list(range(20))
    runner.close()


def test_threads_of_steps(asynchronous: bool) -> None:
    of_source, of_function = set(), set()

    def source(iteration: int) -> list[np.int64]:
        of_source.add(threading.current_thread())
        return numbers(iteration)

    def function(x: np.ndarray) -> np.ndarray:
        of_function.add(threading.current_thread())
        return x

    runner = make_runner(source, function, asynchronous=asynchronous)
    first_of(runner, runner.submit())
    runner.close()
    assert of_source == {threading.current_thread()}
    assert (of_function == of_source) != asynchronous


def test_sources_are_called_for_a_batch_that_is_submitted() -> None:
    seen: list[int] = []

    def source(iteration: int) -> list[np.int64]:
        seen.append(iteration)
        return numbers(iteration)

    runner = make_runner(source)
    for count in range(1, 4):
        batch = runner.submit()
        runner.call_sources(batch)
        assert seen == list(range(count))
        # The rest does not need this thread.
        assert runner.executor.wait(batch, HANG_SECONDS)
    runner.close()


def test_closed_pipeline_calls_no_functions(asynchronous: bool) -> None:
    seen: list[int] = []

    def source(iteration: int) -> list[np.int64]:
        seen.append(iteration)
        return numbers(iteration)

    with Pipeline(2, 1, None, exec_async=asynchronous, prefetch_queue_depth=2) as pipeline:
        pipeline.set_outputs(fn.external_source(source))
    pipeline.run()
    assert seen == [0, 1]
    pipeline.close()
    with pytest.raises(PipelineStateError, match="it was closed"):
        pipeline.run()
    assert seen == [0, 1]


def end_at_three(iteration: int) -> list[np.int64]:
    if iteration == 3:
        raise StopIteration
    return numbers(iteration)


def test_the_end_of_the_data(asynchronous: bool) -> None:
    runner = make_runner(end_at_three, asynchronous=asynchronous)
    for _ in range(2):
        batches = [runner.submit() for _ in range(6)]
        assert [runner.wait(batch) for batch in batches] == [True] * 3 + [False] * 3
        runner.reset(batches[3].iteration)
    assert runner.iteration == 6
    runner.close()


@pytest.mark.parametrize("ahead", [1, 2, 7])
def test_sample_numbers_do_not_depend_on_how_far_sources_ran_ahead(ahead: int) -> None:
    with Pipeline(2, 1, None):
        endless = fn.external_source(numbers)
        ending = fn.external_source(end_at_three)
    runner = Runner(make_plan([endless, ending]), {}, RunnerOptions(Fixed(2), 2, seed=1))
    found = []
    for _ in range(3):
        batches: list[Batch] = []
        for number in range(4):
            while len(batches) < number + ahead:
                batches.append(runner.submit())
            if runner.wait(batches[number]):
                runner.outputs(batches[number])
                found.append(batches[number].key(0))
        runner.reset(batches[3].iteration)
    assert found == [(0, 2 * i) for i in range(9)]
    runner.close()


class Stop(BaseException):
    """Like SystemExit, but of an unknown class."""


@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt(), Stop(), GeneratorExit()])
def test_base_exceptions_propagate_to_the_caller(error: BaseException, asynchronous: bool) -> None:
    def source(iteration: int) -> list[np.int64]:
        if iteration == 1:
            raise error
        return numbers(iteration)

    runner = make_runner(source, asynchronous=asynchronous)
    batches = [runner.submit() for _ in range(3)]
    assert first_of(runner, batches[0]) == 0
    with pytest.raises(type(error)) as caught:
        first_of(runner, batches[1])
    assert caught.value is error
    assert first_of(runner, batches[2]) == 2
    runner.close()


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def test_unprintable_and_cyclic_exceptions_are_reported(asynchronous: bool) -> None:
    errors = [Unprintable(), ValueError("\udcff"), ValueError(), ExceptionThatIsACycle()]

    def source(iteration: int) -> list[np.int64]:
        raise errors[iteration]

    runner = make_runner(source, asynchronous=asynchronous)
    for number, text in enumerate(["Unprintable", "\udcff", "ValueError", "Cycle"]):
        batch = runner.submit()
        assert runner.wait(batch)
        with pytest.raises(type(errors[number])) as caught:
            runner.outputs(batch)
        assert caught.value is errors[number]
        assert text in "".join(traceback.format_exception_only(caught.value))
        (note,) = caught.value.__notes__
        assert note.startswith("raised for fn.external_source, at ")
        assert note.endswith(f", epoch 0, iteration {number}")
    runner.close()


class ExceptionThatIsACycle(Exception):
    def __init__(self) -> None:
        super().__init__("Cycle")
        self.__context__ = self


def test_failing_functions_do_not_stop_the_next_batch(asynchronous: bool) -> None:
    def function(x: np.ndarray) -> np.ndarray:
        if x == -2:
            raise OSError("two")
        return x

    runner = make_runner(numbers, function, asynchronous=asynchronous)
    batches = [runner.submit() for _ in range(4)]
    assert [first_of(runner, batch) for batch in batches[:2]] == [0, 1]
    assert runner.wait(batches[2])
    with pytest.raises(SampleError, match="OSError: two") as caught:
        runner.outputs(batches[2])
    assert (caught.value.sample, caught.value.iteration) == (1, 2)
    assert first_of(runner, batches[3]) == 3
    runner.close()


def test_exceptions_of_failed_batches_are_released(asynchronous: bool) -> None:
    error = Unprintable()
    reference = weakref.ref(error)
    errors = [error]
    del error

    def source() -> None:
        raise errors.pop()

    runner = make_runner(source, asynchronous=asynchronous)
    batch = runner.submit()
    assert runner.wait(batch)
    with pytest.raises(Unprintable):
        runner.outputs(batch)
    assert is_collected(reference)
    runner.close()


def test_reset_drops_batches_in_flight() -> None:
    runner = make_runner(numbers)
    batches = [runner.submit() for _ in range(5)]
    assert first_of(runner, batches[0]) == 0
    runner.reset(1)
    assert runner.iteration == 1
    assert first_of(runner, runner.submit()) == 0  # the first batch of the next epoch
    runner.close()


def test_reset_of_a_hanging_step_raises_after_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_module, "_STEP_GRACE_SECONDS", 0.02)
    release, started = threading.Event(), threading.Event()

    def function(x: np.ndarray) -> np.ndarray:
        if x == 1:
            started.set()
            release.wait(HANG_SECONDS)
        return x

    runner = make_runner(numbers, function)
    batches = [runner.submit() for _ in range(2)]
    for batch in batches:
        runner.call_sources(batch)
    assert first_of(runner, batches[0]) == 0
    assert started.wait(HANG_SECONDS)
    with pytest.raises(PipelineStateError, match="must return within"):
        runner.reset(1)
    monkeypatch.setattr(runner_module, "_STEP_GRACE_SECONDS", HANG_SECONDS)
    release.set()
    runner.reset(1)
    assert first_of(runner, runner.submit()) == 0
    runner.close()


def test_close_has_a_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_thread, "_GRACE_SECONDS", 0.02)
    release, started = threading.Event(), threading.Event()

    def function(x: np.ndarray) -> np.ndarray:
        started.set()
        assert release.wait(HANG_SECONDS)
        ended.append(threading.current_thread())
        return x

    ended: list[threading.Thread] = []
    runner = make_runner(numbers, function)
    runner.call_sources(runner.submit())
    assert started.wait(HANG_SECONDS)
    runner.close()
    assert not ended, "it does not wait for the function"
    release.set()
    wait_until(lambda: ended and not ended[0].is_alive())  # the thread ends by itself


def test_close_wakes_a_blocked_source() -> None:
    before = step_threads()
    runner = make_runner(None, blocking=True)
    runner.submit()
    (thread,) = step_threads() - before
    runner.close()
    wait_until(lambda: not thread.is_alive())


def test_close_raises_in_waiting_threads(asynchronous: bool) -> None:
    runner = make_runner(None, asynchronous=asynchronous, blocking=True)
    batch = runner.submit()
    threading.Timer(0.02, runner.close).start()
    with pytest.raises(PipelineStateError, match="it was closed"):
        runner.wait(batch)
    with pytest.raises(PipelineStateError, match="it was closed"):
        runner.submit()


def test_dropped_batch_raises_in_waiting_threads() -> None:
    called = threading.Event()

    def source(iteration: int) -> list[np.int64]:
        called.set()
        wait_until(lambda: batch.cancelled)
        return numbers(iteration)

    def rewind() -> None:
        assert called.wait(HANG_SECONDS)
        runner.rewind(0)

    runner = make_runner(source)
    batch = runner.submit()
    thread = threading.Thread(target=rewind)
    thread.start()
    with pytest.raises(PipelineStateError, match="by another thread"):
        runner.wait(batch)
    thread.join()
    runner.close()


def test_close_releases_user_functions() -> None:
    class Source:
        def __call__(self, iteration: int) -> list[np.int64]:
            return numbers(iteration)

    source = Source()
    reference = weakref.ref(source)
    runner = make_runner(source)
    first_of(runner, runner.submit())
    close = runner.close
    del runner, source
    assert is_collected(reference)
    close()
