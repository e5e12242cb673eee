"""`fn.io.file.read`: files whose paths are data."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from dali_core.errors import SampleError
from tests.operators.suite import Example, Input, pipeline, run_on

NAMES = sorted(path.name for path in Path(__file__).parents[2].glob("test_c*.py"))


def path_of(number: int) -> np.ndarray:
    name = NAMES[number % len(NAMES)]
    return np.frombuffer(str(Path(__file__).parents[2] / name).encode(), np.uint8)


EXAMPLES = [Example("files", (Input(path_of),), {"dont_use_mmap": True, "use_o_direct": True})]


def read(path: bytes, dtype: str = "uint8") -> bytes:
    (found,) = run_on("io.file.read", [np.frombuffer(path, dtype)])
    assert found.dtype == np.uint8
    return found.tobytes()


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in (("a", b"content"), ("é", os.urandom(300_000)), ("empty", b"")):
        Path(name).write_bytes(content)
        for path in (name.encode(), os.fsencode(tmp_path / name), name.encode() + b"\0\0"):
            assert read(path) == read(path, "int8") == content


def test_sources_are_the_paths(tmp_path: Path) -> None:
    from dali_core import fn

    (tmp_path / "a").write_bytes(b"1")
    path = os.fsencode(tmp_path / "a")
    with pipeline(batch_size=1) as made:
        with made:
            paths = fn.external_source(source=lambda: [np.frombuffer(path, np.uint8)])
            made.set_outputs(fn.io.file.read(paths))
        assert made.run()[0][0].source_info() == str(tmp_path / "a")


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (b"missing", "must be readable .*missing"),
        (b".", "must be a regular file"),
        (b"", "no text"),
        (b"\0", "no text"),
        (b"a\0b", "without NUL"),
    ],
)
def test_other_paths_are_bad_samples(path: bytes, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        read(path)


def test_paths_of_other_types_raise() -> None:
    for wrong in (np.zeros(3, np.int16), np.zeros((1, 3), np.uint8), np.uint8(7)):
        with pytest.raises(SampleError, match="bytes in one dimension"):
            run_on("io.file.read", [wrong])
