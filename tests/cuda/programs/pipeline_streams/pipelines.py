"""Pipelines."""

import numpy as np

from dali_core import Pipeline, fn


def expected(number):
    return np.arange(24, dtype=np.int32).reshape(4, 6) + 100 * number


def made(outputs, **options):
    pipeline = Pipeline(**({"batch_size": 4, "num_threads": 1, "device_id": 0} | options))
    with pipeline:
        pipeline.set_outputs(*outputs())
    return pipeline


def numbered(**options):
    return [fn.external_source(source=expected, **options)]
