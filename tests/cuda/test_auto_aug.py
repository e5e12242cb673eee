"""Augmentations of samples on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

PRELUDE = """
import numpy as np
from dali_core import fn, pipeline_def
from dali_core.auto_aug import augmentations
from dali_core.auto_aug.core import signed_bin
from dali_core.errors import DaliCoreError

IMAGES = [np.random.default_rng(i).integers(0, 256, (8 + i, 9, 3), np.uint8) for i in range(4)]

@pipeline_def(batch_size=4, num_threads=2, device_id=0, seed=1)
def transformed(names):
    image = fn.external_source(lambda: IMAGES, layout="HWC")
    numbers = fn.external_source(lambda: [np.int32(i) for i in (0, 1, 3, 4)])
    signed = signed_bin(numbers)
    return tuple(
        getattr(augmentations, name)(place, magnitude_bin=signed, num_magnitude_bins=5)
        for name in names
        for place in (image, image.gpu())
    )

def outputs(*names):
    pipeline = transformed(names)
    return [[np.array(sample) for sample in batch.as_cpu()] for batch in pipeline.run()]
"""


def test_results_equal_the_host() -> None:
    names = (
        *("brightness", "color", "posterize", "solarize", "solarize_add", "invert", "identity"),
        *("rotate", "shear_x", "shear_y", "translate_x_no_shape", "sharpness", "equalize"),
        "auto_contrast",
    )
    run_simulated(
        PRELUDE
        + f"""
found = outputs(*{names})
assert len(found) == {2 * len(names)}
for host, device in zip(found[::2], found[1::2]):
    for one, other in zip(host, device):
        assert one.dtype == other.dtype == np.uint8
        assert (one == other).all()
"""
    )


def test_rejects_host_only_augmentations() -> None:
    run_simulated(
        PRELUDE
        + """
try:
    outputs("contrast")
except DaliCoreError as error:
    assert ".cpu()" in str(error), error
else:
    raise AssertionError("nothing was raised")
"""
    )
