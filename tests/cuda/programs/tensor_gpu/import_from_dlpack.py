"""Import from dlpack."""

import numpy
import pytest

from dali_core import errors
from dali_core.tensors import TensorCPU, TensorGPU
from tests.cuda.programs.tensor_gpu.tensors import (
    DeviceArray,
    Reading,
    data,
    new_stream,
    same,
    slow,
)

for versioned in (False, True):
    source = slow(data, versioned=versioned)
    tensor = TensorGPU(source)
    assert source.consumer_streams == [tensor.stream.handle]
    assert tensor.stream.handle not in (0, source.stream)
    same(tensor, data)
    stream = new_stream()
    tensor = TensorGPU(source, "HWC", stream)
    assert source.consumer_streams[1:] == [stream] == [tensor.stream.handle]
    same(tensor, data)
    # Whoever makes a capsule for nobody lets the default stream wait.
    tensor = TensorGPU(source.__dlpack__())
    assert tensor.stream.handle == 1
    same(tensor, data)
transposed = numpy.arange(6.0).reshape(2, 3).T
for array, stated, message in (
    (transposed, {}, "dense and row-major"),
    (data, {"kind": 1}, "must be in the memory of a GPU"),
    (data, {"kind": 10}, "must be in the memory of a GPU"),
    (data, {"lanes": 2}, "Convert it first"),
):
    source = DeviceArray(array, **stated)
    for given in (source, source.__dlpack__()):
        with pytest.raises((errors.ExchangeError, errors.ArgumentTypeError)) as caught:
            TensorGPU(given)
        assert message in str(caught.value), caught.value
source = DeviceArray(data)
for given, arguments, error, message in (
    (data, {}, errors.ExchangeError, "Feed it to a pipeline"),
    (TensorCPU(data), {}, errors.ExchangeError, "Feed it to a pipeline"),
    ([1, 2], {}, errors.ArgumentTypeError, "must have __dlpack__"),
    (source, {"device_id": 1}, errors.ArgumentValueError, "must be on device_id 1"),
    (source, {"layout": "HW"}, errors.ArgumentValueError, "one ASCII letter"),
    (source, {"stream": "x"}, errors.ArgumentTypeError, "stream must be"),
):
    with pytest.raises(error) as caught:
        TensorGPU(given, **arguments)
    assert message in str(caught.value), caught.value
stream = new_stream()
moved = TensorGPU(TensorGPU(slow(data)), None, stream)
assert moved.stream.handle == stream
numpy.testing.assert_array_equal(Reading(moved.data_ptr(), data, stream).result(), data)
with pytest.raises(errors.ArgumentValueError, match="must be on device_id 1"):
    TensorGPU(moved, device_id=1)
with pytest.raises(errors.ArgumentTypeError, match="one of the names object"):
    TensorGPU()
