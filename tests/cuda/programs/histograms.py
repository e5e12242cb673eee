"""Equalized histograms on a device are those of the host."""

from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from tests.cuda.programs.image_operators import check
from tests.operators.suite import numbers


def check_equalize() -> None:
    """Channels in groups, images in parts, and images that begin anywhere."""
    for layout, shapes in {
        "HW": [(1, 1), (7, 9), (3, 5)],
        "HWC": [(6, 5, 3), (11, 3, 3)],
        "FHWC": [(2, 5, 7, 5), (3, 4, 3, 5)],
        "FCHW": [(2, 3, 5, 7)],
        "CHW": [(3, 4, 0), (3, 4, 5)],
    }.items():
        data = [numbers("uint8", shape, i) // 3 + 20 for i, shape in enumerate(shapes)]
        check([fn.equalize], data, layout)
    large = numbers("uint8", (331, 301), 1)
    single = np.full((5, 6), 9, np.uint8)
    check([fn.equalize], [large, single], "HW")
    check([fn.equalize], [np.stack([large, large // 2], axis=-1)], "HWC")
    clip = numbers("uint8", (4, 23, 31, 3), 1) // 2
    for channels in (3, 1):
        check([fn.equalize], [clip[..., :channels]] * 3, "FHWC")


def pipeline_of(*outputs: Any) -> Pipeline:
    """A pipeline with the outputs that functions without arguments make."""
    pipeline = Pipeline(batch_size=3, num_threads=1, device_id=0, prefetch_queue_depth=1)
    with pipeline:
        pipeline.set_outputs(*(output() for output in outputs))
    return pipeline


def check_unaligned_input(channels: int) -> None:
    """An image in memory of others begins at any byte, and the output does not."""
    data = [numbers("uint8", (37, 41, channels), number) // 2 for number in range(3)]
    first = pipeline_of(lambda: fn.external_source(source=lambda: data, layout="HWC").gpu())
    (batch,) = first.run()
    assert batch[1].data_ptr() % 4 != 0
    given = {"source": lambda: [batch[1]], "device": "gpu", "no_copy": True, "layout": "HWC"}
    pipeline = pipeline_of(
        lambda: fn.equalize(fn.external_source(**given)),
        lambda: fn.equalize(fn.external_source(source=lambda: [data[1]], layout="HWC")),
    )
    on_device, on_host = pipeline.run()
    np.testing.assert_array_equal(np.array(on_device.as_cpu()[0]), np.array(on_host[0]))
    pipeline.close()
    first.close()
