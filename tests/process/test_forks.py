"""Forks of a process with a pipeline, and pipelines in forked processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS
from tests.process.programs import ASYNC, PRELUDE, run

CHILD = """
def in_child(function):
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        try:
            function()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        sys.exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status == 0, status

def is_refused(*methods):
    for method in methods:
        try:
            method()
        except PipelineStateError as error:
            assert "in the process that built it" in str(error)
        else:
            raise AssertionError("must raise")
"""


@ASYNC
def test_pipelines_in_forked_children(exec_async: bool, root: Path) -> None:
    output = run(
        root,
        CHILD
        + f"""
pipelines = [make(exec_async={exec_async}, prefetch_queue_depth=4), native()]
scheduled = make(exec_async={exec_async}, prefetch_queue_depth=4)
arrays = [pipeline.run() for pipeline in pipelines]

def uses_arrays():
    assert first(arrays[0]) == 0
    arrays.clear()  # frees the memory of a pool that belongs to the parent
    gc.collect()

def uses_pipelines():
    for pipeline in pipelines:
        is_refused(pipeline.run, pipeline.reset)
        pipeline.close()
    # With batches in flight, of which threads of the parent may hold the lock.
    is_refused(scheduled.share_outputs, scheduled.outputs, scheduled.schedule_run, scheduled.reset)
    scheduled.close()

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
        scheduled.schedule_run()
        scheduled.outputs()
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
        timeout=HANG_SECONDS,
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


def test_exiting_child_does_not_stop_its_parent(root: Path) -> None:
    output = run(
        root,
        """
class Numbers:
    def __call__(self, info):
        return np.int64([info.idx_in_epoch])

with Pipeline(2, 1, None, py_num_workers=2, py_start_method="fork") as pipeline:
    pipeline.set_outputs(fn.external_source(Numbers(), parallel=True, batch=False))
assert first(pipeline.run()) == 0

def ends_itself():
    sys.exit(0)

def closes():
    pipeline.close()

def drops():
    globals().pop("pipeline")
    gc.collect()

for function in (ends_itself, closes, drops):
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        function()
        sys.exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print([first(pipeline.run()) for _ in range(20)] == list(range(2, 42, 2)))
""",
    )
    assert output.splitlines()[-1] == "True"
