"""Pipelines and the process around them: signals, exits, forks, threads and memory.

Each program runs in a process of its own with a hard timeout, so a hang is a failure.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.folders import make_folders

TIMEOUT = 60

PRELUDE = """
import faulthandler, gc, os, signal, sys, threading, time, warnings
faulthandler.enable()
import numpy as np
from dali_core import Pipeline, fn
from dali_core.errors import PipelineStateError, SampleError
ROOT = sys.argv[1]

def numbers(iteration):
    return [np.int64(10 * iteration + i) for i in range(3)]

def make(source=numbers, function=lambda x: x, **arguments):
    with Pipeline(3, 2, None, **arguments) as pipeline:
        data, labels = fn.readers.file(file_root=ROOT)
        number = fn.python_function(fn.external_source(source), function=function)
        pipeline.set_outputs(number, labels, data)
    return pipeline

def native(**arguments):
    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(*reversed(fn.readers.file(file_root=ROOT, random_shuffle=True)))
    return pipeline

def first(outputs):
    return int(outputs[0].at(0).ravel()[0])

def num_threads():
    return len(os.listdir("/proc/self/task"))

def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

THREADS_BEFORE = num_threads()  # libraries have some of their own

def threads_left():
    # A thread that was joined may show up for a moment.
    deadline = time.monotonic() + 5
    while num_threads() > THREADS_BEFORE and time.monotonic() < deadline:
        time.sleep(0.001)
    return num_threads() - THREADS_BEFORE
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    make_folders(root)
    return root


def command_for(root: Path, program: str) -> list[str]:
    # Forking a process with threads is what some of these programs are about.
    options = ["-W", "error", "-W", "ignore:This process:DeprecationWarning"]
    return [sys.executable, *options, "-c", PRELUDE + textwrap.dedent(program), str(root)]


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Give what a program prints until it ends; a program that hangs says where."""
    try:
        return process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        output, errors = process.communicate(timeout=TIMEOUT)
        pytest.fail(f"the program hangs\n{output}\n{errors}")


def run(root: Path, program: str, status: int = 0) -> str:
    """Run a program, check its exit status, and give what it printed."""
    with subprocess.Popen(
        command_for(root, program), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        output, errors = finish(process)
    assert process.returncode == status, output + errors
    if status == 0:
        assert errors == "", errors
    return output


def interrupt(root: Path, program: str) -> tuple[int, str]:
    """Run a program, send it Ctrl-C once it prints "ready", and give exit status and output."""
    with subprocess.Popen(
        command_for(root, program), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        output, _ = finish(process)
    return process.returncode, output


ASYNC = pytest.mark.parametrize("exec_async", [True, False], ids=["async", "inline"])


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
            time.sleep(1000)

        with Pipeline(1, 2, None, exec_async={exec_async}) as pipeline:
            pipeline.set_outputs(fn.external_source({arguments}))
        threading.Timer(0.1, print, ["ready"], dict(flush=True)).start()
        start = time.monotonic()
        try:
            pipeline.run()
        finally:
            print(time.monotonic() - start < 5)
        """,
    )
    assert status == -signal.SIGINT, output
    assert output.startswith("True\n")
    assert output.rstrip().endswith("KeyboardInterrupt")


