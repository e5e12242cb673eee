"""Repeated pipelines do not leak."""

from itertools import pairwise

from dali_core import cuda
from tests.cuda.simulated_driver import control
from tests.cuda.small_pipeline import is_right, left, make

seen = []
for number in range(50):
    pipeline = make()
    assert is_right(pipeline.run(), 0)
    if number % 2:
        pipeline.close()
    del pipeline
    assert not left(), left()
    live = control.live()
    seen.append((live["host_bytes"], live["events"], live["modules"], live["pools"]))
_, _, modules, pools = map(max, zip(*seen))
assert (modules, pools) == seen[0][2:], seen
# How many of these there are depends on how far the threads are, but most pipelines need no more.
for counts in list(zip(*seen))[:2]:
    assert sum(later > earlier for earlier, later in pairwise(counts)) < 20, seen
cuda.release_unused_memory()
assert control.live()["host_bytes"] == 0
