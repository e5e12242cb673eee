"""Batches on a device: constructors, views, gathering and copies."""

from __future__ import annotations

import pytest

from tests.cuda.test_tensor_gpu import run

BATCH = """
from dali_core.tensors import TensorListCPU, TensorListGPU

sizes = ((5, 7), (3, 2), (4, 9))
images = [numpy.arange(h * w * 3, dtype="uint8").reshape(h, w, 3) for h, w in sizes]
equal = numpy.arange(24, dtype="float32").reshape(4, 2, 3)

def same_list(batch, expected):
    on_host = batch.as_cpu()
    assert isinstance(on_host, TensorListCPU) and len(on_host) == len(expected)
    for got, wanted in zip(on_host, expected):
        numpy.testing.assert_array_equal(numpy.asarray(got), wanted, strict=True)

def kernels():
    return control.counts().get("kernel", 0)
"""


def run_batch(program: str, devices: int = 1) -> None:
    import textwrap

    run(BATCH + textwrap.dedent(program), devices)


def test_construct_from_samples() -> None:
    run_batch(
        """
        sources = [slow(image) for image in images]
        before = kernels(), control.counts().get("cuMemAllocFromPoolAsync", 0)
        batch = TensorListGPU(sources, "HWC")
        after = kernels(), control.counts()["cuMemAllocFromPoolAsync"]
        # One launch, for which its list of copies goes to the device.
        assert (after[1] - before[1]) == 2
        same_list(batch, images)
        assert kernels() == before[0] + 1
        assert batch.shape() == [(5, 7, 3), (3, 2, 3), (4, 9, 3)]
        assert (len(batch), batch.ndim(), batch.layout()) == (3, 3, "HWC")
        assert (batch.dtype, batch.device_id()) == (types.UINT8, 0)
        assert not batch.is_dense_tensor()
        assert batch[1].data_ptr() == batch.data_ptr() + images[0].nbytes
        shared = TensorListGPU(sources, None, False)
        assert [tensor.data_ptr() for tensor in shared] == [source.pointer for source in sources]
        same_list(shared, images)
        named = TensorListGPU(list_of_tensors=list(shared), contiguous=False)
        assert named[2].data_ptr() == sources[2].pointer
        for given, error, message in (
            ([sources[0], DeviceArray(equal[0].copy())], errors.ArgumentTypeError, "one dtype"),
            ([TensorGPU(sources[0], "HWC"), TensorGPU(sources[1], "CHW")],
             errors.ArgumentTypeError, "one layout"),
            ([images[0]], errors.ExchangeError, "Feed it to a pipeline"),
        ):
            with pytest.raises(error) as caught:
                TensorListGPU(given)
            assert message in str(caught.value), caught.value
        """
    )


def test_construct_from_array_or_list() -> None:
    run_batch(
        """
        source = slow(equal)
        for batch in (
            TensorListGPU(source, "HW"), TensorListGPU(source.__dlpack__(), "HW"),
            TensorListGPU(Interface(source), "HW", 0), TensorListGPU(object=source, layout="HW"),
            TensorListGPU(tl=TensorListGPU(source), layout="HW"),
            TensorListGPU(source, "HW", source.stream),
        ):
            assert (batch.layout(), batch.shape()) == ("HW", [(2, 3)] * 4)
            assert batch.data_ptr() == source.pointer and batch.is_dense_tensor()
            same_list(batch, equal)
        scalar = Interface(source, shape=())
        with pytest.raises(errors.TensorError, match="batch as its first dimension"):
            TensorListGPU(scalar)
        with pytest.raises(errors.ArgumentValueError, match="must be on device_id 1"):
            TensorListGPU(Interface(source), None, 1)
        with pytest.raises(errors.ArgumentTypeError, match="without stream and device_id"):
            TensorListGPU(TensorListGPU(source), None, source.stream)
        many = TensorListGPU.broadcast(TensorGPU(source, "NHW"), 3)
        assert (len(many), many.layout()) == (3, "NHW")
        assert {tensor.data_ptr() for tensor in many} == {source.pointer}
        same_list(many, [equal] * 3)
        assert many.as_tensor().shape() == [3, 4, 2, 3]
        with pytest.raises(errors.ArgumentValueError, match="must not be negative"):
            TensorListGPU.broadcast(TensorGPU(source), -1)
        stream = new_stream()
        listed = TensorListGPU.from_dlpack_list([source, source], "NHW", stream)
        assert source.consumer_streams[-2:] == [stream] * 2
        assert listed[1].data_ptr() == source.pointer
        same_list(TensorListGPU.from_dlpack_list([source], contiguous=True), [equal])
        with pytest.raises(errors.ArgumentTypeError, match="item 1 must support DLPack"):
            TensorListGPU.from_dlpack_list([source, 3])
        empty = TensorListGPU()
        assert (len(empty), empty.shape(), empty.data_ptr(), empty.device_id()) == (0, [], 0, -1)
        same_list(empty, [])
        assert len(pickle.loads(pickle.dumps(empty))) == 0
        """
    )


