"""Data on a device as input of pipelines."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.cuda.test_pipeline_streams import PRELUDE

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

FED = """
from cuda.bindings import driver

def fed(**options):
    return made(
        lambda: [fn.external_source(name="data", device="gpu", **options)], prefetch_queue_depth=1
    )

def numbers(batch):
    assert isinstance(batch, TensorListGPU)
    return np.asarray(batch.as_cpu().as_tensor())

def overwrite(array):
    assert driver.cuMemsetD8Async(array.pointer, 7, array.num_bytes, array.stream)[0] == 0

def raised(error, action):
    try:
        action()
    except error as caught:
        return str(caught)
    raise AssertionError(f"{error.__name__} was not raised")
"""


def run(program: str, **options: object) -> str:
    return run_simulated(PRELUDE + FED + program, **options)  # type: ignore[arg-type]


def test_feed_input_accepts_device_data() -> None:
    """As a batch or as samples; by either protocol; tensors of this library; and host data."""
    run(
        """
def interface(array):
    return Interface(DeviceArray(array))

def tensor(array):
    return TensorGPU(DeviceArray(array))

pipeline = fed()
ways = [DeviceArray, interface, tensor, TensorListGPU, np.copy]
number = 0
for make in ways:
    for as_list in (False, True):
        data = expected(number)
        if make is TensorListGPU:
            data = TensorListGPU(DeviceArray(data))
        elif as_list:
            data = [make(sample) for sample in data]
        else:
            data = make(data)
        pipeline.feed_input("data", data, layout="X")
        (batch,) = pipeline.run()
        assert (numbers(batch) == expected(number)).all(), (make, as_list)
        assert batch.layout() == "X"
        number += 1

pipeline = fed()
ragged = [np.full((i + 1, 2), i, np.float32) for i in range(3)]
pipeline.feed_input("data", [DeviceArray(sample) for sample in ragged])
(batch,) = pipeline.run()
assert batch.shape() == [(1, 2), (2, 2), (3, 2)]
assert all((np.asarray(a) == b).all() for a, b in zip(batch.as_cpu(), ragged, strict=True))
""",
        delay=0.001,
    )


def test_user_and_pipeline_streams_are_ordered() -> None:
    """The data is computed late, and overwritten in the same stream after it was fed."""
    run(
        """
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
""",
        delay=0.002,
    )


def test_feed_input_without_stream_synchronizes() -> None:
    run(
        """
pipeline = fed()
for number, options in enumerate(({}, {"cuda_stream": -1})):
    array = DeviceArray(expected(number))
    pipeline.feed_input("data", array, **options)
    overwrite(array)
    assert (numbers(pipeline.run()[0]) == expected(number)).all()
""",
        delay=0.02,
    )


def test_pytorch_tensors_use_its_current_stream() -> None:
    """A fake: the test checks that the library is asked for its stream."""
    run(
        """
import types

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
"""
    )


def test_external_sources_on_a_device() -> None:
    """Functions for batches and for samples, iterables, several outputs."""
    run(
        """
def batch(number):
    array = DeviceArray(expected(number))
    streams.append(array.stream)
    return array

def sample(info):
    return DeviceArray(expected(info.iteration)[info.idx_in_batch])

def both():
    for number in range(5):
        yield DeviceArray(expected(number)), [sample for sample in expected(number)]

streams = []
sources = [
    {"source": batch}, {"source": sample, "batch": False}, {"source": both, "num_outputs": 2},
]
for options in sources:
    for exec_async in (True, False):
        pipeline = made(
            lambda: (lambda out: out if isinstance(out, list) else [out])(
                fn.external_source(device="gpu", dtype=types.INT32, ndim=1, **options)
            ),
            exec_async=exec_async,
        )
        for number in range(5):
            for output in pipeline.run():
                assert (numbers(output) == expected(number)).all()
        if options["source"] is both:
            raised(StopIteration, pipeline.run)
""",
        delay=0.001,
    )


def test_operators_after_device_source() -> None:
    """The data is used in place on the same device, or copied from another one."""
    run(
        """
for device in (0, 1):
    source = lambda number: DeviceArray(expected(number), device=device)
    pipeline = made(lambda: [fn.external_source(source=source).gpu() * 2])
    for number in range(4):
        (batch,) = pipeline.run()
        assert batch.device_id() == 0
        assert (numbers(batch) == 2 * expected(number)).all(), (device, number)
""",
        devices=2,
        delay=0.001,
    )


def test_memory_of_fed_data_is_released() -> None:
    run(
        """
def held():
    gc.collect()
    live = control.live()
    return {name: live[name] for name in ("allocations", "streams")}

pipeline = fed(repeat_last=True)
array = DeviceArray(expected(0))
for number in range(20):
    pipeline.feed_input("data", array)
    for _ in range(3):
        (batch,) = pipeline.run()
        assert (numbers(batch) == expected(0)).all()
    if number == 1:
        most = held()
wait_until(lambda: all(count <= most[name] for name, count in held().items()), held)
pipeline.close()
del pipeline, batch
wait_until(lambda: held()["allocations"] == 1, held)
"""
    )


def test_rejects_invalid_device_data() -> None:
    run(
        """
def on_device(number):
    return DeviceArray(expected(number))

on_host = made(lambda: [fn.external_source(name="data")])
message = raised(ArgumentTypeError, lambda: on_host.feed_input("data", on_device(0)))
assert "output 0 must be on the host" in message and "device='gpu'" in message, message

readers = [
    lambda: [fn.external_source(source=on_device)],
    lambda: (lambda data: [data.gpu(), data + 1])(fn.external_source(source=on_device)),
    lambda: (lambda data: [data.gpu(), data])(fn.external_source(source=on_device)),
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
"""
    )


def test_bad_samples_are_replaced() -> None:
    """A function that fails for a sample: it is replaced by the next good one, on a device, too."""
    run(
        """
def sample(info):
    if info.idx_in_batch == 2:
        raise ValueError("no such sample")
    return DeviceArray(expected(info.iteration)[info.idx_in_batch])

pipeline = made(
    lambda: [fn.external_source(source=sample, batch=False, device="gpu")],
    on_sample_error="replace", max_bad_samples=100,
)
for number in range(3):
    assert (numbers(pipeline.run()[0]) == expected(number)[[0, 1, 3, 3]]).all()
assert len(pipeline.bad_samples) == 3
"""
    )
