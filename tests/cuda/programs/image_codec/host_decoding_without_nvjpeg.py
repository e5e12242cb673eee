"""Host decoding without nvjpeg."""

import sys

import numpy as np

from dali_core import fn
from tests.cuda.programs.pipeline_streams.pipelines import made


def outputs():
    data = fn.external_source(source=lambda: [np.zeros(3, np.uint8)] * 4)
    return [fn.resize(fn.decoders.image(data, device="mixed"), size=(8, 8))]


plan = str(made(outputs).plan())
assert "on_device" not in plan and "merge" not in plan, plan
assert "nvidia.nvimgcodec" not in sys.modules
assert "dali_core.operators.decoders.on_device.step" not in sys.modules