@ASYNC
def test_running_goes_on_after_interrupts_at_any_time(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        f"""
        def interrupt(*_):
            raise KeyboardInterrupt

        # Python itself leaves a folder open if it is interrupted right after opening it.
        warnings.simplefilter("ignore", ResourceWarning)
        signal.signal(signal.SIGALRM, interrupt)
        pipeline = make(exec_async={exec_async}, prefetch_queue_depth=3)
        last = -1
        num_errors = 0
        for number in range(150):
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0002 + number % 50 * 0.0001)
                while True:
                    try:
                        found = first(pipeline.run())
                    except SampleError as error:
                        assert "interrupt" in str(error).lower(), error
                        num_errors += 1
                        continue
                    assert found > last and found % 10 == 0, (found, last)
                    last = found
            except KeyboardInterrupt:
                pass
        for _ in range(5):
            try:
                pipeline.run()
            except SampleError:
                num_errors += 1
        assert num_errors <= 150
        assert not {exec_async} or not num_errors
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
        pipeline = make(source=lambda: time.sleep(1000))
        pipeline.schedule_run()
        time.sleep(0.1)
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
    assert output == "SampleError SystemExit SystemExit\n"


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
        command_for(root, program), capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    assert result.returncode == 1
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert result.stderr.rstrip().splitlines()[-1].startswith("dali_core.errors.SampleError: fn.py")


def test_deleting_a_pipeline_ends_its_threads(root: Path) -> None:
    output = run(
        root,
        """
        for kind in (make, native):
            for depth in (1, 5):
                pipeline = kind(prefetch_queue_depth=depth)
                kept = pipeline.run()
                assert num_threads() > THREADS_BEFORE
                del pipeline
                assert (threads_left(), threading.active_count()) == (0, 1)
                pipeline = kind(prefetch_queue_depth=depth)
                pipeline.schedule_run()
                pipeline.close()
                assert (threads_left(), threading.active_count()) == (0, 1)
        print(first(kept) in range(3))
        """,
    )
    assert output == "True\n"


def test_many_pipelines_leave_nothing_behind(root: Path) -> None:
    output = run(
        root,
        """
        def build_and_drop(count):
            for number in range(count):
                pipeline = make() if number % 2 else native()
                pipeline.run()
                if number % 3 == 0:
                    pipeline.close()

        build_and_drop(100)
        before = resident_bytes(), len(os.listdir("/proc/self/fd"))
        build_and_drop(200)
        assert threads_left() == 0
        assert len(os.listdir("/proc/self/fd")) == before[1]
        assert resident_bytes() - before[0] < 8 << 20, resident_bytes() - before[0]
        print("done")
        """,
    )
    assert output == "done\n"


def test_memory_stays_flat_over_many_batches(root: Path) -> None:
    output = run(
        root,
        """
        array = np.zeros((3, 200, 200))
        with Pipeline(3, 2, None) as pipeline:
            fed = fn.external_source(lambda: array)
            pipeline.set_outputs(fn.python_function(fed, function=lambda x: x + 1))
        for number in range(400):
            (batch,) = pipeline.run()
            if number == 100:
                before = resident_bytes()
        assert resident_bytes() - before < 16 << 20, resident_bytes() - before
        print(batch.as_array().sum())
        """,
    )
    assert output == "120000.0\n"


def test_pipelines_in_several_threads(root: Path) -> None:
    output = run(
        root,
        """
        def work(number):
            for _ in range(5):
                pipeline = make(prefetch_queue_depth=1 + number)
                found = [first(pipeline.run()) for _ in range(20)]
                assert found == list(range(0, 200, 10)), found
            results.append(number)

        results = []
        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert threads_left() == 0
        print(sorted(results))
        """,
    )
    assert output == "[0, 1, 2, 3, 4, 5]\n"


def test_a_pipeline_may_be_built_in_one_thread_and_used_in_another(root: Path) -> None:
    output = run(
        root,
        """
        made = []
        thread = threading.Thread(target=lambda: made.append(make()))
        thread.start()
        thread.join()
        print(first(made[0].run()))
        made[0].build()
        thread = threading.Thread(target=made.clear)
        thread.start()
        thread.join()
        print(threads_left())
        """,
    )
    assert output == "0\n0\n"


CHILD = """
def in_child(function):
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            function()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, status
"""


@ASYNC
def test_fork(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        CHILD
        + f"""
pipelines = [make(exec_async={exec_async}, prefetch_queue_depth=4), native()]
arrays = [pipeline.run() for pipeline in pipelines]

def uses_arrays():
    assert first(arrays[0]) == 0
    arrays.clear()  # frees the memory of a pool that belongs to the parent
    gc.collect()

def uses_pipelines():
    for pipeline in pipelines:
        for method in (pipeline.run, pipeline.reset):
            try:
                method()
            except PipelineStateError as error:
                assert "in the process that built it" in str(error)
            else:
                raise AssertionError("must raise")
        pipeline.close()

def drops_pipelines():
    pipelines.clear()
    arrays.clear()
    gc.collect()

def builds_its_own():
    own = make(exec_async={exec_async})
    assert [first(own.run()) for _ in range(3)] == [0, 10, 20]
    del own
    assert threads_left() <= 0

for number in range(8):
    for function in (uses_arrays, uses_pipelines, drops_pipelines, builds_its_own):
        for pipeline in pipelines:
            pipeline.run()  # keeps all threads busy while forking
        in_child(function)
assert first(pipelines[0].run()) == 330
print("done")
""",
    )
    assert output.splitlines()[-1] == "done"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing(method: str, root: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        PRELUDE
        + f"""
import multiprocessing

def work(number):
    pipeline = make()
    return [first(pipeline.run()) + number for _ in range(2)]

if __name__ == "__main__":
    pipeline = make(prefetch_queue_depth=3)
    pipeline.run()
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(work, range(2)))
        pool.close()
        pool.join()
    print(first(pipeline.run()))
"""
    )
    result = subprocess.run(
        [sys.executable, str(program), str(root)],
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[[0, 10], [1, 11]]\n10\n"


def test_a_function_may_start_processes(root: Path) -> None:
    output = run(
        root,
        CHILD
        + """
def source(iteration):
    in_child(lambda: None)
    return numbers(iteration)

for exec_async in (True, False):
    pipeline = make(source=source, exec_async=exec_async, prefetch_queue_depth=1)
    print(first(pipeline.run()))
    pipeline.close()
""",
    )
    assert output.split() == ["0", "0"]
