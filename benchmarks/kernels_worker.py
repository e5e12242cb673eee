"""The worker of ``kernels_before_after.py``: runs calls of the library that it imports.

It is run as a program, with the measured checkout first on ``PYTHONPATH``. Each line of standard
input is a call and how long to run it; each line of standard output is the time of the fastest run.
Needs nothing but the library and NumPy.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import dali_core
from dali_core import fn, types

BATCH_SIZE = 4
# Calls of an operator in one pipeline: many, so that the overhead of a batch is negligible.
CALLS = 4

Call = Callable[..., Any]

IMAGE = (240, 320, 3)
INTEGERS = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64")
FLOATS = ("float16", "float32", "float64")
DTYPES = {
    "bool": types.BOOL,
    "uint8": types.UINT8,
    "int8": types.INT8,
    "uint16": types.UINT16,
    "int16": types.INT16,
    "uint32": types.UINT32,
    "int32": types.INT32,
    "uint64": types.UINT64,
    "int64": types.INT64,
    "float16": types.FLOAT16,
    "float32": types.FLOAT,
    "float64": types.FLOAT64,
}


def calls() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    """Return the calls: name, dtype and shape of the input, its layout, and the function."""
    yield from _reductions()
    yield from _conversions()
    yield from _fillings()
    yield from _windows()
    yield from _images()
    yield from _expressions()
    yield from _others()


def _reductions() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    for dtype in (*INTEGERS, *FLOATS):
        for name in ("sum", "mean", "mean_square", "std_dev", "min", "max"):
            if dtype == "float16" and name in ("min", "max"):
                continue
            function = getattr(fn.reductions, name)
            for axes in (None, [2], [0, 1], [0], [1]):
                if axes == [1] and dtype not in ("uint8", "float32"):
                    continue
                arguments = {} if axes is None else {"axes": axes}
                title = f"reductions.{name} of {dtype}, axes {axes or 'all'}"
                call = _deviation if name == "std_dev" else function
                yield title, dtype, IMAGE, "HWC", _with(call, **arguments)
    for dtype in ("uint8", "int16", "uint32", "float32"):
        for name in ("sum", "max"):
            for shape in ((240, 320, 4), (2400, 7), (2400, 30)):
                title = f"reductions.{name} of {dtype} in runs of {shape[-1]}"
                axis = len(shape) - 1
                yield title, dtype, shape, "", _with(getattr(fn.reductions, name), axes=[axis])


def _conversions() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    for given in (*INTEGERS, *FLOATS, "bool"):
        for wanted in (*INTEGERS, *FLOATS, "bool"):
            if given != wanted:
                yield (
                    f"cast {given} to {wanted}",
                    given,
                    IMAGE,
                    "",
                    _with(fn.cast, dtype=DTYPES[wanted]),
                )


def _fillings() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    for dtype in ("uint8", "int16", "float32", "float64"):
        yield f"full_like of {dtype}, a number", dtype, IMAGE, "", lambda x: fn.full_like(x, 7)
        yield (
            f"full_like of {dtype}, a number for each channel",
            dtype,
            IMAGE,
            "",
            lambda x: fn.full_like(x, [1, 2, 3]),
        )
        yield f"zeros_like of {dtype}", dtype, IMAGE, "", fn.zeros_like
        yield f"ones_like of {dtype}", dtype, IMAGE, "", fn.ones_like
        yield (
            f"pad of {dtype}",
            dtype,
            IMAGE,
            "HWC",
            _with(fn.pad, axes=[0, 1], shape=[300, 400], fill_value=3),
        )
        yield (
            f"erase of {dtype}",
            dtype,
            IMAGE,
            "HWC",
            _with(
                fn.erase, anchor=[20.0, 30.0], shape=[150.0, 200.0], axis_names="HW", fill_value=5.0
            ),
        )
    for dtype in ("int32", "uint8", "float32"):
        for wanted in ("float32", "uint8"):
            yield (
                f"one_hot of {dtype} in {wanted}",
                dtype,
                (5000,),
                "",
                _with(fn.one_hot, num_classes=20, dtype=DTYPES[wanted]),
            )


def _windows() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    for dtype in ("uint8", "int16", "float16", "float32"):
        yield f"crop of {dtype}", dtype, IMAGE, "HWC", _with(fn.crop, crop=[200, 250])
        yield (
            f"slice of channels of {dtype}",
            dtype,
            IMAGE,
            "HWC",
            _with(fn.slice, start=[1], end=[3], axes=[2]),
        )
        yield (
            f"slice of one channel of {dtype}",
            dtype,
            IMAGE,
            "HWC",
            _with(fn.slice, start=[1], end=[2], axes=[2]),
        )
        yield (
            f"slice beyond the border of {dtype}",
            dtype,
            IMAGE,
            "HWC",
            _with(
                fn.slice, start=[-10, -10], end=[200, 200], axes=[0, 1], out_of_bounds_policy="pad"
            ),
        )
        yield (
            f"slice of channels of {dtype} in FLOAT",
            dtype,
            IMAGE,
            "HWC",
            _with(fn.slice, start=[0], end=[2], axes=[2], dtype=types.FLOAT),
        )
        yield (
            f"crop of {dtype} in FLOAT",
            dtype,
            IMAGE,
            "HWC",
            _with(fn.crop, crop=[200, 250], dtype=types.FLOAT),
        )
        yield f"flip of {dtype}", dtype, IMAGE, "HWC", fn.flip
        yield f"transpose of {dtype}", dtype, IMAGE, "HWC", _with(fn.transpose, perm=[2, 0, 1])
        yield f"cat of {dtype}", dtype, IMAGE, "HWC", lambda x: fn.cat(x, x, axis=2)
        yield f"stack of {dtype}", dtype, IMAGE, "HWC", lambda x: fn.stack(x, x)


def _images() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    arguments: dict[str, Any]
    for dtype in ("uint8", "float32"):
        for name, arguments in (
            ("resize", {"resize_x": 200, "resize_y": 150}),
            ("rotate", {"angle": 30.0, "keep_size": True}),
            ("warp_affine", {"matrix": [0.9, 0.1, 3.0, -0.1, 0.9, 5.0]}),
            ("crop_mirror_normalize", {"mean": [100.0], "std": [50.0], "mirror": 1}),
            ("color_twist", {"hue": 20.0, "saturation": 1.2, "brightness": 1.1}),
            ("brightness_contrast", {"brightness": 1.1, "contrast": 0.9}),
            ("gaussian_blur", {"window_size": 5}),
            ("laplacian", {"window_size": 3}),
            ("normalize", {"axes": [0, 1]}),
            ("water", {}),
            ("sphere", {}),
            ("jitter", {}),
        ):
            yield f"{name} of {dtype}", dtype, IMAGE, "HWC", _with(getattr(fn, name), **arguments)
    for name, arguments in (
        ("color_space_conversion", {"image_type": types.RGB, "output_type": types.YCbCr}),
        ("experimental.equalize", {}),
        ("clahe", {"tiles_x": 8, "tiles_y": 8, "clip_limit": 2.0}),
        ("grid_mask", {"tile": 50, "ratio": 0.4}),
        ("jpeg_compression_distortion", {"quality": 50}),
        ("noise.gaussian", {"stddev": 10.0}),
        ("noise.shot", {"factor": 10.0}),
        ("noise.salt_and_pepper", {"prob": 0.1}),
        ("lookup_table", {"keys": [1, 5, 9], "values": [2.0, 3.0, 4.0]}),
    ):
        function: Any = fn
        for part in name.split("."):
            function = getattr(function, part, None)
        if function is not None:
            yield name, "uint8", IMAGE, "HWC", _with(function, **arguments)


def _expressions() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    for dtype in (*INTEGERS, "float32", "float64"):
        yield f"{dtype} + number", dtype, IMAGE, "", lambda x: x + 3
        yield f"{dtype} * float", dtype, IMAGE, "", lambda x: x * 0.5
        yield f"{dtype} < number", dtype, IMAGE, "", lambda x: x < 3
        yield f"(x - 3) / 5 of {dtype}", dtype, IMAGE, "", lambda x: (x - 3.0) / 5.0
        yield f"clamp of {dtype}", dtype, IMAGE, "", lambda x: dali_core.math.clamp(x, 3, 90)
        yield f"min of {dtype}", dtype, IMAGE, "", lambda x: dali_core.math.min(x, 50)
        if dtype in INTEGERS:
            yield f"{dtype} // number", dtype, IMAGE, "", lambda x: x // 3
            yield f"{dtype} & number", dtype, IMAGE, "", lambda x: x & 15


def _others() -> Iterator[tuple[str, str, tuple[int, ...], str, Call]]:
    shape = list(IMAGE)
    yield (
        "random.uniform",
        "uint8",
        (1,),
        "",
        lambda x: fn.random.uniform(range=(0, 1), shape=shape),
    )
    yield "random.normal", "uint8", (1,), "", lambda x: fn.random.normal(shape=shape)
    yield "random.coin_flip", "uint8", (1,), "", lambda x: fn.random.coin_flip(shape=shape)
    yield (
        "coord_transform",
        "float32",
        (50000, 2),
        "",
        _with(fn.coord_transform, M=[0.5, 0.1, -0.1, 0.5]),
    )


def _deviation(data: Any, **arguments: Any) -> Any:
    return fn.reductions.std_dev(data, fn.reductions.mean(data, **arguments), **arguments)


def _with(function: Call, **arguments: Any) -> Call:
    return lambda data: function(data, **arguments)


def _data(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    generator = np.random.default_rng(0)
    return generator.integers(0, 100, shape).astype(dtype)


def _build(dtype: str, shape: tuple[int, ...], layout: str, call: Call) -> Any:
    data = _data(dtype, shape)
    pipeline = dali_core.Pipeline(
        batch_size=BATCH_SIZE,
        num_threads=1,
        seed=1,
        exec_async=False,
        exec_pipelined=False,
        prefetch_queue_depth=1,
    )
    with pipeline:
        given = fn.external_source(lambda _: data, batch=False, layout=layout or None)
        pipeline.set_outputs(*(call(given) for _ in range(CALLS)))
    pipeline.build()
    return pipeline


def _seconds(pipeline: Any, duration: float) -> float:
    """Measure the fastest of some batches, of `duration` in all.

    The minimum depends least on other work of the machine. Processor time would not do: of a thread
    that is not asleep yet, a part is counted later, and the minimum finds runs for which it was.
    """
    times: list[float] = []
    while len(times) < 3 or sum(times) < duration:
        start = time.perf_counter()
        pipeline.run()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    """Process requests until the end of the input."""
    known = {name: (dtype, shape, layout, call) for name, dtype, shape, layout, call in calls()}
    print(json.dumps({"library": dali_core.__file__, "calls": list(known)}), flush=True)
    # Moves what is allocated later, within its pages, too.
    padding = bytearray(random.randrange(1 << 16))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            pipeline = _build(*known[request["call"]])
            answer: dict[str, Any] = {"seconds": _seconds(pipeline, request["seconds"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)
    del padding


if __name__ == "__main__":
    main()
