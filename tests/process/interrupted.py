"""Interrupts of real programs: how many are lost.

``python -m tests.process.interrupted 500`` sends as many to a program of each kind, and prints
what was lost.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.folders import make_folders
from tests.hanging import HANG_SECONDS
from tests.process.programs import command_for

REBUILT = {
    "sources": "make()",
    "inline": "make(exec_async=False)",
    "native": "native(prefetch_queue_depth=3)",
    "threads": "parallel('thread')",
    "processes": "parallel('fork')",
    "forks": "forks()",
    "listed": "listed()",
}

# Builds pipelines again and again. An interrupt is lost if none is raised in the program after the
# handler was called, and also if what the handler raised was only printed.
REBUILD = """
import random
MAKE = lambda: {make}

class Numbers:
    def __call__(self, info):
        return np.int64(info.idx_in_epoch)

def parallel(method):
    with Pipeline(3, 2, None, py_num_workers=1, py_start_method=method) as pipeline:
        pipeline.set_outputs(fn.external_source(Numbers(), parallel=True, batch=False))
    return pipeline

def forks():
    pipeline = parallel('fork')
    pipeline.start_py_workers()
    pipeline.close()
    return native()

def listed():
    from dali_core._runtime.thread_start import map_in_threads
    assert list(map_in_threads(abs, range(-9, 0), 3)) == list(range(9, 0, -1))
    return native()

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

printed = []
sys.unraisablehook = lambda lost: printed.append(repr(lost.object))

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
        num_lost += 1
    except KeyboardInterrupt:
        pass
assert num_signals == {count}
gc.collect()
print("lost", num_lost, "printed", printed, "threads left", max(threads_left(), 0))
"""

NOTHING_LOST = "lost 0 printed [] threads left 0\n"


def rebuild(root: Path, kind: str, count: int, seed: int = 0) -> str:
    """Interrupt a program that builds pipelines; return what it says."""
    longest = 0.06 if kind in ("processes", "forks") else 0.01
    program = REBUILD.format(make=REBUILT[kind], seed=seed, count=count, longest=longest)
    result = subprocess.run(
        command_for(root, program),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS + count,
        check=False,
    )
    assert "KeyboardInterrupt" not in result.stderr, result.stderr
    assert result.returncode == 0, result.stderr
    return result.stdout


def main(count: int, kinds: list[str]) -> None:
    """Interrupt programs of some kinds, or of all."""
    with tempfile.TemporaryDirectory() as folder:
        make_folders(Path(folder))
        for kind in kinds or REBUILT:
            print(kind, rebuild(Path(folder), kind, count), end="", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
