"""Measure what it costs to call functions of the user, by the way in which they are called.

``python -m benchmarks.user_functions``. Every way inverts the bright bytes of images: of small
ones, for which the time is that of the calls, and of large ones. All ways take turns in one
process; each turn is some batches of a pipeline that is warm. Ways whose packages are missing are
left out.

An operator of an own package is measured as an operator of this library: both are native code.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dali_core import Pipeline, fn, types

from .summary import quartiles

BATCH_SIZE = 32
SIZES = ((8, 8, 3), (224, 224, 3))


def invert(image: Any) -> Any:
    """Invert the bright elements of an array of NumPy, PyTorch or JAX."""
    return image ^ ((image > 127) * np.uint8(255))


def with_python(image: Any) -> Any:
    return fn.python_function(image, function=invert)


def with_python_batches(image: Any) -> Any:
    return fn.python_function(
        image, function=lambda images: [*invert(np.stack(images))], batch_processing=True
    )


def with_torch(image: Any) -> Any:
    import torch

    from dali_core.plugin.pytorch.fn import torch_python_function

    return torch_python_function(
        image, function=lambda image: torch.where(image > 127, 255 - image, image)
    )


def with_jax(image: Any) -> Any:
    import jax

    from dali_core.plugin.jax.fn import jax_function

    invert_batch = jax.jit(lambda images: jax.numpy.where(images > 127, 255 - images, images))
    return jax_function(invert_batch)(image)


def with_numba(image: Any) -> Any:
    from dali_core.plugin.numba.fn.experimental import numba_function

    def compiled(out: Any, image: Any) -> None:
        for y in range(image.shape[0]):
            for x in range(image.shape[1]):
                for channel in range(image.shape[2]):
                    value = image[y, x, channel]
                    out[y, x, channel] = 255 - value if value > 127 else value

    kinds, ndims = [types.UINT8], [3]
    return numba_function(
        image,
        run_fn=compiled,
        out_types=kinds,
        in_types=kinds,
        outs_ndim=ndims,
        ins_ndim=ndims,
    )


def with_native(image: Any) -> Any:
    return fn.lookup_table(
        image, keys=[*range(256)], values=[i if i < 128 else 255 - i for i in range(256)]
    )


WAYS: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda image: image,
    "native operator": with_native,
    "numba_function": with_numba,
    "python_function": with_python,
    "python_function of batches": with_python_batches,
    "torch_python_function": with_torch,
    "jax_function": with_jax,
}


def make(way: Callable[[Any], Any], shape: tuple[int, ...], threads: int) -> Pipeline:
    pipeline = Pipeline(BATCH_SIZE, threads, None, seed=1)
    with pipeline:
        image = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
        pipeline.set_outputs(way(fn.copy(types.Constant(image))))
    return pipeline


def turn(pipeline: Pipeline, batches: int) -> float:
    """Return microseconds per sample."""
    start = time.perf_counter()
    for _ in range(batches):
        pipeline.run()
    return (time.perf_counter() - start) / (batches * BATCH_SIZE) * 1e6


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=20, help="in each turn")
    options = parser.parse_args()
    for shape in SIZES:
        pipelines = {}
        for name, way in WAYS.items():
            try:
                pipelines[name] = make(way, shape, options.threads)
            except ImportError as error:
                print(f"left out: {name} ({error})")
        found: dict[str, list[float]] = {name: [] for name in pipelines}
        for number in range(options.rounds + 1):
            # Rotated, so that none always follows the same other one.
            names = [*pipelines]
            for name in names[number % len(names) :] + names[: number % len(names)]:
                measured = turn(pipelines[name], options.batches)
                if number > 0:  # the first round compiles, and fills pools
                    found[name].append(measured)
        print(f"images of {shape}, {options.threads} threads: microseconds per sample")
        for name, values in found.items():
            spread = quartiles(values)
            print(f"  {name:28} {spread.median:9.1f} ({spread.low:.1f} to {spread.high:.1f})")
        for pipeline in pipelines.values():
            pipeline.close()


if __name__ == "__main__":
    main()
