"""Ragged pipelines."""

import numpy as np

from dali_core import Pipeline, fn, types

SIZE = 16


def images(number):
    random = np.random.default_rng(number)
    shapes = random.integers(60, 140, (SIZE, 2))
    return [np.full((*shape, 3), number % 250, np.uint8) for shape in shapes]


def source():
    number = 0
    while True:
        yield images(number % 4)
        number += 1


def made(define, **options):
    options = {"batch_size": SIZE, "num_threads": 2, "device_id": 0, "seed": 3} | options
    options |= {"prefetch_queue_depth": 1, "exec_pipelined": False, "exec_async": False}
    pipeline = Pipeline(**options)
    with pipeline:
        # Copied by native code, so that each sample has memory of its own.
        pipeline.set_outputs(define(fn.copy(fn.external_source(source=source, layout="HWC"))))
    return pipeline


def random_crops(image):
    return fn.random_resized_crop(image.gpu(), size=(24, 20), antialias=True)


def random_windows(image):
    extents = [fn.random.uniform(range=[30, 60], dtype=types.INT32) for _ in range(2)]
    cropped = fn.crop(image.gpu(), crop_h=extents[0], crop_w=extents[1])
    return fn.resize(cropped, resize_x=extents[1] * 3)
