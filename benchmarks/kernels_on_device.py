"""Kernels to measure, with timing events in the pipeline's own stream."""

from __future__ import annotations

import ctypes
import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from types import TracebackType
from typing import Any

import numpy
from cuda.bindings import driver

from dali_core import Pipeline, cuda, fn, types

from .peers.photo_settings import MEAN, STANDARD_DEVIATION

BATCH_BYTES = 256_000_000
QUICK_BYTES = 20_000
HEIGHT, WIDTH = 1080, 1920
# The work that keeps the stream busy has to take longer than enqueueing an operator: so many copies
# at first, and twice as many whenever they were not enough.
BUSY_COPIES = 24
MOST_BUSY_COPIES = 24 << 5
MORE = 2


def _normalised(dtype: Any) -> Callable[[Any, int, int], Any]:
    return lambda image, *_: fn.crop_mirror_normalize(
        image, dtype=dtype, mean=list(MEAN), std=list(STANDARD_DEVIATION), output_layout="CHW"
    )


def _resized(share: float, antialias: bool = False) -> Callable[[Any, int, int], Any]:
    return lambda image, height, width: fn.resize(
        image,
        resize_y=round(height * share),
        resize_x=round(width * share),
        antialias=antialias,
    )


@dataclass(frozen=True)
class Case:
    """An operator on a batch of images on the device.

    `define` also takes the height and the width of the images. `bar` is the expected ratio to the
    throughput of a copy; `part` is the fraction of its input that it has to read.
    """

    name: str
    define: Callable[[Any, int, int], Any]
    bar: float = 0.0
    part: float = 1.0


