"""User and pipeline streams are ordered."""

from tests.cuda.other_library import DeviceArray, Interface
from tests.cuda.programs.pipeline_streams.pipelines import expected
from tests.cuda.programs.sources_on_device.feeding import fed, numbers, overwrite
from tests.cuda.simulated_driver import control

for passed in ("to feed_input", "to the operator", "by the data"):
    array = DeviceArray(expected(0))
    handle = array.stream
    options = {"cuda_stream": handle} if passed == "to the operator" else {}
    pipeline = fed(**options)
    pipeline.build()
    control.set_delay(0.02, handle)
    for number in range(3):
        array = DeviceArray(expected(number), stream=handle)
        plain = Interface(array, stream=handle if passed == "by the data" else None)
        given = handle if passed == "to feed_input" else None
        pipeline.feed_input("data", plain, cuda_stream=given)
        overwrite(array)
        assert (numbers(pipeline.run()[0]) == expected(number)).all(), (passed, number)
