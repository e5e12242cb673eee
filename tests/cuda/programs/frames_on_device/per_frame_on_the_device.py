"""Per frame on the device."""

import numpy as np

from dali_core import fn
from tests.cuda.programs.frames_on_device.clips import clips
from tests.cuda.programs.pipeline_streams.pipelines import made


def marked(device):
    def outputs():
        clip = fn.external_source(source=lambda: clips, layout="DHWC")
        clip = clip.gpu() if device == "gpu" else clip
        return [fn.per_frame(clip, replace=True)]

    (batch,) = made(outputs, batch_size=3).run()
    assert batch.layout() == "FHWC"
    return batch.as_cpu() if device == "gpu" else batch


for one, other in zip(marked("gpu"), marked("cpu"), strict=True):
    np.testing.assert_array_equal(np.array(one), np.array(other), strict=True)
