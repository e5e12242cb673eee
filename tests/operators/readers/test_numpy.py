"""`fn.readers.numpy`: arrays, and parts of them, from files."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    DaliCoreError,
    SampleError,
)
from tests.mutated_arrays import outcomes
from tests.npy_files import npy
from tests.operators.suite import Example


def write(folder: Path, count: int = 5) -> dict[str, Any]:
    for number in range(count):
        array = np.arange(60, dtype=np.int32).reshape(3, 4, 5) + 100 * number
        (folder / f"{number}.npy").write_bytes(npy(np.asfortranarray(array)))
    return {"file_root": str(folder)}


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    return {**write(folder), **arguments}


EXAMPLES = [
    Example("whole", (), example),
    Example("region", (), partial(example, roi_start=[1, 1], roi_shape=[2, 3], roi_axes=[2, 1])),
    Example("to_an_end", (), partial(example, rel_roi_start=0.25, roi_end=[3, 4, 2])),
    Example("of_a_share", (), partial(example, roi_start=[1, 0, 2], rel_roi_shape=0.5)),
    Example(
        "padded",
        (),
        partial(
            example,
            rel_roi_start=[-0.5, 0, 0.2],
            rel_roi_end=[0.6, 1.5, 1],
            out_of_bounds_policy="pad",
            fill_value=7.5,
            random_shuffle=True,
        ),
    ),
]


def read(
    count: int = 1, per_sample: Mapping[str, Any] | None = None, **arguments: Any
) -> list[np.ndarray]:
    with Pipeline(count, 2, None, prefetch_queue_depth=1) as pipeline:
        given = {
            name: fn.external_source(source=itertools.repeat([value] * count))
            for name, value in (per_sample or {}).items()
        }
        pipeline.set_outputs(fn.readers.numpy(**arguments, **given))
    try:
        (batch,) = pipeline.run()
        return [np.array(batch.at(i)) for i in range(count)]
    finally:
        pipeline.close()


def padded(array: np.ndarray, start: Any, stop: Any, value: float) -> np.ndarray:
    """Return a part of an array that may reach beyond it."""
    before = [max(0, -int(low)) for low in start]
    after = [max(0, int(high) - size) for high, size in zip(stop, array.shape, strict=True)]
    filled = np.pad(array, list(zip(before, after, strict=True)), constant_values=value)
    return filled[
        tuple(
            slice(int(low) + more, int(high) + more)
            for low, high, more in zip(start, stop, before, strict=True)
        )
    ]


def test_regions(tmp_path: Path) -> None:
    generator = np.random.default_rng(1)
    for number in range(24):
        ndim = int(generator.integers(1, 5))
        # Large enough for several reads, buffers and gaps.
        shape = generator.integers(1, {1: 300000, 2: 700, 3: 70, 4: 22}[ndim], ndim)
        array = generator.integers(0, 255, shape).astype(generator.choice(["u1", ">i4", "<f8"]))
        if number % 2:
            array = np.asfortranarray(array)
        path = tmp_path / f"{number}.npy"
        path.write_bytes(npy(array))
        start = generator.integers(0, shape)
        stop = generator.integers(start, shape + 1)
        expected = array[tuple(map(slice, start, stop))].astype(array.dtype.newbyteorder("="))
        (found,) = read(files=str(path), roi_start=list(start), roi_end=list(stop))
        np.testing.assert_array_equal(found, expected, strict=True)
        (found,) = read(files=str(path), per_sample={"roi_start": start, "roi_shape": stop - start})
        np.testing.assert_array_equal(found, expected, strict=True)
        start -= generator.integers(0, 4, ndim)
        stop += generator.integers(0, 4, ndim)
        (found,) = read(
            files=str(path),
            roi_start=list(start),
            roi_end=list(stop),
            out_of_bounds_policy="pad",
            fill_value=3,
        )
        np.testing.assert_array_equal(found, padded(array, start, stop, 3))
        path.unlink()


def test_only_the_region_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.npy"
    header = (
        npy(np.zeros((0, 1 << 20), np.uint8)).replace(b"(0,", b"(65536,").replace(b" " * 4, b"", 1)
    )
    assert len(header) == 128
    with open(path, "wb") as file:
        file.write(header)
        file.truncate(len(header) + (1 << 36))  # 64 GiB, a hole
    (found,) = read(files=str(path), roi_start=[65530, 5], roi_shape=[6, 7])
    np.testing.assert_array_equal(found, np.zeros((6, 7), np.uint8), strict=True)


@pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")
def test_files(tmp_path: Path) -> None:
    write(tmp_path, 2)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "deep.npy").write_bytes(npy(np.int32(7) + np.zeros((3, 4, 5), np.int32)))
    (tmp_path / "b" / "other.NPY").write_bytes(b"")
    with Pipeline(3, 1, None) as pipeline:
        pipeline.set_outputs(fn.readers.numpy(file_root=str(tmp_path), name="reader"))
    (batch,) = pipeline.run()
    assert [tensor.source_info() for tensor in batch] == ["./0.npy", "./1.npy", "b/deep.npy"]
    assert pipeline.epoch_size("reader") == 3
    pipeline.close()
    listing = tmp_path / "list.txt"
    listing.write_bytes(b"b/deep.npy\r\n\n1.npy")
    for arguments in (
        {"file_list": str(listing)},
        {"files": ["b/deep.npy", "1.npy"], "file_root": str(tmp_path)},
    ):
        assert [int(array.flat[0]) for array in read(2, **arguments)] == [7, 100]


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ({}, ArgumentTypeError, "must be given"),
        ({"files": []}, ArgumentValueError, "at least one file"),
        ({"files": ["a"], "file_list": "b"}, ArgumentValueError, "together"),
        ({"file_list": "/none"}, ArgumentValueError, "readable file"),
        ({"file_root": "/none"}, ArgumentValueError, "can be listed"),
        ({"use_o_direct": True, "files": ["a"]}, ArgumentValueError, "dont_use_mmap"),
        ({"files": ["a"], "out_of_bounds_policy": "edge"}, ArgumentValueError, "out_of_bounds"),
        ({"files": ["a"], "roi_start": 1, "rel_roi_start": 0.5}, ArgumentValueError, "together"),
        ({"files": ["a"], "roi_end": 1, "rel_roi_shape": 0.5}, ArgumentValueError, "together"),
    ],
)
def test_invalid_calls(arguments: dict[str, Any], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        read(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"roi_start": [1, 1, 1], "roi_shape": [3, 1, 1]}, "inside the input"),
        ({"roi_start": [2, 2, 2], "roi_end": [1, 3, 3]}, "end before its start"),
        ({"roi_start": [1, 1]}, "one number or one for each of the 3 axes"),
        ({"roi_start": [1], "roi_axes": [3]}, "axes must be from -3 to 2"),
        ({"roi_start": [1, 1], "roi_axes": [1, -2]}, "named once"),
    ],
)
def test_invalid_regions(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(SampleError, match=message) as caught:
        read(**write(tmp_path), **arguments)
    assert caught.value.source == "./0.npy"


def test_no_files_below_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    with pytest.raises(ArgumentValueError, match="match file_filter"):
        read(file_root=str(tmp_path))


def test_bad_files_are_replaced(tmp_path: Path) -> None:
    arguments = write(tmp_path)
    (tmp_path / "1.npy").write_bytes(b"no array")
    (tmp_path / "3.npy").unlink()
    os.mkfifo(tmp_path / "3.npy")
    with Pipeline(5, 2, None, on_sample_error="replace") as pipeline:
        pipeline.set_outputs(fn.readers.numpy(**arguments))
    (batch,) = pipeline.run()
    assert [int(batch.at(i).flat[0]) for i in range(5)] == [0, 200, 200, 400, 400]
    assert [bad.source for bad in pipeline.bad_samples] == ["./1.npy", "./3.npy"]
    pipeline.close()


def test_arrays_of_other_types_in_a_batch(tmp_path: Path) -> None:
    arguments = write(tmp_path, 2)
    (tmp_path / "1.npy").write_bytes(npy(np.zeros((3, 4, 5), np.int16)))
    with pytest.raises(DaliCoreError, match="one type and number of dimensions"):
        read(2, **arguments)


def test_resumes_at_every_step(tmp_path: Path) -> None:
    arguments = write(tmp_path)

    def make() -> Pipeline:
        with Pipeline(2, 2, None, seed=3) as pipeline:
            start = fn.random.uniform(range=(0, 0.5), shape=3)
            pipeline.set_outputs(
                fn.readers.numpy(
                    **arguments, random_shuffle=True, rel_roi_start=start, rel_roi_shape=0.5
                )
            )
        return pipeline

    def take(pipeline: Pipeline) -> list[Any]:
        (batch,) = pipeline.run()
        return [np.array(batch.at(i)).tolist() for i in range(2)]

    first = make()
    states, given = [], []
    for _ in range(8):
        states.append(json.dumps(first.state_dict()))
        given.append(take(first))
    for step, state in enumerate(states):
        other = make()
        other.load_state_dict(json.loads(state))
        assert [take(other) for _ in range(8 - step)] == given[step:], step
        other.close()
    first.close()


def test_damaged_files_raise_or_read_as_by_numpy(tmp_path: Path) -> None:
    counts = outcomes(tmp_path, 0, 250)
    assert counts["error"] > 100
    assert counts["array"] > 10
