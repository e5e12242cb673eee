"""Runs augmentations on batches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dali_core import Pipeline, fn, pipeline_def
from tests.generated_images import photo_like

PHOTO = photo_like(70, 90)


def source(samples: Sequence[Any], layout: str | None = None) -> Any:
    """Return a source with the same samples in every batch."""
    arrays = [np.asarray(sample) for sample in samples]
    keywords = {"layout": layout} if layout else {}
    return fn.external_source(lambda number: list(arrays), **keywords)


def indices(values: Sequence[int]) -> Any:
    """Return a source of scalars, INT32."""
    return source(np.array(values, np.int32))


def build(
    define: Callable[[Any], Any], samples: Sequence[np.ndarray], layout: str = "HWC", **options: Any
) -> Pipeline:
    """Make a pipeline with conditionals of a function of images."""
    settings = {"batch_size": len(samples), "num_threads": 2, "device_id": None, "seed": 3}
    settings["enable_conditionals"] = True

    def whole() -> Any:
        return define(source(samples, layout))

    return pipeline_def(whole, **settings | options)()


def run(
    define: Callable[[Any], Any],
    samples: Sequence[np.ndarray] = (PHOTO,),
    layout: str = "HWC",
    **options: Any,
) -> list[np.ndarray]:
    """Run one batch; return the samples of the first output."""
    output = build(define, samples, layout, **options).run()[0]
    return [np.array(sample) for sample in output]
