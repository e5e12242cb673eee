"""Rejects invalid device data."""

from dali_core import fn, types
from dali_core.errors import ArgumentTypeError, ExchangeError, SampleError
from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected, made
from tests.cuda.programs.sources_on_device.feeding import fed, raised


def on_device(number):
    return DeviceArray(expected(number))


on_host = made(lambda: [fn.external_source(name="data")])
message = raised(ArgumentTypeError, lambda: on_host.feed_input("data", on_device(0)))
assert "output 0 must be on the host" in message and "device='gpu'" in message, message


def moved_and(other):
    data = fn.external_source(source=on_device)
    return [data.gpu(), other(data)]


readers = [
    lambda: [fn.external_source(source=on_device)],
    lambda: moved_and(lambda data: data + 1),
    lambda: moved_and(lambda data: data),
]
for outputs in readers:
    message = raised(SampleError, made(outputs).run)
    assert "fn.external_source, at" in message and "device='gpu'" in message, message

for options, part in (({"dtype": types.FLOAT}, "dtype"), ({"ndim": 3}, "ndim")):
    message = raised(
        SampleError,
        made(lambda: [fn.external_source(source=on_device, device="gpu", **options)]).run,
    )
    assert f"must return data with {part}" in message, message

pipeline = fed()
mixed = [on_device(0), expected(0)]
assert "must be in the memory of a GPU" in raised(
    ExchangeError, lambda: pipeline.feed_input("data", mixed)
)
assert "Stream.wrap: stream must" in raised(
    ArgumentTypeError, lambda: pipeline.feed_input("data", on_device(0), cuda_stream="mine")
)
