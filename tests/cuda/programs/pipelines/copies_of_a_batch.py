"""Copies of a batch."""

import json
import sys

import numpy as np

from dali_core import Pipeline, fn
from tests.cuda.programs.pipelines.ragged_batches import assert_same
from tests.cuda.simulated_driver import control

batch_size = json.loads(sys.argv[1])


def samples(number):
    random = np.random.default_rng(number)
    return random.integers(0, 256, (1 + number % 7, 5 + number % 3, 3)).astype(np.uint8)


def source():
    batch = 0
    while True:
        yield [samples(batch + i) for i in range(batch_size)]
        batch += 1


def moved(**options):
    pipeline = Pipeline(
        batch_size=batch_size,
        num_threads=2,
        device_id=0,
        prefetch_queue_depth=1,
        exec_pipelined=False,
        exec_async=False,
    )
    with pipeline:
        # Copied by native code, so that each sample has memory of its own.
        there = fn.copy(fn.external_source(source=source)).gpu()
        pipeline.set_outputs(there, fn.copy(there).cpu())
    return pipeline


pipeline = moved()
for batch in range(4):
    before = control.counts().get("cuMemcpyAsync", 0)
    there, back = pipeline.run()
    copies = control.counts()["cuMemcpyAsync"] - before
    # Those of the samples there and back, or the list of what kernels gather; in two stages.
    assert copies <= (2 * batch_size if batch_size <= 4 else 2) + 2, copies
    wanted = [samples(batch + i) for i in range(batch_size)]
    before = control.counts()["cuMemcpyAsync"]
    assert_same(there, wanted)
    assert control.counts()["cuMemcpyAsync"] - before <= 4
    assert_same(back, wanted)
pipeline.close()
