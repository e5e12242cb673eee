"""Worker processes of parallel sources: killed, interrupted, orphaned, and leaks."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.children import is_running
from tests.hanging import HANG_SECONDS
from tests.process.programs import ASYNC, PRELUDE, command_for, interrupt, run, started

PARALLEL = """
import multiprocessing, selectors
from dali_core.errors import SampleError, WorkerError

def process(info):
    return np.int64([os.getpid()])

def parallel(source=process, method="fork", batch_size=4, **arguments):
    with Pipeline(
        batch_size, 1, None, py_num_workers=2, py_start_method=method, **arguments
    ) as pipeline:
        pipeline.set_outputs(fn.external_source(source, parallel=True, batch=False))
    return pipeline

def children():
    with open(f"/proc/self/task/{os.getpid()}/children") as file:
        return file.read().split()

def files():
    return sorted(os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd")
                  if os.path.exists(f"/proc/self/fd/{name}"))
"""


def _ended(processes: list[int], seconds: float = HANG_SECONDS) -> bool:
    """Wait until processes have ended, or are zombies of another parent."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if not any(is_running(process) for process in processes):
            return True
        time.sleep(0.01)
    return False


def _named_shared_memory(process: int) -> list[str]:
    lines = Path(f"/proc/{process}/maps").read_text().splitlines()
    return [line for line in lines if "/dev/shm/" in line and not line.endswith("(deleted)")]


@pytest.mark.parametrize("method", ["fork", "forkserver"])
@pytest.mark.parametrize("busy", [False, True])
def test_workers_exit_when_their_parent_is_killed(
    method: str, busy: bool, root: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        PRELUDE
        + PARALLEL
        + f"""
def source(info):
    if info.iteration == 3:
        # In one piece: others write at the same time.
        os.write(1, b"%d\\n" % os.getpid())
        time.sleep(1000 * {busy})
    return np.zeros(300_000)

if __name__ == "__main__":
    pipelines = [parallel(source, "{method}"), parallel(method="{method}")]
    pipelines[1].run()
    print(*{{int(x) for x in pipelines[1].run()[0].as_array().ravel()}}, flush=True)
    while True:
        pipelines[0].run()
"""
    )
    with started([sys.executable, str(program), str(root)]) as parent:
        assert parent.stdout is not None
        workers = [int(word) for _ in range(3) for word in parent.stdout.readline().split()]
        assert len(workers) >= 3
        # Shared memory is anonymous, so no name can be left behind.
        assert not [path for each in (parent.pid, *workers) for path in _named_shared_memory(each)]
        parent.kill()
    assert _ended(workers)