CASES = (
    Case("normalise to float, CHW", _normalised(types.FLOAT), 0.8),
    Case("normalise to float16, CHW", _normalised(types.FLOAT16), 0.8),
    Case("cast to float", lambda image, *_: fn.cast(image, dtype=types.FLOAT), 0.8),
    Case("cast to float16", lambda image, *_: fn.cast(image, dtype=types.FLOAT16), 0.8),
    Case("flip left to right", lambda image, *_: fn.flip(image, horizontal=1), 0.8),
    Case("flip top to bottom", lambda image, *_: fn.flip(image, horizontal=0, vertical=1), 0.8),
    Case("transpose to CHW", lambda image, *_: fn.transpose(image, perm=[2, 0, 1]), 0.8),
    Case("transpose to WHC", lambda image, *_: fn.transpose(image, perm=[1, 0, 2]), 0.8),
    Case(
        "crop",
        lambda image, height, width: fn.crop(image, crop=(height // 2, width // 2)),
        part=0.25,
    ),
    Case("resample to a half", _resized(0.5), 0.6),
    Case("resample to a half, antialias", _resized(0.5, antialias=True), 0.6),
    Case("resample to a fifth, antialias", _resized(0.2, antialias=True), 0.6),
    Case("resample to twice", _resized(2.0), 0.6),
    Case("expression (image - mean) / 59", lambda image, *_: (image - 117.0) / 59.0),
    Case("rotate by 20 degrees", lambda image, *_: fn.rotate(image, angle=20.0, keep_size=True)),
    Case("blur by 3 x 3", lambda image, *_: fn.gaussian_blur(image, window_size=3)),
    Case("blur by 9 x 9", lambda image, *_: fn.gaussian_blur(image, window_size=9)),
    Case("equalize", lambda image, *_: fn.equalize(image)),
    Case("color twist", lambda image, *_: fn.color_twist(image, hue=20.0, saturation=1.2)),
    Case("brightness", lambda image, *_: fn.brightness(image, brightness=1.2)),
    Case("lookup table", lambda image, *_: fn.lookup_table(image, keys=[1, 2], values=[3, 4])),
    Case("erase", lambda image, *_: fn.erase(image, anchor=[9.0, 9.0], shape=[99.0, 99.0])),
    Case(
        "pad by 8",
        lambda image, height, width: fn.pad(
            image, axes=[0, 1], shape=[height + 8, width + 8], fill_value=7
        ),
    ),
    Case("normalize", lambda image, *_: fn.normalize(image)),
    Case("normalize channels", lambda image, *_: fn.normalize(image, axes=[0, 1])),
    Case("mean of all", lambda image, *_: fn.reductions.mean(image)),
    Case("mean of channels", lambda image, *_: fn.reductions.mean(image, axes=[0, 1])),
    Case("mean over channels", lambda image, *_: fn.reductions.mean(image, axes=[2])),
    Case("gaussian noise", lambda image, *_: fn.noise.gaussian(image, stddev=10.0)),
    Case("salt and pepper", lambda image, *_: fn.noise.salt_and_pepper(image, prob=0.1)),
    Case("shot noise", lambda image, *_: fn.noise.shot(image, factor=20.0)),
    Case("JPEG distortion", lambda image, *_: fn.jpeg_compression_distortion(image, quality=50)),
    Case("copy", lambda image, *_: fn.copy(image)),
)


def device_description() -> tuple[str, str, str]:
    """Return the name of the device, the version of the driver, and the date."""
    name = cuda.device_name(0)
    version = _done(driver.cuDriverGetVersion())
    return name, f"for CUDA {version // 1000}.{version % 1000 // 10}", date.today().isoformat()


class Bench:
    """A batch of images on the device, and pipelines that read it.

    Parameters
    ----------
    nbytes : int
        Least size of the batch.
    """

    def __init__(self, nbytes: int) -> None:
        scale = 1.0 if nbytes >= HEIGHT * WIDTH * 3 else math.sqrt(nbytes / (HEIGHT * WIDTH * 12))
        # Unaligned rows would be another measurement.
        height, width = (max(16, round(side * scale) // 8 * 8) for side in (HEIGHT, WIDTH))
        self._sides = (height, width)
        self.num_images = math.ceil(nbytes / (height * width * 3))
        generator = numpy.random.default_rng(0)
        image = generator.integers(0, 256, (height, width, 3), numpy.uint8)
        self._images = [image] * self.num_images
        self._nbytes = self.num_images * image.nbytes
        self._pipelines: dict[tuple[str, int], Pipeline] = {}
        self._written: dict[str, int] = {}
        self._begin, self._end = (None, None)
        self._busy_copies = BUSY_COPIES

    def __enter__(self) -> Bench:
        _done(driver.cuInit(0))
        self._context = _done(driver.cuDevicePrimaryCtxRetain(self._first_device()))
        _done(driver.cuCtxSetCurrent(self._context))
        self._begin, self._end = (_done(driver.cuEventCreate(0)) for _ in range(2))
        self._stream = _done(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
        self._from, self._to = (_done(driver.cuMemAlloc(self._nbytes)) for _ in range(2))
        _done(driver.cuMemsetD8(self._from, 1, self._nbytes))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for pipeline in self._pipelines.values():
            pipeline.close()
        self._pipelines.clear()
        for pointer in (self._from, self._to):
            _done(driver.cuMemFree(pointer))
        for event in (self._begin, self._end):
            _done(driver.cuEventDestroy(event))
        _done(driver.cuStreamDestroy(self._stream))
        _done(driver.cuDevicePrimaryCtxRelease(self._first_device()))

    def copy(self) -> float:
        """Measure the throughput in bytes per second of a copy on the device."""

        def queue() -> None:
            _done(driver.cuMemcpyDtoDAsync(self._to, self._from, self._nbytes, self._stream))

        return 2 * self._nbytes / self._seconds(self._stream, queue)

    def kernel(self, case: Case) -> float:
        """Measure the throughput in bytes per second of an operator.

        The time is that of additional calls in one pipeline, since inputs are copied first.
        """
        times = []
        for repeats in (1, 1 + MORE):
            pipeline = self._pipeline(case, repeats)
            stream = driver.CUstream(pipeline.run()[0].stream.handle)
            times.append(self._seconds(stream, lambda run=pipeline.run: run() and None))
        seconds = max((times[1] - times[0]) / MORE, 1e-9)
        return (self._nbytes * case.part + self._written[case.name]) / seconds

    def device_wide_waits(self) -> dict[str, int] | None:
        """Return the number of synchronizing calls in a steady-state loop.

        Only the simulated driver counts them; None for a real one.
        """
        if "Simulated" not in cuda.device_name(0):
            return None
        library = ctypes.CDLL("libcuda.so.1")
        library.simulated_counts.restype = ctypes.c_char_p
        counts = []
        for runs in (4, 3):  # warm-up: later batches reuse the memory of these
            for pipeline in self._pipelines.values():
                for _ in range(runs):
                    pipeline.run()
            counts.append(json.loads(library.simulated_counts(1)))
        before, after = counts
        return {name: n - before[name] for name, n in after.items() if n != before.get(name, 0)}

    def _seconds(self, stream: Any, queue: Callable[[], None]) -> float:
        """Measure the device time of the work that `queue` enqueues in a stream."""
        while True:
            for _ in range(self._busy_copies):
                _done(driver.cuMemcpyDtoDAsync(self._to, self._from, self._nbytes, stream))
            _done(driver.cuEventRecord(self._begin, stream))
            queue()
            _done(driver.cuEventRecord(self._end, stream))
            was_busy = not _is_done(self._begin)
            _done(driver.cuEventSynchronize(self._end))
            if was_busy or self._nbytes < BATCH_BYTES:
                break
            if self._busy_copies >= MOST_BUSY_COPIES:
                raise RuntimeError(
                    "benchmarks.gpu: the device must be busy until all is queued (it was idle "
                    f"before, after {self._busy_copies} copies). Raise MOST_BUSY_COPIES."
                )
            self._busy_copies *= 2
        milliseconds: float = _done(driver.cuEventElapsedTime(self._begin, self._end))
        return milliseconds / 1000

    def _pipeline(self, case: Case, repeats: int) -> Pipeline:
        if (case.name, repeats) not in self._pipelines:
            # In the thread that measures, one batch at a time.
            pipeline = Pipeline(
                self.num_images, 4, 0, exec_async=False, exec_pipelined=False, seed=1
            )
            there = self._on_device()
            with pipeline:
                image = fn.external_source(source=lambda: there, device="gpu", layout="HWC")
                pipeline.set_outputs(*(case.define(image, *self._sides) for _ in range(repeats)))
            batch = pipeline.run()[0]
            itemsize = numpy.dtype(types.to_numpy_type(batch.dtype)).itemsize
            self._written[case.name] = sum(map(math.prod, batch.shape())) * itemsize
            self._pipelines[case.name, repeats] = pipeline
        return self._pipelines[case.name, repeats]

    def _on_device(self) -> Any:
        if not hasattr(self, "_batch"):
            pipeline = Pipeline(self.num_images, 4, 0, exec_async=False, exec_pipelined=False)
            with pipeline:
                image = fn.external_source(source=lambda: self._images, layout="HWC")
                pipeline.set_outputs(image.gpu())
            (self._batch,) = pipeline.run()
            pipeline.close()
        return self._batch

    @staticmethod
    def _first_device() -> Any:
        return _done(driver.cuDeviceGet(0))


def _done(result: tuple[Any, ...]) -> Any:
    code, *values = result
    if code != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"benchmarks.gpu: the driver must do it (got {code.name}).")
    return values[0] if values else None


def _is_done(event: Any) -> bool:
    return bool(driver.cuEventQuery(event)[0] == driver.CUresult.CUDA_SUCCESS)
