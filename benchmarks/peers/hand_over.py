"""Conversion of batches to a framework, for the libraries with the same API.

`FRAMEWORKS` has one function for each framework. It takes a library and returns, by name, actions
for `measurements.hand_over`: each is a pair of a function that prepares a batch, which is not
measured, and the measured function.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import ModuleType
from typing import Any

SIDE = 224
Action = tuple[Callable[[], Any], Callable[[Any], Any]]


def actions(
    library: ModuleType, framework: str, batch_size: int
) -> tuple[str, dict[str, Callable[[], Action]]]:
    """Return the version of a framework, and the actions that are supported with it.

    Parameters
    ----------
    library : module
        `dali_core` or `nvidia.dali`.
    framework : str
        One of `FRAMEWORKS`.
    batch_size : int
        Samples in a batch.
    """
    plugin = importlib.import_module(f"{library.__name__}.plugin.{framework}")
    return FRAMEWORKS[framework](library, plugin, batch_size)


def _pytorch(
    library: ModuleType, plugin: ModuleType, batch_size: int
) -> tuple[str, dict[str, Callable[[], Action]]]:
    import torch

    is_ours = library.__name__ == "dali_core"

    def copied(tensor: Any) -> torch.Tensor:
        # The conversion of each output in the reference's iterators.
        target = torch.empty(tensor.shape(), dtype=plugin.to_torch_type[tensor.dtype])
        plugin.feed_ndarray(tensor, target)
        return target

    handed_over = torch.from_dlpack if is_ours else copied

    def dense() -> Action:
        pipeline = _images_and_labels(library, batch_size)
        return pipeline.run, lambda outputs: [handed_over(batch.as_tensor()) for batch in outputs]

    def dlpack() -> Action:
        pipeline = _images_and_labels(library, batch_size)
        return pipeline.run, lambda outputs: [
            torch.from_dlpack(batch.as_tensor()) for batch in outputs
        ]

    def ragged() -> Action:
        pipeline = _ragged(library, batch_size)
        return pipeline.run, lambda outputs: [
            [handed_over(batch[index]) for index in range(batch_size)] for batch in outputs
        ]

    def iterator() -> Action:
        pipeline = _small(library, batch_size)
        batches = plugin.DALIGenericIterator(pipeline, ["a", "b"])
        return lambda: None, lambda _: next(batches)

    return torch.__version__, {
        "dense": dense,
        "dlpack": dlpack,
        "ragged": ragged,
        "iterator": iterator,
    }


def _jax(
    library: ModuleType, plugin: ModuleType, batch_size: int
) -> tuple[str, dict[str, Callable[[], Action]]]:
    import jax

    # On a machine with a GPU, the time would be that of copying to it.
    jax.config.update("jax_platforms", "cpu")
    handed_over = _to_jax(library)

    def dense() -> Action:
        pipeline = _images_and_labels(library, batch_size)
        return pipeline.run, lambda outputs: [handed_over(batch) for batch in outputs]

    def dlpack() -> Action:
        pipeline = _images_and_labels(library, batch_size)
        return pipeline.run, lambda outputs: [
            jax.dlpack.from_dlpack(batch.as_tensor()) for batch in outputs
        ]

    def iterator() -> Action:
        pipeline = _small(library, batch_size)
        batches = plugin.DALIGenericIterator(pipeline, ["a", "b"])
        return lambda: None, lambda _: next(batches)

    return jax.__version__, {"dense": dense, "dlpack": dlpack, "iterator": iterator}


def _to_jax(library: ModuleType) -> Callable[[Any], Any]:
    """Return the conversion of each output in the iterators of a library."""
    import jax
    import numpy

    if library.__name__ == "dali_core":
        from dali_core_jax.placement import OnOneDevice

        place = OnOneDevice().place
        return lambda batch: place([numpy.asarray(batch.as_tensor())])
    # A lower bound: the reference's arrays share the memory of its pipeline, too.
    return lambda batch: jax.dlpack.from_dlpack(batch.as_tensor())


FRAMEWORKS = {"jax": _jax, "pytorch": _pytorch}


def _images_and_labels(library: ModuleType, batch_size: int) -> Any:
    types = library.types
    return _built(
        library,
        batch_size,
        lambda: (
            library.fn.zeros(shape=[SIDE, SIDE, 3], dtype=types.UINT8),
            library.fn.zeros(shape=[1], dtype=types.INT32),
        ),
    )


def _ragged(library: ModuleType, batch_size: int) -> Any:
    import numpy

    random = numpy.random.default_rng(1)
    shapes = [
        numpy.array([*random.integers(SIDE // 2, 3 * SIDE // 2, 2), 3], numpy.int32)
        for _ in range(batch_size)
    ]
    return _built(
        library,
        batch_size,
        lambda: library.fn.zeros(
            shape=library.fn.external_source(source=lambda: shapes), dtype=library.types.UINT8
        ),
    )


def _small(library: ModuleType, batch_size: int) -> Any:
    random = library.fn.random
    return _built(
        library, batch_size, lambda: (random.uniform(range=[0.0, 1.0]), random.coin_flip())
    )


def _built(library: ModuleType, batch_size: int, graph: Callable[[], Any]) -> Any:
    pipeline = library.pipeline_def(graph)(
        batch_size=batch_size, num_threads=1, device_id=None, seed=1
    )
    pipeline.build()
    return pipeline
