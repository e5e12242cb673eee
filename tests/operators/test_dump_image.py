"""`fn.dump_image`: images in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import ArgumentValueError, SampleError
from tests.operators.suite import Example, images, pipeline, run_on


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


EXAMPLES = [Example("images", (images(),), lambda _: {"suffix": "of_tests"})]


def image_of(height: int, width: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(height).integers(0, 256, (height, width, channels), np.uint8)


def dumped(name: str) -> np.ndarray:
    kind, *numbers = Path(name).read_text("ascii").split()
    width, height, most = map(int, numbers[:3])
    assert (kind, most) in (("P3", 255), ("P2", 255))
    values = np.array(list(map(int, numbers[3:])), np.uint8)
    return values.reshape(height, width, 3 if kind == "P3" else 1)


def test_files() -> None:
    for channels in (1, 3):
        given = [image_of(4, 5, channels), image_of(1, 3, channels)]
        found = run_on("dump_image", given, "HWC", suffix="a b")
        for number, image in enumerate(given):
            np.testing.assert_array_equal(found[number], image, strict=True)
            np.testing.assert_array_equal(dumped(f"{number}-a b-0.ppm"), image, strict=True)
    assert sorted(path.name for path in Path().iterdir()) == ["0-a b-0.ppm", "1-a b-0.ppm"]


def test_text_is_that_of_the_format() -> None:
    run_on("dump_image", [np.arange(18, dtype=np.uint8).reshape(2, 3, 3)])
    assert Path("0--0.ppm").read_bytes() == (
        b"P3\n3 2\n255\n0 1 2 3 4 5 6 7 8 \n9 10 11 12 13 14 15 16 17 \n"
    )


def test_batches_overwrite_each_other_in_order() -> None:
    numbers = iter(range(100))
    with pipeline(batch_size=1, exec_pipelined=False, num_threads=4) as made:
        with made:
            data = fn.external_source(lambda: [np.full((1, 1, 1), next(numbers), np.uint8)])
            made.set_outputs(data, fn.dump_image(data, preserve=True))
        for number in range(5):
            assert made.run()[0].as_array().item() == number
            assert dumped("0--0.ppm").item() == number


@pytest.mark.parametrize(
    ("image", "layout"),
    [
        (np.zeros((2, 2, 2), np.uint8), ""),
        (np.zeros((2, 2), np.uint8), ""),
        (np.zeros((2, 2, 3), np.float32), ""),
        (np.zeros((3, 2, 3), np.uint8), "CHW"),
    ],
)
def test_other_data_are_bad_samples(image: np.ndarray, layout: str) -> None:
    with pytest.raises(SampleError, match="must be an image of layout 'HWC'"):
        run_on("dump_image", [image], layout)


@pytest.mark.parametrize("arguments", [{"suffix": "../a"}, {"input_layout": "CHW"}])
def test_invalid_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(ArgumentValueError):
        run_on("dump_image", [image_of(2, 2)], **arguments)


def test_bad_samples_are_replaced() -> None:
    given = [image_of(2, 2), image_of(2, 3, 2)]
    with Pipeline(2, 1, None, on_sample_error="replace") as made:
        made.set_outputs(fn.dump_image(fn.external_source(lambda: given)))
    (batch,) = made.run()
    np.testing.assert_array_equal(batch.as_array(), [given[0], given[0]])
    made.close()