def test_samples_and_slices() -> None:
    run_batch(
        """
        sources = [slow(image) for image in images]
        batch = TensorListGPU(sources, "HWC")
        same(batch[0], images[0])
        same(batch[-1], images[2])
        same(batch.at(1), images[1])
        same_list(batch[::2], [images[0], images[2]])
        same_list(batch[1:], images[1:])
        assert batch[1:].layout() == "HWC" and batch[1:].data_ptr() == batch[1].data_ptr()
        assert len(batch[3:]) == 0 and batch[3:].device_id() == 0
        for index in (3, -4):
            with pytest.raises(errors.TensorIndexError, match="TensorListGPU: index must be below"):
                batch[index]
        with pytest.raises(errors.ArgumentTypeError, match="index must be an integer"):
            batch["x"]
        with pytest.raises(errors.ExchangeError, match=r"Call as_cpu\\(\\) first"):
            numpy.asarray(batch)
        text = str(batch[:2])
        assert text.startswith("TensorListGPU(") and 'device="gpu"' in text and "104]" in text
        assert "num_samples=2" in repr(batch[:2])
        batch.reinterpret(types.INT8)
        assert batch[1].dtype == types.INT8
        batch.set_layout("")
        assert batch.layout() == ""
        batch.reset()
        assert (len(batch), batch.device_id(), batch.stream) == (0, -1, None)
        """
    )


def test_viewed_as_one_tensor() -> None:
    run_batch(
        """
        source = slow(equal)
        batch = TensorListGPU(source, "HW")
        before = kernels()
        whole = batch.as_tensor()
        assert (whole.data_ptr(), whole.layout()) == (source.pointer, "NHW")
        same(whole, equal)
        same(batch.as_reshaped_tensor([3, 8]), equal.reshape(3, 8))
        assert kernels() == before
        with pytest.raises(errors.TensorError, match="shape must have 24 elements"):
            batch.as_reshaped_tensor([5, 5])
        # Every second sample: apart in memory, moved together at the first need, by one launch.
        part = batch[::2]
        joined = part.as_tensor()
        same(joined, equal[::2])
        assert part.data_ptr() == joined.data_ptr() != source.pointer
        same(part[1], equal[2])
        assert kernels() == before + 1
        ragged = TensorListGPU([slow(image) for image in images], contiguous=False)
        count = sum(image.size for image in images)
        same(ragged.as_reshaped_tensor([count]), numpy.concatenate([i.ravel() for i in images]))
        with pytest.raises(errors.TensorError, match="all samples must have the same"):
            ragged.as_tensor()
        """
    )


def test_contiguous_samples_of_several_owners_are_one_view() -> None:
    # Contiguous, but each released separately: a view of all keeps them all alive.
    run_batch(
        """
        source = slow(equal)
        row = equal[0].nbytes
        class Row:
            def __init__(self, number):
                self.array, self.stream = equal[number], source.stream
                self.pointer = source.pointer + number * row
        rows = [TensorGPU(Interface(Row(number))) for number in range(4)]
        batch = TensorListGPU(rows, contiguous=False)
        assert batch[1].data_ptr() == source.pointer + row
        whole = batch.as_tensor()
        assert whole.data_ptr() != source.pointer
        same(whole, equal)
        """
    )


