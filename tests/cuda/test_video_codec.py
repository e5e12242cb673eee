"""Decoding videos on the device, by a fake PyNvVideoCodec."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cuda.simulated_driver import run_program

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
pytest.importorskip("av", reason="not available: PyAV")

ON_DEVICE = (
    *("h264.mp4", "h264_open_gop.mkv", "h264_uneven.mp4", "h264_late.ts", "h264_10_bit.mp4"),
    *("h264_quarter_turn.mp4", "h264_quarter_back.mp4", "h264_half_turn.mov", "h264_bt709.mp4"),
    *("h264_full_range.mp4", "hevc_10_bit.mp4", "vp9.webm"),
    *("h264_upside_down.mov", "h264_transverse.mp4"),
)
# Unknown surface formats, and timestamps that differ from the codec's.
ON_HOST = (
    *("h264_444_odd.mov", "h264_422.mkv", "hevc_grey.mkv", "h264_rgb.mp4"),
    *("vp9_mirrored_odd.mp4", "h264_transposed.mp4"),
)

Video = Callable[[str], Path]


@pytest.fixture
def run(video: Video) -> Callable[..., str]:
    def run_with(
        program: str,
        names: tuple[str, ...],
        env: Mapping[str, str] | None = None,
        arguments: Sequence[object] = (),
        **options: Any,
    ) -> str:
        settings = {"DALI_CORE_GPU_VIDEO": "1"} | dict(env or {})
        paths = [str(video(name)) for name in names]
        return run_program(program, arguments=[paths, *arguments], env=settings, **options)

    return run_with


Run = Callable[..., str]


def test_frames_equal_the_host(run: Run) -> None:
    """Depths, ranges, orientations, matrices and GOPs; bit for bit."""
    run(
        "video_codec/frames_equal_the_host",
        (*ON_DEVICE, *ON_HOST),
        arguments=[[*ON_DEVICE, *ON_HOST], ON_DEVICE],
        delay=0.0002,
    )


def test_labels_and_frame_numbers(run: Run) -> None:
    run("video_codec/labels_and_frame_numbers", ("h264.mp4", "h264_open_gop.mkv"))


def test_frames_with_wrong_timestamps_are_decoded_on_the_host(run: Run) -> None:
    """The index of the codec may differ; timestamps reveal that, and the host decodes."""
    run(
        "video_codec/frames_with_wrong_timestamps_are_decoded_on_the_host", ("h264.mp4", "hevc.mp4")
    )


def test_damaged_files_raise_the_errors_of_the_host(run: Run, video: Video, tmp_path: Path) -> None:
    content = bytearray(video("h264.mp4").read_bytes())
    content[len(content) // 3 : 2 * len(content) // 3] = bytes(len(content) // 3)
    damaged = tmp_path / "damaged.mp4"
    damaged.write_bytes(content)
    run("video_codec/damaged_files_raise_the_errors_of_the_host", (), arguments=[str(damaged)])


def test_operators_after_the_reader(run: Run) -> None:
    run("video_codec/operators_after_the_reader", ("h264.mp4", "hevc.mp4"), delay=0.001)


def test_disabled_by_environment_variable(run: Run) -> None:
    run(
        "video_codec/disabled_by_environment_variable",
        ("h264.mp4",),
        env={"DALI_CORE_GPU_VIDEO": "0"},
    )


def test_codec_errors_name_the_remedy(run: Run) -> None:
    run("video_codec/codec_errors_name_the_remedy", ("h264.mp4",))
