"""Damaged videos raise errors that name them, and never crash the program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="not available: PyAV")

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from dali_core.operators.video import backends
from tests.mutated_videos import decoded, outcomes

pytestmark = pytest.mark.usefixtures("video_worker")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(backends.CACHE_VARIABLE, str(tmp_path / "cache"))


def test_mutated_files(tmp_path: Path) -> None:
    counts = Counter(outcome for _, outcome in outcomes(tmp_path, range(60)))
    assert set(counts) <= {"error", "same", "different"}
    assert counts["error"] >= 30


@pytest.mark.parametrize(
    "name", ["h264_fragments.mp4", "h264_open_gop.mkv", "mpeg4.avi", "vp9.webm", "mjpeg.avi"]
)
@pytest.mark.parametrize("share", [0.67, 0.95])
def test_file_that_is_cut_off(
    name: str, share: float, video: Callable[[str], Path], tmp_path: Path
) -> None:
    """It is rejected as a whole, since the rest is unknown."""
    path = tmp_path / name
    content = video(name).read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(SampleError, match="must be a sound video"):
        decoded(path)


def test_damage_in_one_group_of_pictures(damaged: Path, video: Callable[[str], Path]) -> None:
    """Clips that do not need the damaged part are decoded, and the others are not."""
    expected = decoded(video("h264_no_b.mp4"))

    def clip(first: int) -> np.ndarray:
        data = np.fromfile(damaged, np.uint8)
        pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
        with pipeline:
            encoded = fn.external_source(source=lambda: [data])
            pipeline.set_outputs(fn.decoders.video(encoded, frames=[first, first + 2]))
        return np.array(pipeline.run()[0].at(0))

    np.testing.assert_array_equal(clip(4), expected[[4, 6]])
    np.testing.assert_array_equal(clip(22), expected[[22, 24]])
    with pytest.raises(SampleError, match="packet 2[56] cannot be decoded"):
        clip(26)
    np.testing.assert_array_equal(clip(10), expected[[10, 12]])
