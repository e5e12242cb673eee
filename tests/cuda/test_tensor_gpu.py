"""Tensors on a device: exchange with other libraries, copies, the order of streams, lifetime.

Computing data is slow in these programs, so a missing wait results in wrong data.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.cuda.simulated_driver import run_simulated

PRELUDE = """
import copy, gc, pickle
import numpy, pytest
from cuda.bindings import driver
from tests.cuda.simulated_driver import control
from tests.cuda.leaks import expect_nothing_left
from tests.waiting import wait_until
expect_nothing_left({devices})
from tests.cuda.other_library import (
    Consumer, DeviceArray, Interface, Reading, call, consume, enter, new_stream
)
from dali_core import errors, types
from dali_core.tensors import TensorCPU, TensorGPU

def slow(array, device=0, seconds=0.05, **stated):
    stream = new_stream(device)
    control.set_delay(seconds, stream)
    return DeviceArray(array, device=device, stream=stream, **stated)

def same(tensor, expected):
    numpy.testing.assert_array_equal(numpy.asarray(tensor.as_cpu()), expected, strict=True)

data = numpy.arange(24, dtype="int16").reshape(2, 3, 4)
"""


def run(program: str, devices: int = 1, **options: object) -> str:
    import textwrap

    text = PRELUDE.format(devices=devices) + textwrap.dedent(program)
    return run_simulated(text, devices=devices, **options)  # type: ignore[arg-type]


def test_properties_and_reinterpretation() -> None:
    run(
        """
        source = DeviceArray(data)
        tensor = TensorGPU(source, "HWC")
        assert tensor.shape() == [2, 3, 4]
        assert (tensor.ndim(), len(tensor), bool(tensor)) == (3, 2, True)
        assert tensor.dtype == types.INT16
        assert tensor.layout() == tensor.get_property("layout") == "HWC"
        assert tensor.source_info() == "" and tensor.get_property("source_info") is None
        assert tensor.data_ptr() == source.pointer
        assert tensor.device_id() == 0
        assert tensor.__dlpack_device__() == (2, 0)
        assert tensor.stream.__cuda_stream__() == (0, tensor.stream.handle)
        same(tensor, data)
        assert str(tensor).startswith("TensorGPU(") and "23]" in str(tensor)
        assert 'device="gpu"' in repr(tensor) and "23]" not in repr(tensor)
        shared = copy.copy(tensor)
        shared.reinterpret(types.UINT16)
        shared.set_layout("CHW")
        assert (tensor.dtype, tensor.layout(), shared.dtype) == (types.INT16, "HWC", types.UINT16)
        assert shared.data_ptr() == tensor.data_ptr()
        with pytest.raises(errors.TensorError, match=r"TensorGPU\\.reinterpret: new_type"):
            tensor.reinterpret(types.FLOAT)
        one = TensorGPU(DeviceArray(data[None].copy()), "NHWC")
        assert one.squeeze(1) is False
        assert one.squeeze() is True and (one.shape(), one.layout()) == ([2, 3, 4], "HWC")
        with pytest.raises(errors.TensorIndexError, match=r"TensorGPU\\.squeeze: dim"):
            one.squeeze(3)
        """
    )


def test_copies_own_their_memory() -> None:
    run(
        """
        source = slow(data)
        tensor = TensorGPU(source, "HWC")
        deep = copy.deepcopy(tensor)
        loaded = pickle.loads(pickle.dumps(tensor))
        assert len({deep.data_ptr(), loaded.data_ptr(), tensor.data_ptr()}) == 3
        for other in (deep, loaded):
            assert (other.layout(), other.dtype, other.device_id()) == ("HWC", types.INT16, 0)
            same(other, data)
        empty = copy.deepcopy(pickle.loads(pickle.dumps(TensorGPU(
            Interface(source, shape=(3, 0), data=(0, False), stream=None)))))
        assert (empty.shape(), empty.device_id()) == ([3, 0], 0)
        same(empty, numpy.zeros((3, 0), "int16"))
        """
    )


@pytest.mark.parametrize("stream", ["None", "1", "2", "own"])
def test_consumer_streams_wait_without_host_synchronization(stream: str) -> None:
    run(
        f"""
        own, busy = new_stream(), new_stream()
        with control.held(busy):
            tensor = TensorGPU(DeviceArray(data, stream=busy))
            before = control.device_wide()
            capsule = tensor.__dlpack__(stream={stream})
            assert control.device_wide() == before
        used = {{None: 1}}.get({stream}, {stream})
        numpy.testing.assert_array_equal(consume(capsule, data, used), data)
        """
    )


def test_reading_without_stream_wait_is_too_early() -> None:
    # This is what the tests above would detect.
    run(
        """
        busy = new_stream()
        with control.held(busy):
            tensor = TensorGPU(DeviceArray(data, stream=busy))
            got = consume(tensor.__dlpack__(stream=-1), data, new_stream())
        assert not numpy.array_equal(got, data)
        """
    )


def test_capsules() -> None:
    run(
        """
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
        assert copied.flags == 2 and copied.address != tensor.data_ptr()
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
            (dict(dl_device=(2, 1)), errors.ExchangeError, "dl_device must be (2, 0)"),
            (dict(dl_device=(1, 0), copy=False), errors.ExchangeError, "Allow the copy"),
            (dict(stream=0), errors.ArgumentValueError, "Use 1 for the legacy"),
            (dict(stream=-2), errors.ArgumentValueError, "stream must be a handle"),
            (dict(stream="x"), errors.ArgumentTypeError, "stream must be an integer"),
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
        """
    )


def test_memory_is_reused_after_consumer_streams() -> None:
    run(
        """
        source = slow(data)
        tensor = copy.deepcopy(TensorGPU(source))
        stream = new_stream()
        control.set_delay(0.3, stream)
        consumer = Consumer(tensor.__dlpack__(stream=stream))
        reading = Reading(consumer.address, data, stream)
        # Nobody has it any more, and others may ask for memory.
        consumer.give_back()
        del tensor
        other = copy.deepcopy(TensorGPU(DeviceArray(data + 1)))
        numpy.testing.assert_array_equal(reading.result(), data)
        same(other, data + 1)
        """
    )


def test_imported_memory_is_released_after_use() -> None:
    run(
        """
        source = slow(data)
        target = DeviceArray(numpy.zeros_like(data))
        stream = new_stream()
        def use(make):
            tensor = make()
            tensor.copy_to_external(target.pointer, stream, non_blocking=True)
            TensorGPU(tensor).__dlpack__(stream=stream)
        for make in (
            lambda: TensorGPU(source),
            lambda: TensorGPU(source.__dlpack__(stream=stream), "", stream),
        ):
            returned = source.producer.num_returned
            with control.held(stream):
                use(make)
                assert source.producer.num_returned == returned
            call(driver.cuStreamSynchronize, stream)
            # When the next ones come, those that are done with go.
            wait_until(lambda: TensorGPU(target) and source.producer.num_returned > returned)
            assert source.producer.num_returned == returned + 1
        numpy.testing.assert_array_equal(Reading(target.pointer, data, stream).result(), data)
        """
    )


def test_import_from_dlpack() -> None:
    run(
        """
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
        """
    )


def test_cuda_array_interface_consumers_that_ignore_the_stream() -> None:
    """As PyTorch does: it reads in its own stream, the default one, and then drops the tensor."""
    run(
        """
        for _ in range(3):
            tensor = TensorGPU(Interface(slow(data)))
            copied = copy.deepcopy(tensor)  # memory of ours, which is reused
            del tensor
            interface = copied.__cuda_array_interface__
            control.set_delay(0.05, 1)
            reading = Reading(interface["data"][0], data, 1)
            del copied
            control.set_delay(0, 1)
            other = TensorGPU(DeviceArray(data + 1))
            again = [copy.deepcopy(other) for _ in range(3)]
            numpy.testing.assert_array_equal(reading.result(), data, strict=True)
            for each in again:
                same(each, data + 1)
        """
    )


@pytest.mark.parametrize("holds", [True, False])
def test_framework_releases_before_its_asynchronous_read(holds: bool) -> None:
    """As XLA does. Reading imported memory is too late, unless it is held until it was copied."""
    output = run(
        f"""
        from tests.cuda.xla_like import Client

        client = Client()
        data = data.view("u1").copy()
        tensor = copy.deepcopy(TensorGPU(DeviceArray(data)))  # memory of ours
        stream = tensor.stream
        with control.held(client.compute):
            array = client.from_dlpack(tensor)
            if {holds}:
                array = client.copied(array)
            reading = client.read(array)
            del array, tensor
            gc.collect()
            # What the simulated driver takes back is gone when the stream gets there.
            stream.synchronize()
            assert len(client.pending) == {holds}
        assert (reading.result() == data).all()
        client.pending.release()
        assert len(client.pending) == 0
        """,
        expect_failure=not holds,
    )
    assert ("CUDA_ERROR_ILLEGAL_ADDRESS" in output) != holds


def test_import_from_cuda_array_interface() -> None:
    run(
        """
        source = slow(data)
        tensor = TensorGPU(Interface(source))
        assert (tensor.stream.handle, tensor.data_ptr()) == (source.stream, source.pointer)
        assert tensor.__cuda_array_interface__ == {
            "shape": (2, 3, 4), "typestr": "<i2", "data": (source.pointer, False),
            "version": 3, "strides": None, "stream": 1,
        }
        same(tensor, data)
        tensor = TensorGPU(Interface(source, stream=None, strides=(24, 8, 2)), "HWC", 0)
        same(tensor, data)
        scalar = Interface(source, stream=None, shape=(), data=(source.pointer, True))
        same(TensorGPU(scalar, device_id=0), data[0, 0, 0])
        assert TensorGPU(scalar).__cuda_array_interface__["data"] == (source.pointer, True)
        for changes, error, message in (
            ({"stream": 0}, errors.ArgumentValueError, "ambiguous"),
            ({"mask": source}, errors.ExchangeError, "must have no mask"),
            ({"strides": (24, 2, 6)}, errors.ExchangeError, "dense and row-major"),
            ({"typestr": ">i2"}, errors.ExchangeError, "byte order"),
            ({"typestr": "<c8"}, errors.ArgumentTypeError, "must be numbers"),
            ({"data": (data.ctypes.data, False)}, errors.ExchangeError, "memory of the host"),
        ):
            with pytest.raises(error) as caught:
                TensorGPU(Interface(source, **changes))
            assert message in str(caught.value), caught.value
        with pytest.raises(errors.ArgumentValueError, match="must be on device_id 1"):
            TensorGPU(Interface(source), None, 1)
        with pytest.raises(errors.ArgumentTypeError, match="either stream or device_id"):
            TensorGPU(Interface(source), None, 0, stream=1)
        """
    )


@pytest.mark.parametrize("kernel", [False, True])
def test_copy_to_external(kernel: bool) -> None:
    run(
        f"""
        odd = numpy.arange(1037, dtype="uint8")
        source = slow(odd)
        tensor = TensorGPU(source)
        target = DeviceArray(numpy.zeros(1040, "uint8"))
        stream = new_stream()
        def kernels():
            return control.counts().get("kernel", 0)
        for offset in (0, 3):
            before = kernels()
            tensor.copy_to_external(target.pointer + offset, stream, True, {kernel})
            got = Reading(target.pointer + offset, odd, stream).result()
            numpy.testing.assert_array_equal(got, odd)
            assert kernels() - before == {int(kernel)}
        # Without a stream that of all, and the caller waits for it.
        control.set_delay(0.02, 1)
        tensor.copy_to_external(target.pointer + 1, use_copy_kernel={kernel})
        numpy.testing.assert_array_equal(Reading(target.pointer + 1, odd, stream).result(), odd)
        # The host is no place that kernels reach.
        host = numpy.zeros_like(odd)
        tensor.copy_to_external(host.ctypes.data, stream, use_copy_kernel={kernel})
        numpy.testing.assert_array_equal(host, odd)
        with pytest.raises(errors.ArgumentTypeError, match="TensorGPU.copy_to_external: ptr"):
            tensor.copy_to_external(0)
        """
    )


def test_rejects_host_access() -> None:
    run(
        """
        source = DeviceArray(data)
        tensor = TensorGPU(source)
        for read in (numpy.asarray, numpy.array, TensorCPU):
            with pytest.raises((errors.ExchangeError, errors.ArgumentTypeError)) as caught:
                read(tensor)
            assert "host" in str(caught.value)
        with pytest.raises(errors.ExchangeError, match=r"Call as_cpu\\(\\) first"):
            numpy.asarray(tensor)
        with pytest.raises(TypeError):
            memoryview(tensor)
        """
    )


def test_other_devices() -> None:
    run(
        """
        source = slow(data, device=1)
        enter(0)
        tensor = TensorGPU(source)
        assert (tensor.device_id(), tensor.stream.device_id) == (1, 1)
        assert tensor.__dlpack_device__() == (2, 1)
        same(copy.deepcopy(tensor), data)
        same(TensorGPU(Interface(source)), data)
        assert int(call(driver.cuCtxGetDevice)) == 0
        assert pickle.loads(pickle.dumps(tensor)).device_id() == 1
        with pytest.raises(errors.ArgumentValueError, match="primary context of device 1"):
            tensor.__dlpack__(stream=new_stream(0))
        """,
        devices=2,
    )


def test_import_works_without_cuda() -> None:
    program = (
        "import sys\n"
        "before = set(sys.modules)\n"
        "from dali_core.tensors import TensorGPU, TensorListGPU\n"
        "tops = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(tops & {'cuda', 'nvidia'}), len(TensorListGPU()))\n"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    assert result.stdout.splitlines() == ["[] 0"]
