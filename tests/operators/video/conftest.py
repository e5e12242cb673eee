"""Fixtures of video tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from dali_core.operators.video import backends


@pytest.fixture(params=["native", "pyav"])
def video_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Decode videos with each of the two workers."""
    name: str = request.param
    if name == "native" and backends.native_worker() is None:
        pytest.skip("not available: FFmpeg's development files at build time")
    monkeypatch.setenv(backends.WORKER_VARIABLE, name)
    return name


@pytest.fixture
def damaged(video: Callable[[str], Path], tmp_path: Path) -> Path:
    """A file whose packets 25 and 26, in its last GOP, are damaged."""
    import av

    path = tmp_path / "damaged.mp4"
    sound = video("h264_no_b.mp4")
    content = bytearray(sound.read_bytes())
    with av.open(str(sound)) as container:
        packets = [(packet.pos, packet.size) for packet in container.demux(video=0) if packet.size]
    for position, size in packets[25:27]:
        content[position + 6 : position + size] = b"\xa5" * (size - 6)
    path.write_bytes(content)
    return path
