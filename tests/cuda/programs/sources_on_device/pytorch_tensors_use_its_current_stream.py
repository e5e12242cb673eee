"""Pytorch tensors use its current stream."""

import sys
import types

from tests.cuda.other_library import DeviceArray, new_stream
from tests.cuda.programs.pipeline_streams.pipelines import expected
from tests.cuda.programs.sources_on_device.feeding import fed, numbers, overwrite
from tests.cuda.simulated_driver import control


class Stream:
    cuda_stream = new_stream()


asked = []
torch = types.ModuleType("torch")
torch.cuda = types.SimpleNamespace(current_stream=lambda device: asked.append(device) or Stream)
sys.modules["torch"] = torch
Tensor = type("Tensor", (DeviceArray,), {"__module__": "torch"})

pipeline = fed()
pipeline.build()
control.set_delay(0.02, Stream.cuda_stream)
array = Tensor(expected(5), stream=Stream.cuda_stream)
before = control.counts().get("cuEventSynchronize", 0)
pipeline.feed_input("data", [array])
assert control.counts().get("cuEventSynchronize", 0) == before
overwrite(array)
assert asked == [0]
assert (numbers(pipeline.run()[0]) == expected(5)[None]).all()
