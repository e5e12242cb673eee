"""Random imperative programs give what the equivalent pipeline gives, however they are run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dali_core.dynamic as dd
from dali_core import fn, pipeline_def

COUNT = 11
SEED = 7


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arrays")
    random = np.random.default_rng(0)
    for number in range(COUNT):
        height, width = random.integers(3, 9, 2)
        array = random.integers(0, 256, (height, width, 3), dtype=np.uint8)
        array[0, 0, 0] = number
        np.save(root / f"{number:02}.npy", array)
    return root


class Imperative:
    """Operators of the imperative API."""

    call: Any = dd

    def __init__(self, label: Any, looks: Sequence[bool]) -> None:
        self._label = label
        self._looks = list(looks)

    def scalar(self, value: Any) -> Any:
        """Take the first element of each sample."""
        return value.slice[0]

    def draw(self) -> Any:
        """Draw a number for each sample."""
        return self.scalar(dd.random.uniform(self._label, range=[-1.0, 1.0]))

    def step(self, value: Any) -> Any:
        """Compute a value in the middle of the program, or leave it pending."""
        return value.evaluate() if self._looks and self._looks.pop() else value


class Recorded:
    """The same in a pipeline."""

    call: Any = fn

    def __init__(self, label: Any) -> None:
        self._label = label

    def scalar(self, value: Any) -> Any:
        """Take the first element of each sample."""
        return value[0]

    def draw(self) -> Any:
        """Draw a number for each sample."""
        return self.scalar(fn.random.uniform(self._label, range=[-1.0, 1.0]))

    def step(self, value: Any) -> Any:
        """Return the value."""
        return value


def _unlike(api: Any, image: Any) -> Any:
    other = api.call.flip(image, horizontal=1)
    return api.call.cast(image, dtype=dd.float32.type_id) * 0.5 + other


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "flip": lambda api, image: api.call.flip(image, vertical=api.draw() > 0.0),
    "rotate": lambda api, image: api.call.rotate(image, angle=api.draw() * 40.0, keep_size=True),
    "resize": lambda api, image: api.call.resize(image, size=(6, 5)),
    "crop": lambda api, image: api.call.crop(
        image, crop=(2, 2), crop_pos_x=(api.draw() + 1.0) / 2.0
    ),
    "noise": lambda api, image: api.call.noise.gaussian(image, stddev=3.0),
    "add": lambda api, image: image + api.draw() * 10.0,
    "scale": lambda api, image: image * 2,
    "colour": lambda api, image: api.call.brightness_contrast(image, brightness=api.draw() + 1.0),
    "both": _unlike,
    "normalize": lambda api, image: api.call.normalize(image, axes=[0, 1]),
}


def _programs() -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(sorted(STEPS)), max_size=6)


def _computed(api: Any, image: Any, program: Sequence[str]) -> Any:
    for name in program:
        image = api.step(STEPS[name](api, image))
    return image


def _of_pipeline(folder: Path, program: Sequence[str]) -> dict[int, bytes]:
    @pipeline_def(batch_size=4, num_threads=2, seed=SEED)
    def pipeline() -> Any:
        array = fn.readers.numpy(file_root=str(folder), random_shuffle=True, seed=2, name="reader")
        label = array[0, 0, :1]
        return label, _computed(Recorded(label), array, program)

    pipe = pipeline()
    found: dict[int, bytes] = {}
    for _ in range(3):
        labels, images = pipe.run()
        for label, image in zip(labels, images, strict=True):
            found.setdefault(int(np.array(label)[0]), np.array(image).tobytes())
    return found


def _of_program(
    folder: Path, program: Sequence[str], size: int | None, looks: Sequence[bool], mode: dd.EvalMode
) -> dict[int, bytes]:
    dd.random.set_seed(SEED)
    reader = dd.readers.Numpy(file_root=str(folder), random_shuffle=True, seed=2)
    found: dict[int, bytes] = {}
    with mode:
        for (array,) in reader.next_epoch(size):
            label = array.slice[0, 0, :1]
            image = _computed(Imperative(label, looks), array, program)
            samples = [(label, image)] if size is None else zip(label, image, strict=True)
            for number, sample in samples:
                found.setdefault(number[0].item(), np.asarray(sample).tobytes())
    return found


@settings(max_examples=60)
@given(
    program=_programs(),
    size=st.sampled_from([1, 2, 3, 4, 7, COUNT, None]),
    looks=st.lists(st.booleans(), max_size=6),
    mode=st.sampled_from(list(dd.EvalMode)),
    num_threads=st.sampled_from([1, 2, 4]),
)
def test_programs_equal_pipelines(
    folder: Path,
    program: list[str],
    size: int | None,
    looks: list[bool],
    mode: dd.EvalMode,
    num_threads: int,
) -> None:
    expected = _of_pipeline(folder, program)
    with dd.EvalContext(num_threads=num_threads):
        found = _of_program(folder, program, size, looks, mode)
    assert len(expected) == COUNT
    assert found == expected


@settings(max_examples=30)
@given(
    program=_programs(), size=st.integers(1, 4), count=st.integers(1, 3), other=st.integers(1, 5)
)
def test_resumed_programs_continue_alike(
    folder: Path, program: list[str], size: int, count: int, other: int
) -> None:
    def rest(reader: Any, batch_size: int, stop: int | None = None) -> dict[int, bytes]:
        found: dict[int, bytes] = {}
        for number, (array,) in enumerate(reader.next_epoch(batch_size), 1):
            label = array.slice[0, 0, :1]
            image = _computed(Imperative(label, ()), array, program)
            for key, sample in zip(label, image, strict=True):
                found.setdefault(key[0].item(), np.asarray(sample).tobytes())
            if number == stop:
                break
        return found

    dd.random.set_seed(SEED)
    arguments: dict[str, Any] = {"file_root": str(folder), "random_shuffle": True, "seed": 2}
    first = dd.readers.Numpy(**arguments)
    seen = rest(first, size, count)
    resumed = dd.readers.Numpy(**arguments)
    resumed.set_state(first.get_state())
    expected = _of_pipeline(folder, program)
    found = rest(resumed, other) | seen
    assert {key: found[key] for key in expected} == expected
