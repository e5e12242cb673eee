"""Allocations and context switches of a batch."""

from tests.cuda.programs.batch_costs.ragged_pipelines import made, random_crops, random_windows
from tests.cuda.simulated_driver import control

names = ("cuMemAllocFromPoolAsync", "cuCtxPushCurrent", "cuMemcpyAsync", "cuMemHostAlloc")
for define in (random_crops, random_windows):
    pipeline = made(define)
    counted = []
    for _ in range(20):
        before = control.counts()
        pipeline.run()
        after = control.counts()
        counted.append([after.get(name, 0) - before.get(name, 0) for name in names])
    # A block of pinned memory is entered for, too, until the pool has enough of them.
    costs = sorted(costs for *costs, pinned in counted[8:] if pinned == 0)
    assert len(costs) >= 8, counted
    # One batch may need more than all before it.
    assert costs[-2][0] <= 3, counted
    assert all(contexts <= 4 and copies == 1 for _, contexts, copies in costs), counted
    pipeline.close()
