"""Capsules."""

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorCPU, TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import (
    Consumer,
    DeviceArray,
    Reading,
    data,
    new_stream,
    slow,
)

source = slow(data)
tensor = TensorGPU(source)


def export(**arguments):
    return Consumer(tensor.__dlpack__(**arguments))


old, new = export(), export(max_version=(1, 1))
assert (old.flags, new.flags) == (None, 0)
for consumer in (old, new, export(dl_device=(2, 0), copy=False)):
    assert (consumer.device, consumer.address) == ((2, 0), tensor.data_ptr())
    assert (consumer.shape, consumer.strides) == ((2, 3, 4), (12, 4, 1))
    consumer.give_back()
stream = new_stream()
copied = export(stream=stream, max_version=(1, 0), copy=True)
assert copied.flags == 2
assert copied.address != tensor.data_ptr()
numpy.testing.assert_array_equal(Reading(copied.address, data, stream).result(), data)
copied.give_back()
for version, flags in ((None, None), ((1, 0), 2)):
    host = export(dl_device=(1, 0), max_version=version)
    assert (host.device, host.flags) == ((1, 0), flags)
    host.give_back()
host = TensorCPU(tensor.__dlpack__(dl_device=(1, 0)))
numpy.testing.assert_array_equal(numpy.asarray(host), data)
assert isinstance(tensor.__dlpack__(), type(tensor.__dlpack__(max_version=(1, 0))))
for arguments, error, message in (
    ({"dl_device": (2, 1)}, errors.ExchangeError, "dl_device must be (2, 0)"),
    ({"dl_device": (1, 0), "copy": False}, errors.ExchangeError, "Allow the copy"),
    ({"stream": 0}, errors.ArgumentValueError, "Use 1 for the legacy"),
    ({"stream": -2}, errors.ArgumentValueError, "stream must be a handle"),
    ({"stream": "x"}, errors.ArgumentTypeError, "stream must be an integer"),
):
    with pytest.raises(error) as caught:
        tensor.__dlpack__(**arguments)
    assert message in str(caught.value), caught.value
read_only = TensorGPU(DeviceArray(data, flags=1, versioned=True))
consumer = Consumer(read_only.__dlpack__(max_version=(1, 0)))
assert consumer.flags == 1
consumer.give_back()
assert read_only.__cuda_array_interface__["data"] == (read_only.data_ptr(), True)
with pytest.raises(errors.ExchangeError, match="must be writable"):
    read_only.__dlpack__()
