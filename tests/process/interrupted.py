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

# A handler that counts signals; part of both programs.
COUNTED = """
num_signals = 0

def interrupt(*_):
    global num_signals
    num_signals += 1
    raise KeyboardInterrupt
"""

# Builds pipelines again and again. An interrupt is lost if none is raised in the program after the
# handler was called, and also if what the handler raised was only printed.
REBUILD = (
    COUNTED
    + """
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

def work(seen):
    # Until Ctrl-C: if that was lost, it came, and this goes on.
    while num_signals == seen:
        pipeline = MAKE()
        for _ in range(random.randrange(4)):
            pipeline.run()
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
)

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


STREAMS = {
    "native": "native(prefetch_queue_depth=3)",
    "called": "called()",
    "inline": "called(exec_async=False)",
    "threads": "parallel('thread')",
    "processes": "parallel('fork')",
    "iterator": "iterated()",
}

# Takes batches until Ctrl-C, again and again, and compares with a stream without it.
STREAM = (
    COUNTED
    + """
import itertools, random
from dali_core.plugin.base_iterator import BaseIterator
from tests.plugin.fake_pipeline import ListAdapter

class Numbers:
    def __call__(self, info):
        return np.int64([info.idx_in_epoch])

class Counted:
    def __iter__(self):
        return ([np.int64([3 * i + k]) for k in range(3)] for i in itertools.count())

def plain(iteration):
    return [np.int64([3 * iteration + k]) for k in range(3)]

def called(**arguments):
    with Pipeline(3, 2, None, **arguments) as pipeline:
        number = fn.python_function(fn.external_source(plain), function=lambda x: x + 0)
        pipeline.set_outputs(number)
    return pipeline

def parallel(method):
    with Pipeline(3, 2, None, py_num_workers=2, py_start_method=method) as pipeline:
        pipeline.set_outputs(fn.external_source(Numbers(), parallel=True, batch=False))
    return pipeline

def native(**arguments):
    files = [ROOT + "/class_0/000.jpg"] * 997
    with Pipeline(3, 2, None, **arguments) as pipeline:
        pipeline.set_outputs(fn.readers.file(
            files=files, labels=list(range(997)), random_shuffle=True, seed=3)[1])
    return pipeline

def iterated():
    return BaseIterator([native()], ["x"], ListAdapter(), size=3 * 10**6)  # no end

def values(batch):
    batch = batch[0]["x"] if isinstance(batch[0], dict) else batch[0].as_array()
    return np.asarray(batch).ravel().tolist()

def taking(made):
    return made.__next__ if hasattr(made, "__next__") else made.run

made, expected = {make}, {make}
take = taking(made)
found = [take()]

# A function: Python 3.13 does not catch what is raised where a loop jumps back within `try`.
def take_until(signals):
    while num_signals < signals:
        batch = take()
        found.append(batch)

signal.signal(signal.SIGALRM, interrupt)
random.seed({seed})
num_lost = 0
for number in range({count}):
    try:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.0002, 0.004))
        take_until(number + 1)
        num_lost += 1
    except KeyboardInterrupt:
        pass
    if len(found) > 300:
        stream = [values(batch) for batch in found]
        other = taking(expected)
        wanted = [values(other()) for _ in found]
        assert stream == wanted, [pair for pair in zip(stream, wanted) if pair[0] != pair[1]][:3]
        found.clear()
found += [take() for _ in range(10)]
stream = [values(batch) for batch in found]
other = taking(expected)
wanted = [values(other()) for _ in found]
missing = sum(batch not in stream for batch in wanted)
print("lost", num_lost, "batches", missing, "in order", stream == wanted)
"""
)


def stream(root: Path, kind: str, count: int, seed: int = 0) -> str:
    """Interrupt a program that takes batches; return what it says."""
    program = STREAM.format(make=STREAMS[kind], seed=seed, count=count)
    result = subprocess.run(
        command_for(root, program),
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS + count,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def main(count: int, kinds: list[str]) -> None:
    """Interrupt programs of some kinds, or of all."""
    with tempfile.TemporaryDirectory() as folder:
        make_folders(Path(folder))
        for kind in kinds or REBUILT:
            if kind in REBUILT:
                print("rebuilt", kind, rebuild(Path(folder), kind, count), end="", flush=True)
        for kind in kinds or STREAMS:
            if kind in STREAMS:
                print("stream", kind, stream(Path(folder), kind, count), end="", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
