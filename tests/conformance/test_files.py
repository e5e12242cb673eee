"""`fn.io.file.read` and `fn.dump_image` do what those of NVIDIA DALI do.

Where this library differs on purpose: empty files are read, and suffixes with a slash are rejected
when the pipeline is built.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import check, check_refused, numbers, reference, run


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def path_of(name: bytes) -> np.ndarray:
    return np.frombuffer(name, np.uint8)


def test_files() -> None:
    Path("a b").write_bytes(b"content")
    Path("é").write_bytes(bytes(range(256)) * 99)
    paths = [path_of(name) for name in (b"a b", "é".encode(), b"./a b", b"a b\0\0")]
    check("io.file.read", (paths, ""))
    check("io.file.read", ([path.astype(np.int8) for path in paths[:1]], ""))
    for arguments in ({"dont_use_mmap": True}, {"use_o_direct": True}):
        check("io.file.read", (paths, ""), **arguments)


def test_invalid_paths_raise_in_both() -> None:
    for name in (b"missing", b".", b""):
        check_refused("io.file.read", ([path_of(name)], ""))
    check_refused("io.file.read", ([path_of(b"aa")[None]], ""))


@pytest.mark.parametrize("arguments", [{}, {"suffix": "x y"}, {"input_layout": "HWC"}])
@pytest.mark.parametrize("channels", [1, 3])
def test_dumped_images(arguments: dict[str, Any], channels: int) -> None:
    samples = [numbers("uint8", (3, 4, channels)), numbers("uint8", (1, 1, channels))]
    files = []
    for library in (reference, dali_core):
        (found,) = run(library, "dump_image", [(samples, "HWC")], {}, arguments)
        for sample, expected in zip(found.samples, samples, strict=True):
            np.testing.assert_array_equal(sample, expected)
        files.append({path.name: path.read_bytes() for path in Path().iterdir()})
        for path in Path().iterdir():
            path.unlink()
    assert files[0] == files[1]
    assert len(files[1]) == 2


def test_invalid_images_raise_in_both() -> None:
    image = np.zeros((2, 3, 3), np.uint8)
    for sample in (image[..., 0].copy(), image.astype(np.float32), np.zeros((2, 3, 4), np.uint8)):
        check_refused("dump_image", ([sample], ""))
    check_refused("dump_image", ([image], "HWC"), input_layout="CHW")
    check_refused("dump_image", ([image], "HWC"), suffix="a/b")