def test_copies() -> None:
    run_batch(
        """
        sources = [slow(image) for image in images]
        batch = TensorListGPU(sources, "HWC", False)
        for other in (copy.deepcopy(batch), pickle.loads(pickle.dumps(batch))):
            assert other.layout() == "HWC" and other.device_id() == 0
            assert other[0].data_ptr() not in {source.pointer for source in sources}
            same_list(other, images)
        assert copy.copy(batch)[0].data_ptr() == sources[0].pointer
        """
    )


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize("kernel", [False, True])
def test_copy_to_external(contiguous: bool, kernel: bool) -> None:
    run_batch(
        f"""
        sources = [slow(image) for image in images]
        batch = TensorListGPU(sources, "HWC", {contiguous})
        expected = numpy.concatenate([image.ravel() for image in images])
        target = DeviceArray(numpy.zeros(expected.size + 8, "uint8"))
        stream = new_stream()
        call(driver.cuStreamSynchronize, sources[2].stream)
        # The kernel is loaded at its first use.
        same_list(TensorListGPU(list(batch)), images)
        before, wide = kernels(), control.device_wide()
        with control.held(stream):
            batch.copy_to_external(target.pointer + 1, stream, True, {kernel})
            assert control.device_wide() == wide
        got = Reading(target.pointer + 1, expected, stream).result()
        numpy.testing.assert_array_equal(got, expected)
        assert kernels() - before == {int(kernel or not contiguous)}
        control.set_delay(0.05, stream)
        host = numpy.zeros_like(expected)
        batch.copy_to_external(host.ctypes.data, cuda_stream=stream)
        numpy.testing.assert_array_equal(host, expected)
        """
    )


def test_copies_of_any_size_and_alignment() -> None:
    run_batch(
        """
        random = numpy.random.default_rng(5)
        block = random.integers(0, 256, 40000, "uint8")
        source = DeviceArray(block)
        begins = random.integers(0, 20000, 200)
        sizes = numpy.concatenate([numpy.arange(100), random.integers(0, 20000, 100)])
        pieces = [block[begin : begin + size] for begin, size in zip(begins, sizes)]
        class Piece:
            def __init__(self, begin, array):
                self.array, self.stream = array, source.stream
                self.pointer = source.pointer + int(begin)
        batch = TensorListGPU(
            [TensorGPU(Interface(Piece(*piece)), "") for piece in zip(begins, pieces)])
        same_list(batch, pieces)
        """
    )


def test_tensor_list_is_on_one_device() -> None:
    run_batch(
        """
        sources = [slow(image, device=device) for device, image in enumerate(images[:2])]
        with pytest.raises(errors.ArgumentValueError, match="samples on devices 0 and 1"):
            TensorListGPU(sources)
        batch = TensorListGPU(sources[1:], "HWC")
        assert (batch.device_id(), batch.stream.device_id) == (1, 1)
        same_list(batch, images[1:2])
        """,
        devices=2,
    )


def test_calls_of_the_driver_that_fail() -> None:
    run_batch(
        """
        sources = [slow(image) for image in images]
        target = DeviceArray(numpy.zeros(1000, "uint8"))
        batch = TensorListGPU(sources, "HWC", False)
        uses = {
            "as_cpu": lambda: batch.as_cpu(),
            "gathered": lambda: batch[:].data_ptr(),
            "copied": lambda: batch.copy_to_external(target.pointer),
            "exported": lambda: batch[0].__dlpack__(stream=target.stream),
            "copied and exported": lambda: batch[0].__dlpack__(stream=target.stream, copy=True),
            "imported": lambda: TensorListGPU(sources, "HWC", False),
            "pickled": lambda: pickle.loads(pickle.dumps(batch)),
        }
        for use in uses.values():
            use()
        failed = set()
        for function in (
            "cuMemAllocFromPoolAsync", "cuMemcpyAsync", "cuLaunchKernel", "cuStreamWaitEvent",
            "cuEventRecord", "cuEventSynchronize", "cuStreamGetCtx", "cuPointerGetAttribute",
        ):
            for name, use in uses.items():
                # Only the last call, so that all others have been made.
                before = control.counts().get(function, 0)
                use()
                calls = control.counts().get(function, 0) - before
                if calls == 0:
                    continue
                control.fail(function, "CUDA_ERROR_INVALID_VALUE", after=calls - 1)
                try:
                    use()
                except errors.DaliCoreError as error:
                    failed.add(function)
                    assert isinstance(error, errors.CudaError), (function, name, error)
                control.fail(function, "CUDA_ERROR_INVALID_VALUE", times=0)
                same_list(batch, images)
        assert len(failed) == 8, failed
        control.fail("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY", times=9)
        with pytest.raises(errors.OutOfDeviceMemoryError, match="must be left"):
            batch[:].as_reshaped_tensor([sum(image.size for image in images)])
        control.fail("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY", times=0)
        same_list(batch[:], images)
        """
    )
