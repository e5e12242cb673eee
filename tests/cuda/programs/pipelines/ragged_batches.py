"""Ragged batches."""

import gc

import numpy as np

from dali_core import Pipeline
from tests.cuda.simulated_driver import control


def ragged(batch, dtype=np.uint8):
    random = np.random.default_rng(batch)
    return [random.integers(0, 200, (3 + i, 4 + batch % 3, 3)).astype(dtype) for i in range(5)]


def batches(**options):
    number = 0
    while True:
        yield ragged(number, **options)
        number += 1


def made(define, **options):
    options = {"batch_size": 5, "num_threads": 2, "device_id": 0, "seed": 3} | options
    pipeline = Pipeline(**options)
    with pipeline:
        outputs = define()
        pipeline.set_outputs(*(outputs if isinstance(outputs, tuple) else (outputs,)))
    return pipeline


def assert_same(batch, expected):
    batch = batch.as_cpu()
    assert len(batch) == len(expected), (len(batch), len(expected))
    for given, wanted in zip(batch, expected):
        sample = np.array(given)
        assert sample.dtype == wanted.dtype
        assert sample.shape == wanted.shape
        assert (sample == wanted).all()


def left():
    # Besides what is kept for the next pipeline.
    gc.collect()
    kept = {
        "contexts",
        "events",
        "primary_context_retains",
        "modules",
        "pools",
        "host_allocations",
        "host_bytes",
    }
    return {what: count for what, count in control.live().items() if count and what not in kept}
