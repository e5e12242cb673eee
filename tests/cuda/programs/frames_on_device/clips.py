"""Clips."""

import numpy as np

from dali_core import fn
from dali_core.tensors import TensorListCPU, TensorListGPU
from tests.cuda.programs.pipeline_streams.pipelines import made

clips = [np.random.default_rng(i).integers(0, 256, (4, 5 + i, 7, 3), np.uint8) for i in range(3)]
# Some frames stay as they are; one of the samples has a single value for all frames.
values = [np.float32([1, 0.5, 1, 2]), np.float32([1, 1, 1, 1]), np.float32([0.7])]


def result(operator, device, dtype, layout="FHWC", numbers=None, **arguments):
    def outputs():
        data = [clip.astype(dtype) for clip in clips]
        clip = fn.external_source(source=lambda: data, layout=layout, device="cpu")
        taken = numbers or values
        given = fn.per_frame(fn.external_source(source=lambda: taken))
        clip = clip.gpu() if device == "gpu" else clip
        made = operator(clip, given)
        assert made.device == device
        return [made]

    (batch,) = made(outputs, batch_size=3).run()
    assert isinstance(batch, TensorListGPU if device == "gpu" else TensorListCPU)
    layout = batch.layout()
    batch = batch.as_cpu() if device == "gpu" else batch
    return [np.array(sample) for sample in batch], layout


def compare(operator, dtype):
    expected, layout = result(operator, "cpu", dtype)
    found, found_layout = result(operator, "gpu", dtype)
    assert layout == found_layout == "FHWC"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return found
