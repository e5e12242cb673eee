"""`fn.experimental.readers.fits`: images of FITS files."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core._readers.formats.fits import Fits
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from dali_core.testing import ReaderSuite
from dali_core.testing.examples import list_of
from tests.operators.suite import Example

fits = pytest.importorskip("astropy.io.fits", reason="not available: Astropy")

TYPES = ("u1", "i2", "u2", "i4", "u4", "i8", "f4", "f8")


def write(path: Path, *arrays: np.ndarray, compressed: bool = False) -> str:
    kind = fits.CompImageHDU if compressed else fits.ImageHDU
    fits.HDUList([fits.PrimaryHDU(), *map(kind, arrays)]).writeto(path, overwrite=True)
    return str(path)


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    for number in range(5):
        image = np.arange(12, dtype=np.int16).reshape(3, 4) + number
        write(folder / f"{number}.fits", image, image.astype(np.float32)[:2])
    return {"file_root": str(folder), **arguments}


EXAMPLES = [
    Example("first", (), partial(example, dtypes=[types.INT16])),
    Example("both", (), partial(example, hdu_indices=[3, 2], random_shuffle=True)),
]


class TestFits(ReaderSuite):
    format = Fits()
    num_samples = 9

    def write(self, folder: Path) -> dict[str, Any]:
        for number in range(9):
            write(folder / f"{number}.fits", np.full((3, 4), number, np.int16))
        return {"file_root": str(folder)}

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "2.fits").write_bytes(b"damaged")
        (folder / "8.fits").unlink()
        return {number: f"{number}.fits' must be a FITS file" for number in (2, 8)}


def read(count: int = 1, **arguments: Any) -> list[list[np.ndarray]]:
    with Pipeline(count, 1, None, prefetch_queue_depth=1) as pipeline:
        outputs = fn.experimental.readers.fits(**arguments)
        pipeline.set_outputs(*list_of(outputs))
    try:
        return [[np.array(output.at(i)) for i in range(count)] for output in pipeline.run()]
    finally:
        pipeline.close()


def test_types(tmp_path: Path) -> None:
    for dtype in TYPES:
        image = np.arange(24).reshape(2, 3, 4).astype(dtype)
        path = write(tmp_path / f"{dtype}.fits", image)
        ((found,),) = read(files=path)
        np.testing.assert_array_equal(found, image, strict=True)
        ((found,),) = read(files=path, dtypes=types.to_dali_type(np.dtype(dtype)))
        np.testing.assert_array_equal(found, image, strict=True)


def test_compressed_and_primary_images(tmp_path: Path) -> None:
    image = np.arange(64 * 48, dtype=np.int16).reshape(64, 48)
    ((found,),) = read(files=write(tmp_path / "a.fits", image, compressed=True))
    np.testing.assert_array_equal(found, image, strict=True)
    fits.PrimaryHDU(image).writeto(tmp_path / "b.fits")
    ((found,),) = read(files=str(tmp_path / "b.fits"), hdu_indices=1)
    np.testing.assert_array_equal(found, image, strict=True)


def test_several_images_of_a_file(tmp_path: Path) -> None:
    first, second = read(5, **example(tmp_path), hdu_indices=[2, 3])
    for number in range(5):
        expected = np.arange(12, dtype=np.int16).reshape(3, 4) + number
        np.testing.assert_array_equal(first[number], expected, strict=True)
        np.testing.assert_array_equal(second[number], expected[:2].astype(np.float32), strict=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hdu_indices": 4}, r"0\.fits.*it has 3 parts"),
        ({"hdu_indices": 1}, r"0\.fits.*part 1 is no image"),
        ({"dtypes": types.UINT8}, "dtype DALIDataType.UINT8"),
    ],
)
def test_files_that_do_not_fit(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        read(**example(tmp_path), **arguments)


def test_damaged_files_are_replaced(tmp_path: Path) -> None:
    arguments = example(tmp_path)
    (tmp_path / "1.fits").write_bytes(b"no image")
    (tmp_path / "3.fits").unlink()
    (tmp_path / "3.fits").mkdir()
    with Pipeline(4, 1, None, on_sample_error="replace") as pipeline:
        files = [f"{number}.fits" for number in range(4)]
        pipeline.set_outputs(fn.experimental.readers.fits(**arguments, files=files))
    (batch,) = pipeline.run()
    assert [int(batch.at(i)[0, 0]) for i in range(4)] == [0, 2, 2, 0]
    assert [bad.source for bad in pipeline.bad_samples] == ["1.fits", "3.fits"]
    assert batch[0].source_info() == "0.fits"
    pipeline.close()


def test_resumes_at_every_step(tmp_path: Path) -> None:
    arguments = example(tmp_path)

    def make() -> Pipeline:
        with Pipeline(2, 1, None) as pipeline:
            pipeline.set_outputs(fn.experimental.readers.fits(**arguments, random_shuffle=True))
        return pipeline

    first = make()
    states, given = [], []
    for _ in range(6):
        states.append(json.dumps(first.state_dict()))
        given.append(first.run()[0].as_array().tolist())
    for step, state in enumerate(states):
        other = make()
        other.load_state_dict(json.loads(state))
        assert [other.run()[0].as_array().tolist() for _ in range(6 - step)] == given[step:], step
        other.close()
    first.close()


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ArgumentTypeError, "must be given"),
        ({"files": []}, ArgumentValueError, "at least one file"),
        ({"files": ["a"], "hdu_indices": 0}, ArgumentValueError, "at least 1"),
        ({"files": ["a"], "dtypes": [types.UINT8] * 2}, ArgumentValueError, "each of the 1"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read(**arguments)
