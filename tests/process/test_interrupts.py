"""No Ctrl-C is lost, at any time: while pipelines are created, run, closed and deleted."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.hanging import HANG_SECONDS
from tests.process.programs import command_for

PIPELINES = {
    "sources": "make()",
    "inline": "make(exec_async=False)",
    "native": "native(prefetch_queue_depth=3)",
    "threads": "parallel('thread')",
    "processes": "parallel('fork')",
}

COUNT_LOST = """
import itertools, random
MAKE = {make}

class Numbers:
    def __call__(self, info):
        return np.int64(info.idx_in_epoch)

def parallel(method):
    with Pipeline(3, 2, None, py_num_workers=1, py_start_method=method) as pipeline:
        pipeline.set_outputs(fn.external_source(Numbers(), parallel=True, batch=False))
    return pipeline

num_signals = 0

def interrupt(*_):
    global num_signals
    num_signals += 1
    raise KeyboardInterrupt

def work(seen):
    # Until Ctrl-C: if that was lost, it came, and this goes on.
    while num_signals == seen:
        pipeline = MAKE()
        for _ in range(random.randrange(4)):
            try:
                pipeline.run()
            except SampleError as error:
                assert "nterrupt" in str(error), error
        if random.random() < 0.3:
            pipeline.close()
        del pipeline

# Python itself loses what is raised in its callbacks, such as that for a thread that has ended.
lost_by_python = []

def note_lost(lost):
    file = getattr(getattr(lost.object, "__code__", None), "co_filename", "")
    if isinstance(lost.exc_value, KeyboardInterrupt) and file.startswith(STANDARD_LIBRARY):
        lost_by_python.append(file)
    else:
        sys.__unraisablehook__(lost)

# Nor are its starts of threads safe: they may release a lock twice, or never.
def is_of_a_start(error):
    while error is not None and str(error) != "release unlocked lock":
        error = error.__cause__ or error.__context__
    return error is not None and isinstance(error.__context__, KeyboardInterrupt)

STANDARD_LIBRARY = os.path.join(os.path.dirname(os.__file__), "")
sys.unraisablehook = note_lost

# Importing is Python's own: it loses what is raised in the callbacks of its locks.
MAKE().run()

# Python itself leaves files open if it is interrupted right after opening them.
warnings.simplefilter("ignore", ResourceWarning)
signal.signal(signal.SIGALRM, interrupt)
random.seed({seed})
num_lost = 0
for number in range({count}):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0005, {longest}))
        work(number)
        num_lost += not lost_by_python
    except KeyboardInterrupt:
        pass
    except RuntimeError as error:
        if not is_of_a_start(error):
            raise
    lost_by_python.clear()
assert num_signals == {count}
gc.collect()
# A thread whose start was interrupted may wait for that lock for ever.
THREADS_BEFORE += sum(not thread._started.is_set() for thread in threading.enumerate())
print("lost", num_lost, "threads left", max(threads_left(), 0))  # a fork may end NumPy's
"""


def count_lost(root: Path, kind: str, count: int, seed: int = 0) -> str:
    longest = 0.06 if kind == "processes" else 0.01
    make = f"lambda: {PIPELINES[kind]}"
    program = COUNT_LOST.format(make=make, seed=seed, count=count, longest=longest)
    result = subprocess.run(
        command_for(root, program),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=False,
    )
    # Objects that the standard library leaves incomplete when interrupted are noisy garbage.
    assert "KeyboardInterrupt" not in result.stderr, result.stderr
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("kind", PIPELINES)
def test_no_interrupt_is_lost(kind: str, root: Path) -> None:
    assert count_lost(root, kind, 30) == "lost 0 threads left 0\n"
