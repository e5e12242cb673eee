"""Framework releases before its asynchronous read."""

import copy
import gc
import json
import sys

from dali_core.tensors import TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import DeviceArray, data
from tests.cuda.simulated_driver import control

holds = json.loads(sys.argv[1])
from tests.cuda.xla_like import Client

client = Client()
data = data.view("u1").copy()
tensor = copy.deepcopy(TensorGPU(DeviceArray(data)))  # memory of ours
stream = tensor.stream
with control.held(client.compute):
    array = client.from_dlpack(tensor)
    if holds:
        array = client.copied(array)
    reading = client.read(array)
    del array, tensor
    gc.collect()
    # What the simulated driver takes back is gone when the stream gets there.
    stream.synchronize()
    assert len(client.pending) == holds
assert (reading.result() == data).all()
client.pending.release()
assert len(client.pending) == 0