@pytest.mark.parametrize("killing", [{21}, {20, 22}], ids=["one", "all"])
@pytest.mark.parametrize("method", ["fork", "spawn"])
@ASYNC
def test_killed_worker_raises_without_deadlock(
    exec_async: bool, method: str, killing: set[int], root: Path, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        PRELUDE
        + PARALLEL
        + f"""
def source(info):
    if info.idx_in_epoch in {killing}:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.int64([info.idx_in_epoch])

if __name__ == "__main__":
    pipeline = parallel(source, "{method}", exec_async={exec_async})
    numbers = []
    for _ in range(8):
        try:
            numbers.append(first(pipeline.run()))
        except SampleError as error:
            assert "program.py" in error.location, error
            assert isinstance(error.__cause__, WorkerError)
            assert "has ended by signal 9" in str(error), error
            numbers.append("killed")
    # Nobody asks again and again what there is from workers that have ended.
    calls, select = [], selectors.DefaultSelector.select
    selectors.DefaultSelector.select = lambda *args: calls.append(args) or select(*args)
    time.sleep(0.3)  # a busy loop would make thousands, however busy the machine is
    assert len(calls) < 10, len(calls)
    pipeline.close()
    assert numbers[0] == 0 and numbers[5] == numbers[-1] == "killed", numbers
    print(multiprocessing.active_children())
"""
    )
    result = subprocess.run(
        [sys.executable, "-W", "error", str(program), str(root)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "[]\n", "")


def test_pipelines_leak_no_processes_or_files(root: Path) -> None:
    output = run(
        root,
        PARALLEL
        + """
        def use(number):
            pipeline = parallel(batch_size=1 + number)
            pipeline.run()
            kept = pipeline.run()
            if number % 2:
                pipeline.close()
            return kept

        use(0)
        gc.collect()
        assert threads_left() <= 0  # the last step may keep a runner for a moment
        before = files()
        kept = [use(number) for number in range(6)]
        gc.collect()
        assert threads_left() <= 0
        assert files() == before, (before, files())
        print(children(), len(kept))
        """.replace("\n        ", "\n"),
    )
    assert output == "[] 6\n"


@ASYNC
def test_interrupt_while_workers_are_busy(exec_async: bool, root: Path) -> None:
    status, output = interrupt(
        root,
        PARALLEL
        + f"""
def source(info):
    if info.idx_in_epoch == 9:
        print("ready", flush=True)
        time.sleep(1000)
    return process(info)

pipeline = parallel(source, exec_async={exec_async})
try:
    while True:
        pipeline.run()
except KeyboardInterrupt:
    pipeline.close()  # which does not wait for the worker
    print(children())
    raise
""",
    )
    assert status == -signal.SIGINT, output
    assert output.startswith("[]\n")
    assert output.rstrip().endswith("KeyboardInterrupt")


@ASYNC
def test_pipeline_resumes_after_interrupts(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        PARALLEL
        + f"""
def interrupt(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
pipeline = parallel(lambda info: np.int64([info.idx_in_epoch]), exec_async={exec_async})
pipeline.run()
found = []
for number in range(60):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0003 + number % 20 * 0.0002)
        while True:
            outputs = pipeline.run()
            found.append(outputs)
    except KeyboardInterrupt:
        pass
numbers = [first(outputs) for outputs in found]
assert numbers == sorted(set(numbers)), numbers
assert all(number % 4 == 0 for number in numbers), numbers
if sys.version_info >= (3, 11):  # before, a result may be lost before it is stored
    assert numbers == list(range(4, 4 * len(numbers) + 4, 4)), numbers
del outputs, found
pipeline.close()
print("done", threads_left() <= 0, children())
""",
    )
    assert output == "done True []\n"


def test_exit_with_work_in_flight(root: Path) -> None:
    output = run(
        root,
        PARALLEL
        + """
import atexit
pipelines = [parallel(), parallel(lambda info: time.sleep(1000))]
pipelines[0].run()
pipelines[1].schedule_run()
atexit.register(lambda: print("exit", flush=True))
""",
    )
    assert output == "exit\n"


def test_forks_beside_pipelines_that_run(root: Path) -> None:
    output = run(
        root,
        PARALLEL
        + """
busy = make(prefetch_queue_depth=4)
other = parallel()
for _ in range(5):
    busy.run()
    other.run()
    pipeline = parallel()
    assert first(pipeline.run()) != os.getpid()
    other.run()
    del pipeline
print("done")
""",
    )
    assert output == "done\n"


RUN_AND_PRINT = """
    try:
        parallel(method="{method}").run()
    except (SampleError, WorkerError) as error:
        print(error)
"""


def error_of_importing(program: Path, root: Path) -> str:
    """Run a program that workers cannot import, and return the error that it prints.

    Workers may write to stderr at any time. With Python 3.14, the server that forks them imports
    the program itself, and prints the reason there only.
    """
    result = subprocess.run(
        [sys.executable, str(program), str(root)],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert "a worker process must be able to import the program" in result.stdout
    return result.stdout if "\n" in result.stdout.rstrip() else result.stderr


def test_a_program_without_protection_gets_a_clear_error(root: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PRELUDE + PARALLEL + "if True:" + RUN_AND_PRINT.format(method="spawn"))
    error = error_of_importing(program, root)
    # It prints this itself.
    assert "forgotten to use the proper idiom" in error
    assert "if __name__ == '__main__'" in error


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_a_program_that_workers_cannot_import(method: str, root: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        'if __name__ == "__mp_main__":\n    import no_such_module\n'
        + PRELUDE
        + PARALLEL
        + 'if __name__ == "__main__":'
        + RUN_AND_PRINT.format(method=method)
    )
    error = error_of_importing(program, root)
    assert error.rstrip().endswith("ModuleNotFoundError: No module named 'no_such_module'")
    assert "if __name__ == '__main__'" not in error


def test_a_daemonic_process_may_only_use_threads(root: Path) -> None:
    output = run(
        root,
        PARALLEL
        + """
def use(method):
    try:
        return first(parallel(lambda info: np.zeros(1), method).run())
    except PipelineStateError as error:
        return "py_start_method='thread'" in str(error)

warnings.simplefilter("ignore", DeprecationWarning)
with multiprocessing.get_context("fork").Pool(1) as pool:
    print(pool.map(use, ["fork", "spawn", "thread"]))
""",
    )
    assert output == "[True, True, 0]\n"


def test_command_line_programs_may_use_fresh_processes(root: Path) -> None:
    pytest.importorskip("cloudpickle", reason="not available: cloudpickle")
    result = subprocess.run(
        command_for(
            root,
            PARALLEL
            + 'print(first(parallel(lambda info: np.int64([7]), method="forkserver").run()))',
        ),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "7\n", "")
