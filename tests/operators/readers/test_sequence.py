"""`fn.readers.sequence`: which images make up a sequence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentValueError, SampleError
from tests.generated_images import png
from tests.operators.readers.video_clips import numbers, read, reader_pipeline
from tests.operators.suite import Example
from tests.video_files import draw


def write_frames(folder: Path, counts: dict[str, int]) -> str:
    for name, count in counts.items():
        (folder / name).mkdir()
        for number in range(count):
            (folder / name / f"{number:03}.png").write_bytes(png(draw(number, 64, 48)))
    return str(folder)


def frames(folder: Path) -> dict[str, Any]:
    return {"file_root": write_frames(folder, {"a": 5, "b": 3}), "sequence_length": 2, "stride": 2}


EXAMPLES = [Example("frames", (), frames)]


def sequences(**arguments: Any) -> list[Any]:
    return read(fn.readers.sequence, **arguments)


def test_sequences_do_not_cross_folders(tmp_path: Path) -> None:
    root = write_frames(tmp_path, {"b": 3, "a": 5, "c": 1})
    assert numbers(sequences(file_root=root, sequence_length=3)) == [
        [0, 1, 2],
        [1, 2, 3],
        [2, 3, 4],
        [0, 1, 2],
    ]
    assert numbers(sequences(file_root=root, sequence_length=2, step=2, stride=2)) == [
        [0, 2],
        [2, 4],
        [0, 2],
    ]
    found = sequences(file_root=root, sequence_length=1)
    assert len(found) == 9
    assert found[-1].source == "000.png"


def test_frames_are_those_of_the_decoder(tmp_path: Path) -> None:
    root = write_frames(tmp_path, {"a": 2})
    pipeline = reader_pipeline(
        fn.readers.sequence, file_root=root, sequence_length=2, image_type=types.BGR
    )
    (batch,) = pipeline.run()
    assert batch.layout() == "FHWC"
    for number, frame in enumerate(np.array(batch.at(0))):
        np.testing.assert_array_equal(frame, draw(number, 64, 48)[..., ::-1])
    pipeline.close()


def test_damage(tmp_path: Path) -> None:
    root = write_frames(tmp_path, {"a": 3})
    (tmp_path / "a" / "001.png").write_bytes(png(draw(1, 66, 48)))
    with pytest.raises(SampleError, match=r"must have one size .*48 x 66 after 48 x 64") as caught:
        sequences(file_root=root, sequence_length=2)
    assert "001.png" in str(caught.value)
    (tmp_path / "a" / "001.png").write_bytes(b"no image")
    with pytest.raises(SampleError, match=r"001\.png"):
        sequences(file_root=root, sequence_length=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sequence_length": 4}, "at least 4 images"),
        ({"sequence_length": 0}, "sequence_length"),
        ({"sequence_length": 1, "stride": 0}, "stride"),
        ({"sequence_length": 1, "step": 0}, "step"),
        ({"sequence_length": 1, "file_root": "/nowhere"}, "a folder that can be listed"),
        ({"sequence_length": 1, "image_type": types.ANY_DATA}, "'image_type' must be"),
    ],
    ids=str,
)
def test_invalid_arguments_raise(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    root = write_frames(tmp_path, {"a": 3})
    with pytest.raises(ArgumentValueError, match=message):
        sequences(**({"file_root": root} | arguments))
