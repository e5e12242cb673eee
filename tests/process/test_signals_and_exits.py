"""Ctrl-C, errors and exits at any time."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS
from tests.process.programs import ASYNC, command_for, interrupt, run


@ASYNC
def test_interrupt_while_running(exec_async: bool, root: Path) -> None:
    status, output = interrupt(
        root,
        f"""
        pipeline = make(exec_async={exec_async})
        pipeline.run()
        print("ready", flush=True)
        while True:
            pipeline.run()
        """,
    )
    assert status == -signal.SIGINT
    assert output.rstrip().endswith("KeyboardInterrupt")


@ASYNC
@pytest.mark.parametrize("where", ["sleep", "feed"])
def test_interrupt_during_a_blocked_source(exec_async: bool, where: str, root: Path) -> None:
    arguments = {"sleep": "source=sleep", "feed": "blocking=True"}[where]
    status, output = interrupt(
        root,
        f"""
        def sleep():
            print("ready", flush=True)
            # Ctrl-C that comes just before a sleep begins is handled when that ends.
            while True:
                time.sleep(0.01)

        def tell_when_blocked(main=threading.main_thread().ident):
            while "wait" not in [frame.name for frame in
                                 traceback.extract_stack(sys._current_frames()[main])]:
                time.sleep(0.001)
            print("ready", flush=True)
            # A thread that ends is removed from Python's set of threads by a callback, in which
            # Python itself loses an exception.
            while True:
                time.sleep(1)

        import traceback

        with Pipeline(1, 2, None, exec_async={exec_async}) as pipeline:
            pipeline.set_outputs(fn.external_source({arguments}))
        if {where == "feed"}:
            threading.Thread(target=tell_when_blocked, daemon=True).start()
        pipeline.run()
        """,
    )
    assert status == -signal.SIGINT, output
    assert output.rstrip().endswith("KeyboardInterrupt")


@ASYNC
def test_pipeline_resumes_after_interrupts_at_any_time(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        f"""
        def interrupt(*_):
            raise KeyboardInterrupt

        # Python itself leaves a folder open if it is interrupted right after opening it.
        warnings.simplefilter("ignore", ResourceWarning)
        make(exec_async={exec_async}).run()  # importing is Python's own
        signal.signal(signal.SIGALRM, interrupt)
        pipeline = make(exec_async={exec_async}, prefetch_queue_depth=3)
        found = []
        for number in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + number % 50 * 0.0001)
                while True:
                    outputs = pipeline.run()
                    found.append(outputs)
            except KeyboardInterrupt:
                pass
        found += [pipeline.run() for _ in range(5)]
        numbers = [first(outputs) for outputs in found]
        assert numbers == sorted(set(numbers)), numbers
        assert all(number % 10 == 0 for number in numbers), numbers
        if sys.version_info >= (3, 11):  # before, a result may be lost before it is stored
            assert numbers == list(range(0, 10 * len(numbers), 10)), numbers
        pipeline.close()
        print("done", threads_left())
        """,
    )
    assert output == "done 0\n"


@pytest.mark.parametrize("depth", [1, 4])
@ASYNC
def test_exit_with_batches_in_flight(exec_async: bool, depth: int, root: Path) -> None:
    output = run(
        root,
        f"""
        pipelines = [make(exec_async={exec_async}, prefetch_queue_depth={depth}) for _ in range(3)]
        pipelines += [native(prefetch_queue_depth={depth}) for _ in range(3)]
        kept = [pipeline.run() for pipeline in pipelines]
        slow = make(source=lambda: time.sleep(0.2) or numbers(0))
        slow.schedule_run()
        print("end")
        """,
    )
    assert output == "end\n"


def test_exit_while_a_function_hangs(root: Path) -> None:
    output = run(
        root,
        """
        import atexit
        started = threading.Event()
        pipeline = make(function=lambda x: started.set() or time.sleep(1000))
        pipeline.schedule_run()
        assert started.wait(WAIT_SECONDS)
        atexit.register(lambda: print("exit"))
        """,
    )
    assert output == "exit\n"


def test_exit_with_an_error_that_holds_everything(root: Path) -> None:
    output = run(
        root,
        """
        def source(iteration):
            raise SystemExit(iteration) if iteration else ValueError("first")

        pipeline = make(source=source)
        kept = []
        for _ in range(3):
            try:
                pipeline.run()
            except BaseException as error:
                kept.append(error)
        print(*[type(error).__name__ for error in kept])
        """,
    )
    assert output == "ValueError SystemExit SystemExit\n"


@ASYNC
def test_sys_exit_in_a_function(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        f"""
        def source(iteration):
            if iteration == 2:
                sys.exit(3)
            return numbers(iteration)

        pipeline = make(source=source, exec_async={exec_async})
        while True:
            print(first(pipeline.run()), flush=True)
        """,
        status=3,
    )
    assert output == "0\n10\n"


def test_an_unhandled_error_ends_the_program(root: Path) -> None:
    program = """
        pipeline = make(function=lambda x: 1 / 0)
        pipeline.run()
        """
    result = subprocess.run(
        command_for(root, program),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert result.returncode == 1
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert result.stderr.rstrip().splitlines()[-1].startswith("dali_core.errors.SampleError: fn.py")
