"""Operators after device source."""

from dali_core import fn
from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected, made
from tests.cuda.programs.sources_on_device.feeding import numbers

for device in (0, 1):

    def source(number):
        return DeviceArray(expected(number), device=device)

    pipeline = made(lambda: [fn.external_source(source=source).gpu() * 2])
    for number in range(4):
        (batch,) = pipeline.run()
        assert batch.device_id() == 0
        assert (numbers(batch) == 2 * expected(number)).all(), (device, number)
