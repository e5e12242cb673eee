"""Warnings of definitions that are probably mistakes."""

from __future__ import annotations

import random
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def, types
from tests.generated_images import jpeg, photo_like

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def build(define: Callable[[Any], Any], tmp_path: Path) -> list[str]:
    """Build a pipeline of what a function makes of encoded photos; return the warnings."""
    path = tmp_path / "photo.jpg"
    path.write_bytes(jpeg(photo_like(16, 16)))
    with (
        warnings.catch_warnings(record=True) as caught,
        Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline,
    ):
        warnings.simplefilter("always")
        encoded, _ = fn.readers.file(files=[str(path)])
        pipeline.set_outputs(define(encoded))
        pipeline.build()
        pipeline.run()
        pipeline.run()
    assert all(warning.filename == __file__ for warning in caught)
    return [str(warning.message) for warning in caught]


def normalized(image: Any, **arguments: Any) -> Any:
    return fn.crop_mirror_normalize(image, **{"mean": MEAN, "std": STD, **arguments})


def flipped(encoded: Any) -> Any:
    image = fn.resize(fn.decoders.image(encoded), size=[8, 8])
    return normalized(fn.brightness(fn.flip(image), brightness=1.1))


@pytest.mark.parametrize(
    "define",
    [
        lambda encoded: normalized(fn.decoders.image(encoded)),
        lambda encoded: normalized(fn.decoders.image_random_crop(encoded)),
        lambda encoded: normalized(fn.cast(fn.decoders.image(encoded), dtype=types.UINT8)),
        flipped,
    ],
)
def test_means_of_other_ranges(define: Callable[[Any], Any], tmp_path: Path) -> None:
    (message,) = build(define, tmp_path)
    assert message.startswith(f"fn.crop_mirror_normalize at {__file__}:")
    assert "(got mean=[0.485, 0.456, 0.406], as for images from 0 to 1)" in message
    assert message.endswith(
        "255 times as much: mean=[123.675, 116.28, 103.53], std=[58.395, 57.12, 57.375]."
    )


def test_mean_of_normalize(tmp_path: Path) -> None:
    (message,) = build(
        lambda encoded: fn.normalize(fn.decoders.image(encoded), mean=0.5, stddev=0.25), tmp_path
    )
    assert message.endswith("255 times as much: mean=127.5, stddev=63.75.")


@pytest.mark.parametrize(
    "define",
    [
        lambda encoded: normalized(fn.decoders.image(encoded), mean=[123.675, 116.28, 103.53]),
        lambda encoded: normalized(fn.decoders.image(encoded), mean=[0.0, 0.0, 0.0]),
        lambda encoded: normalized(fn.decoders.image(encoded) / 255),
        lambda encoded: normalized(fn.cast(fn.decoders.image(encoded), dtype=types.FLOAT)),
        lambda encoded: normalized(
            fn.resize(fn.decoders.image(encoded), size=8, dtype=types.FLOAT)
        ),
        lambda encoded: normalized(fn.decoders.image(encoded, dtype=types.FLOAT)),
        lambda encoded: fn.normalize(fn.decoders.image(encoded)),
    ],
)
def test_no_warning_of_other_types_and_means(define: Callable[[Any], Any], tmp_path: Path) -> None:
    assert build(define, tmp_path) == []


def constant(value: float) -> Any:
    return fn.constant(fdata=[value])


@pytest.mark.parametrize(
    ("draw", "generator"),
    [
        (random.random, r"\(got some of random\)"),
        (lambda: float(np.random.rand()), r"\(got some of numpy\.random\)"),
        (lambda: random.random() + np.random.rand(), "random and numpy.random"),
    ],
)
def test_numbers_that_are_drawn_in_a_definition(draw: Callable[[], float], generator: str) -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def augmented() -> Any:
        return constant(draw())

    with pytest.warns(UserWarning, match=rf"pipeline_def: augmented\(\).*{generator}") as caught:
        augmented()
    assert len(caught) == 1
    assert "fn.random.uniform" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_numbers_that_are_drawn_by_define_graph() -> None:
    class Photos(Pipeline):
        def define_graph(self) -> Any:
            return constant(random.uniform(0, 1))

    with (
        Photos(batch_size=1, num_threads=1, device_id=None) as pipeline,
        pytest.warns(UserWarning, match=r"Photos\.define_graph\(\)"),
    ):
        pipeline.build()


def test_no_warning_of_other_draws() -> None:
    @pipeline_def(batch_size=2, num_threads=1, device_id=None)
    def augmented(angle: float) -> Any:
        random.seed(1)
        np.random.seed(1)
        own = random.Random(2).random() + np.random.default_rng(3).random()
        return constant(angle + own), fn.random.uniform(seed=7)

    pipeline = augmented(random.random(), seed=random.randrange(1000))
    pipeline.run()
    random.random()
    pipeline.run()
    pipeline.close()


def test_definitions_leave_the_generators_alone() -> None:
    @pipeline_def(batch_size=1, num_threads=1, device_id=None)
    def plain() -> Any:
        return constant(1.0)

    random.seed(5)
    expected = random.random()
    random.seed(5)
    thread = threading.Thread(target=plain)
    thread.start()
    thread.join()
    assert random.random() == expected
