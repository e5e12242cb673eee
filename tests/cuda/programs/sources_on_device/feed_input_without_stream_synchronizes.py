"""Feed input without stream synchronizes."""

from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected
from tests.cuda.programs.sources_on_device.feeding import fed, numbers, overwrite

pipeline = fed()
for number, options in enumerate(({}, {"cuda_stream": -1})):
    array = DeviceArray(expected(number))
    pipeline.feed_input("data", array, **options)
    overwrite(array)
    assert (numbers(pipeline.run()[0]) == expected(number)).all()
