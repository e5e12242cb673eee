"""Bad samples are replaced."""

from dali_core import fn
from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected, made
from tests.cuda.programs.sources_on_device.feeding import numbers


def sample(info):
    if info.idx_in_batch == 2:
        raise ValueError("no such sample")
    return DeviceArray(expected(info.iteration)[info.idx_in_batch])


pipeline = made(
    lambda: [fn.external_source(source=sample, batch=False, device="gpu")],
    on_sample_error="replace",
    max_bad_samples=100,
)
for number in range(3):
    assert (numbers(pipeline.run()[0]) == expected(number)[[0, 1, 3, 3]]).all()
assert len(pipeline.bad_samples) == 3
