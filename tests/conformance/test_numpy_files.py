"""`fn.readers.numpy` and `fn.decoders.numpy` read what NVIDIA DALI reads.

Where this library differs on purpose: format versions 2 and 3 and big-endian arrays are read, and
`fn.decoders.numpy` needs no GPU for arrays in Fortran order.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import check, check_refused, reference
from tests.npy_files import npy

# The reference skips files without a word.
pytestmark = pytest.mark.filterwarnings("ignore::dali_core.errors.SkippedFilesWarning")

NAMES = ("top.npy", "A.npy", ".hidden.npy", "other.NPY", "z/m.npy", "z/deep/n.npy", "Z/k.npy")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("arrays")
    for number, name in enumerate(NAMES):
        array = np.arange(60, dtype=np.int16).reshape(3, 4, 5) * (number + 1)
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(npy(np.asfortranarray(array) if number % 2 else array))
    (root / "list.txt").write_text("z/m.npy\n\nA.npy\n")
    return root


def read(library: Any, count: int = 6, **arguments: Any) -> tuple[list[Any], list[np.ndarray]]:
    pipeline = library.Pipeline(count, 1, None)
    with pipeline:
        nodes = {
            name: library.fn.external_source(source=itertools.repeat([value] * count))
            for name, value in arguments.items()
            if isinstance(value, np.ndarray)
        }
        pipeline.set_outputs(library.fn.readers.numpy(name="reader", **{**arguments, **nodes}))
    pipeline.build()
    size = pipeline.epoch_size("reader")
    (batch,) = pipeline.run()
    described = [size, batch.layout(), *(batch[i].source_info() for i in range(count))]
    return described, [np.array(batch.at(i)) for i in range(count)]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"file_filter": "[A-Z.]*"},
        {"file_filter": "*.np?"},
        {"file_list": "list.txt"},
        {"file_list": "list.txt", "file_root": "."},
        {"files": ["z/m.npy", "A.npy"]},
        {"files": "A.npy", "file_root": "/none"},
        {"pad_last_batch": True, "num_shards": 2, "shard_id": 1},
        {"roi_start": [1, 1, 1], "roi_shape": [2, 2, 3]},
        {"roi_start": [1, 1, 1], "roi_end": [2, 3, 3]},
        {"roi_start": [1]},
        {"roi_start": [1], "roi_axes": [1]},
        {"roi_end": [2, 3], "roi_axes": [-1, 1]},
        {"roi_start": [1], "roi_axes": [1, 2]},
        {"rel_roi_start": [0.3, 0.4, 0.5], "rel_roi_end": [0.9, 1, 1]},
        {"rel_roi_start": [0.3, 0.4, 0.5], "rel_roi_shape": [0.5, 0.5, 0.45]},
        {"roi_start": [1, 1, 1], "rel_roi_shape": 0.5},
        {"rel_roi_start": [0.1, 0.3, 0.5], "roi_shape": [1, 2, 1]},
        {"roi_start": [1, 1, 1], "roi_shape": [0, 2, 3]},
        {"roi_start": np.int32([1, 1, 1]), "roi_shape": np.int32([2, 2, 3])},
        {"rel_roi_start": np.float32([0.3, 0.4, 0.5]), "roi_end": np.int32([3, 4, 5])},
        {"rel_roi_end": np.float32([0.5, 0.5, 0.5])},
        {"rel_roi_shape": np.float32([0.5, 0.5, 0.5])},
        {
            "roi_start": [-1, 1, 4],
            "roi_shape": [6, 2, 9],
            "out_of_bounds_policy": "trim_to_shape",
        },
        *(
            {
                "roi_start": [-1, 1, 4],
                "roi_shape": [6, 2, 9],
                "out_of_bounds_policy": "pad",
                "fill_value": value,
            }
            for value in (0.0, 7.5, -2.5, 1e9)
        ),
        {"cache_header_information": True, "register_buffers": False},
        {"use_o_direct": True, "dont_use_mmap": True, "lazy_init": True},
    ],
    ids=str,
)
def test_arrays(root: Path, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    if "files" in arguments or "file_list" in arguments:
        given = arguments
        if "file_root" in given:
            given = {**given, "files": [os.path.abspath("A.npy")]} if "files" in given else given
    else:
        given = {"file_root": str(root), **arguments}
    theirs, ours = (read(library, **given) for library in (reference, dali_core))
    assert ours[0] == theirs[0]
    for mine, expected in zip(ours[1], theirs[1], strict=True):
        np.testing.assert_array_equal(mine, expected, strict=True)


@pytest.mark.parametrize(
    "arguments",
    [
        {"files": []},
        {"files": ["A.npy"], "file_list": "list.txt"},
        {"file_root": "z/deep", "file_filter": "*.txt"},
        {"file_root": "."} | {"roi_start": [1], "rel_roi_start": [0.5]},
        {"file_root": "."} | {"roi_end": [1], "rel_roi_shape": [0.5]},
        {"file_root": "."} | {"roi_start": [1, 1, 1], "roi_shape": [3, 1, 1]},
        {"file_root": "."} | {"roi_start": [2, 2, 2], "roi_end": [1, 3, 3]},
        {"file_root": "."} | {"roi_start": [1, 1], "roi_axes": [1, 1]},
        {"file_root": "."} | {"roi_start": [1], "roi_axes": [3]},
        {"file_root": "."} | {"roi_start": [1, 1]},
        {"file_root": "."} | {"out_of_bounds_policy": "edge"},
        {"file_root": "."} | {"use_o_direct": True},
        {},
    ],
    ids=str,
)
def test_invalid_arguments_raise_in_both(
    root: Path, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(root)
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            read(library, **arguments)


TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "b1")


def test_decoder() -> None:
    for dtype in TYPES:
        arrays = [np.arange(count * 3).reshape(count, 3).astype(dtype) for count in (1, 4)]
        files = [np.frombuffer(npy(array), np.uint8) for array in arrays]
        check("decoders.numpy", (files, ""))
        for target in ("UINT8", "INT32", "FLOAT", "FLOAT16", "BOOL", "FLOAT64"):
            check("decoders.numpy", (files, ""), dtype=target)
    extreme = np.array([300.7, -5.5, 2.5, 3.5, 1e30, -1e30], np.float32)
    for target in ("UINT8", "INT16", "INT32", "UINT32", "BOOL"):
        check("decoders.numpy", ([np.frombuffer(npy(extreme), np.uint8)], ""), dtype=target)


def test_damaged_arrays_raise_in_both() -> None:
    for array in (np.zeros(3, complex), np.zeros(3, "U2"), np.array([{}, None], object)):
        check_refused("decoders.numpy", ([np.frombuffer(npy(array), np.uint8)], ""))
    check_refused("decoders.numpy", ([np.zeros(300, np.uint8)], ""))
    mixed = [np.frombuffer(npy(np.zeros(3, dtype)), np.uint8) for dtype in ("i2", "f4")]
    check_refused("decoders.numpy", (mixed, ""))
