"""External sources on a device."""

from dali_core import fn, types
from dali_core.testing.examples import list_of
from tests.cuda.other_library import DeviceArray
from tests.cuda.programs.pipeline_streams.pipelines import expected, made
from tests.cuda.programs.sources_on_device.feeding import numbers, raised


def batch(number):
    array = DeviceArray(expected(number))
    streams.append(array.stream)
    return array


def sample(info):
    return DeviceArray(expected(info.iteration)[info.idx_in_batch])


def both():
    for number in range(5):
        yield DeviceArray(expected(number)), list(expected(number))


streams = []
sources = [
    {"source": batch},
    {"source": sample, "batch": False},
    {"source": both, "num_outputs": 2},
]
for options in sources:
    for exec_async in (True, False):
        pipeline = made(
            lambda: list_of(fn.external_source(device="gpu", dtype=types.INT32, ndim=1, **options)),
            exec_async=exec_async,
        )
        for number in range(5):
            for output in pipeline.run():
                assert (numbers(output) == expected(number)).all()
        if options["source"] is both:
            raised(StopIteration, pipeline.run)
