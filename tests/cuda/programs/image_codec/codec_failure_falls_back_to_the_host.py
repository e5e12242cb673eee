"""Codec failure falls back to the host."""

import warnings

import numpy as np

from dali_core import fn
from tests.cuda import image_codec
from tests.cuda.programs.image_codec.files import results


def images(data, device):
    return fn.decoders.image(data, device=device)


expected = results(images, "cpu")
image_codec.errors.append(RuntimeError("out of luck"))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    found = results(images, "mixed")
assert all(
    np.abs(one.astype(int) - other).mean() < 1 for one, other in zip(found, expected, strict=True)
)
(warning,) = [str(entry.message) for entry in told]
assert "out of luck" in warning and "DALI_CORE_GPU_DECODER=0" in warning, warning
