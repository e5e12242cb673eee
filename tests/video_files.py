"""Small videos of many kinds, whose frames encode their numbers, and the frames of PyAV."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

pytest.importorskip("av", reason="not available: PyAV")

import av

from tests.orientations import MATRICES, upright_of

Array = npt.NDArray[Any]

VIDEOS = Path(__file__).resolve().parents[1] / "build" / "test_videos"

RATE = 25
BLOCK = 8  # side of a bit in a frame: no macroblock of any codec overlaps two of them
BITS = 8

X265_QUIET = "log-level=none:pools=none:frame-threads=1"
# With "realtime" the encoder would depend on the clock, and files would differ.
_VPX: dict[str, str] = {"deadline": "good", "cpu-used": "5"}
_X265: dict[str, str] = {"preset": "superfast", "x265-params": X265_QUIET}
# With its tree of macroblocks the encoder depends on memory that it has not initialised.
X264_SAME = "mbtree=0"
_X264: dict[str, str] = {"preset": "veryfast", "x264-params": X264_SAME}
_AV1: dict[str, str] = {"preset": "12", "svtav1-params": "lp=1"}


@dataclass(frozen=True)
class Recipe:
    """The recipe of a video.

    Attributes
    ----------
    name : str
        Name of the file; its suffix is the container's.
    encoder : str
        FFmpeg's name of the encoder.
    size : (int, int)
        Width and height of the coded picture.
    milliseconds : sequence of int, optional
        Presentation time of each frame; evenly spaced if left out.
    orientation : int
        Number of Exif, 1 to 8, of what the container's matrix does to coded pictures.
    early : int
        Milliseconds by which presentation times precede decoding times, in an MP4 file.
    has_times : bool
        Whether the container has presentation times. If not, FFmpeg numbers packets in decoding
        order, and frames have the right order but wrong timestamps.
    """

    name: str
    encoder: str
    options: dict[str, str] = field(default_factory=dict)
    size: tuple[int, int] = (64, 48)
    num_frames: int = 30
    pixels: str = "yuv420p"
    group: int = 12  # distance of key frames
    b_frames: int | None = None
    milliseconds: Sequence[int] | None = None
    container: dict[str, str] = field(default_factory=dict)
    orientation: int = 1
    early: int = 0
    full_range: bool = False
    matrix: int = 2  # MatrixCoefficients of ITU-T H.273; 2: unspecified
    has_times: bool = True
    sound: bool = False  # an audio stream precedes the video stream

    @property
    def numbers(self) -> range:
        """Return the numbers of the frames that players show."""
        hidden = 0 if self.early else sum(time < 0 for time in self.milliseconds or ())
        return range(hidden, self.num_frames)


def _uneven(num_frames: int, first: int = 0) -> tuple[int, ...]:
    """Return presentation times with distances between 10 and 290 ms."""
    distances = 10 + np.random.default_rng(num_frames).integers(0, 8, num_frames) ** 2 * 40 // 7
    return tuple(int(time) for time in first + np.cumsum(distances) - distances[0])


def _x264(parameters: str = "", **more: str) -> dict[str, str]:
    return {**_X264, **more, "x264-params": f"{X264_SAME}:{parameters}".rstrip(":")}


def _x265(parameters: str) -> dict[str, str]:
    return {**_X265, "x265-params": f"{X265_QUIET}:{parameters}"}


RECIPES = (
    Recipe("h264.mp4", "libx264", _X264),
    Recipe("h264_no_b.mp4", "libx264", _x264(tune="zerolatency")),
    Recipe("h264_pyramid.mp4", "libx264", _x264("b-pyramid=normal:b-adapt=0"),
           b_frames=5, group=24),
    Recipe("h264_open_gop.mp4", "libx264", _x264("open-gop=1:b-adapt=0"),
           b_frames=3, group=8, num_frames=40),
    Recipe("h264_open_gop.mkv", "libx264", _x264("open-gop=1:b-adapt=0"),
           b_frames=3, group=8, num_frames=40),
    Recipe("h264_intra_refresh.mp4", "libx264", _x264("intra-refresh=1"),
           group=10, num_frames=40),
    Recipe("h264_one_frame.mp4", "libx264", _X264, num_frames=1),
    Recipe("h264_long_group.mp4", "libx264", _X264, num_frames=60, group=600),
    Recipe("h264_all_key.mp4", "libx264", _X264, group=1),
    Recipe("h264_short_group.mov", "libx264", _X264, group=2),
    Recipe("h264_uneven.mp4", "libx264", _X264, milliseconds=_uneven(30)),
    Recipe("h264_uneven.mkv", "libx264", _X264, milliseconds=_uneven(31)),
    Recipe("h264_late.mp4", "libx264", _X264, milliseconds=tuple(range(400, 1600, 40))),
    Recipe("h264_late.ts", "libx264", _X264),
    Recipe("h264_edit_list.mp4", "libx264", _X264, milliseconds=tuple(range(-280, 920, 40))),
    Recipe("h264_negative.mp4", "libx264", _X264, b_frames=2, milliseconds=_uneven(30),
           container={"use_editlist": "0", "movflags": "negative_cts_offsets"}, early=600),
    Recipe("h264_fragments.mp4", "libx264", _X264,
           container={"movflags": "frag_keyframe+empty_moov"}),
    Recipe("h264_without_cues.mkv", "libx264", _X264, container={"live": "1"}),
    Recipe("h264_sound.mp4", "libx264", _X264, sound=True),
    Recipe("h264_quarter_turn.mp4", "libx264", _X264, orientation=8),
    Recipe("h264_half_turn.mov", "libx264", _X264, orientation=3, size=(80, 48)),
    Recipe("h264_quarter_back.mp4", "libx264", _X264, orientation=6, milliseconds=_uneven(30)),
    Recipe("vp9_mirrored_odd.mp4", "libvpx-vp9", _VPX, orientation=2, size=(67, 49)),
    Recipe("h264_upside_down.mov", "libx264", _X264, orientation=4),
    Recipe("h264_transposed.mp4", "libx264", _X264, orientation=5, pixels="yuv444p", size=(71, 64)),
    Recipe("h264_transverse.mp4", "libx264", _X264, orientation=7),
    Recipe("h264_b.avi", "libx264", _X264, has_times=False),
    Recipe("h264_422.mkv", "libx264", _X264, pixels="yuv422p", size=(66, 49)),
    Recipe("h264_444_odd.mov", "libx264", _X264, pixels="yuv444p", size=(65, 51)),
    Recipe("h264_10_bit.mp4", "libx264", _X264, pixels="yuv420p10le"),
    Recipe("h264_422_10_bit.mkv", "libx264", _X264, pixels="yuv422p10le"),
    Recipe("h264_full_range.mp4", "libx264", _X264, pixels="yuvj420p", full_range=True),
    Recipe("h264_bt709.mp4", "libx264", _X264, matrix=1),
    Recipe("h264_grey.mp4", "libx264", _X264, pixels="gray"),
    Recipe("h264_rgb.mp4", "libx264rgb", _x264(qp="8"), pixels="rgb24"),
    Recipe("h264_interlaced.mp4", "libx264", _x264(flags="+ildct+ilme"), size=(64, 64)),
    Recipe("hevc.mp4", "libx265", _x265("keyint=12"), group=12),
    Recipe("hevc_open_gop.mkv", "libx265", _x265("keyint=8:min-keyint=8:bframes=4:open-gop=1"),
           group=8, num_frames=40),
    Recipe("hevc_pyramid.mp4", "libx265", _x265("bframes=7:b-adapt=0:b-pyramid=1:open-gop=0"),
           group=20, num_frames=40),
    Recipe("hevc_10_bit.mp4", "libx265", _x265("open-gop=1"), pixels="yuv420p10le"),
    Recipe("hevc_422.mov", "libx265", _X265, pixels="yuv422p10le", milliseconds=_uneven(30)),
    Recipe("hevc_444_odd.mp4", "libx265", _X265, pixels="yuv444p", size=(65, 49)),
    Recipe("hevc_grey.mkv", "libx265", _X265, pixels="gray", size=(70, 50)),
    Recipe("hevc_grey_10_bit.mp4", "libx265", _X265, pixels="gray10le"),
    Recipe("hevc_full_range.mp4", "libx265", _X265, size=(90, 54), full_range=True, matrix=1),
    Recipe("vp8.webm", "libvpx", _VPX),
    Recipe("vp8_odd.webm", "libvpx", {**_VPX, "auto-alt-ref": "1", "lag-in-frames": "12"},
           size=(67, 49), milliseconds=_uneven(30)),
    Recipe("vp9.webm", "libvpx-vp9", _VPX),
    Recipe("vp9_hidden_frames.webm", "libvpx-vp9", size=(71, 53), group=15, num_frames=40,
           options={"deadline": "good", "cpu-used": "5", "auto-alt-ref": "1",
                    "lag-in-frames": "12"}),
    Recipe("vp9_444.mp4", "libvpx-vp9", _VPX, pixels="yuv444p", size=(65, 49)),
    Recipe("vp9_440.mkv", "libvpx-vp9", _VPX, pixels="yuv440p", size=(65, 49)),
    Recipe("vp9_full_range.webm", "libvpx-vp9", _VPX, full_range=True, size=(90, 54)),
    Recipe("vp9_uneven.mkv", "libvpx-vp9", _VPX, milliseconds=_uneven(30, first=120)),
    Recipe("vp9_one_frame.webm", "libvpx-vp9", _VPX, num_frames=1),
    Recipe("av1.mp4", "libsvtav1", _AV1, size=(64, 64)),
    # With other widths the encoder depends on memory that it has not initialised.
    Recipe("av1_10_bit.mkv", "libsvtav1", _AV1, size=(80, 72), pixels="yuv420p10le"),
    Recipe("av1_forward_keys.mp4", "libsvtav1", {**_AV1, "svtav1-params": "lp=1:irefresh-type=1"},
           size=(64, 64), group=16, num_frames=40),
    Recipe("av1_uneven.webm", "libsvtav1", _AV1, size=(96, 64), milliseconds=_uneven(30), group=9),
    Recipe("mpeg4.mp4", "mpeg4", b_frames=2),
    Recipe("mpeg4.avi", "mpeg4", size=(67, 49)),
    Recipe("mpeg4_b.avi", "mpeg4", b_frames=2),
    Recipe("mpeg4_uneven.mkv", "mpeg4", milliseconds=_uneven(30), b_frames=1),
    Recipe("mjpeg.avi", "mjpeg", pixels="yuvj420p", size=(65, 49), full_range=True),
    Recipe("mjpeg_422.mov", "mjpeg", pixels="yuvj422p", size=(70, 50), full_range=True),
    Recipe("mjpeg_444.mkv", "mjpeg", pixels="yuvj444p", milliseconds=_uneven(30), full_range=True),
)  # fmt: skip
BY_NAME = {recipe.name: recipe for recipe in RECIPES}


def draw(number: int, width: int, height: int) -> Array:
    """Draw a frame: (height, width, 3) uint8.

    Below a row of black and white squares, the bits of `number`, colours move at several speeds.
    """
    y, x = np.mgrid[:height, :width]
    frame = np.stack(
        [
            128 + 80 * np.sin((x + 2 * number) / 9),
            128 + 80 * np.sin((y - number) / 7 + x / 31),
            128 + 80 * np.cos((x + y + 3 * number) / 11),
        ],
        axis=-1,
    ).astype(np.uint8)
    for bit in range(BITS):
        frame[:BLOCK, bit * BLOCK : (bit + 1) * BLOCK] = 225 if number >> bit & 1 else 30
    return frame


def number_of(frame: Array) -> int:
    """Return the number that a decoded, upright or coded frame, RGB or luma, was drawn for."""
    luma = frame if frame.ndim == 2 else frame.mean(axis=2)
    scale = 4 if luma.max() > 255 else 1
    squares = luma[:BLOCK, : BITS * BLOCK].reshape(BLOCK, BITS, BLOCK)[2:-2, :, 2:-2]
    return int(((squares.mean(axis=(0, 2)) > 128 * scale) << np.arange(BITS)).sum())


def shared(name: str) -> Path:
    """Return the path of the video of a name, which all environments share: encoding takes long.

    Processes may make it at the same time.
    """
    path = _shared_folder() / name
    if not path.exists():
        unfinished = path.with_name(f"{os.getpid()}.{name}")
        write(unfinished, BY_NAME[name])
        unfinished.replace(path)
    return path


@functools.cache
def _shared_folder() -> Path:
    recipes = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    folder = VIDEOS / f"{av.__version__}-{recipes[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def make(folder: Path, name: str) -> Path:
    """Return the path of a copy of a video in a folder, which is made unless it exists."""
    path = folder / name
    if not path.exists():
        unfinished = folder / f"{os.getpid()}.{name}"
        shutil.copyfile(shared(name), unfinished)
        unfinished.replace(path)
    return path


def make_all(folder: Path) -> list[Path]:
    """Create all videos that do not exist yet."""
    return [make(folder, recipe.name) for recipe in RECIPES]


def write(path: Path, recipe: Recipe) -> None:
    """Encode the frames of a recipe."""
    width, height = recipe.size
    times = recipe.milliseconds or [1000 * i // RATE for i in range(recipe.num_frames)]
    options = dict(recipe.container)
    with av.open(str(path), "w", options=options) as output:
        sound = output.add_stream("aac", rate=8000) if recipe.sound else None
        stream: Any = output.add_stream(
            recipe.encoder, rate=RATE, options={"threads": "1", **recipe.options}
        )
        stream.width, stream.height, stream.pix_fmt = width, height, recipe.pixels
        context = stream.codec_context
        context.time_base = Fraction(1, 1000) if recipe.milliseconds else Fraction(1, RATE)
        context.gop_size = recipe.group
        context.color_range = 2 if recipe.full_range else 1
        context.colorspace = recipe.matrix
        if recipe.b_frames is not None:
            context.max_b_frames = recipe.b_frames
        if sound is not None:
            output.mux(sound.encode(_silence(times[-1] * 8)))
            output.mux(sound.encode(None))
        for number in range(recipe.num_frames):
            frame = av.VideoFrame.from_ndarray(draw(number, width, height), format="rgb24")
            frame = frame.reformat(
                format=recipe.pixels,
                src_colorspace="ITU709" if recipe.matrix == 1 else "ITU601",
                dst_colorspace="ITU709" if recipe.matrix == 1 else "ITU601",
                dst_color_range="JPEG" if recipe.full_range else "MPEG",
            )
            frame.pts = times[number] if recipe.milliseconds else number
            frame.time_base = context.time_base
            output.mux(stream.encode(frame))
        output.mux(stream.encode(None))
    if recipe.early:
        path.write_bytes(_with_earlier_times(path.read_bytes(), recipe.early))
    if recipe.orientation != 1:
        path.write_bytes(with_matrix(path.read_bytes(), MATRICES[recipe.orientation]))


def _with_earlier_times(content: bytes, milliseconds: int) -> bytes:
    """Subtract from each difference of a presentation time and a decoding time (ISO 14496-12)."""
    header = content.index(b"mdhd")
    scale = int.from_bytes(content[header + 16 : header + 20], "big")
    table = content.index(b"ctts") + 8
    length = int.from_bytes(content[table : table + 4], "big")
    entries = np.frombuffer(content, ">i4", 2 * length, table + 4).reshape(length, 2).copy()
    entries[:, 1] -= milliseconds * scale // 1000
    return content[: table + 4] + entries.tobytes() + content[table + 4 + entries.nbytes :]


def with_matrix(content: bytes, values: Sequence[float], header: bytes = b"tkhd") -> bytes:
    """Return an MP4 file with a, b, c and d of a matrix in the header of its track, or movie."""
    a, b, c, d = (round(value * 65536) for value in values)
    matrix = np.array([a, b, 0, c, d, 0, 0, 0, 1 << 30], ">i4").tobytes()
    place = content.index(header) + (44 if header == b"tkhd" else 40)
    return content[:place] + matrix + content[place + len(matrix) :]


def _silence(num_samples: int) -> av.AudioFrame:
    frame = av.AudioFrame.from_ndarray(
        np.zeros((1, num_samples), np.float32), format="fltp", layout="mono"
    )
    frame.sample_rate = 8000
    frame.pts = 0
    return frame


@dataclass(frozen=True)
class Frame:
    """A frame that PyAV decoded.

    Attributes
    ----------
    planes : tuple of arrays of shape (height, width)
        Y, U and V, only Y, or green, blue and red, as coded: before `orientation`. uint16 for more
        than 8 bits.
    seconds : float
        Presentation time since that of the first frame.
    orientation : int
        Number of Exif of what makes the picture upright.
    """

    planes: tuple[Array, ...]
    seconds: float
    is_key: bool
    format: str
    bits: int
    full_range: bool
    matrix: int
    orientation: int

    def rgb(self, matrix: int | None = None) -> Array:
        """Return the upright frame as unrounded RGB: (height, width, 3) float64.

        Parameters
        ----------
        matrix : int, optional
            MatrixCoefficients of ITU-T H.273; 5, BT.601, if left out.
        """
        scale = 2.0**self.bits
        planes = [plane.astype(np.float64) for plane in self.planes]
        if self.format.startswith("gbr"):
            green, blue, red = (plane * (255 / (scale - 1)) for plane in planes)
            return self._upright(np.stack([red, green, blue], axis=-1))
        height, width = planes[0].shape
        if self.full_range:
            luma, chroma_scale = planes[0] / (scale - 1), 1 / (scale - 1)
        else:
            luma = (planes[0] - scale / 16) / (219 / 256 * scale)
            chroma_scale = 1 / (224 / 256 * scale)
        if len(planes) == 1:
            return self._upright(np.repeat(luma[..., None], 3, axis=2) * 255).clip(0, 255)
        cb, cr = (
            (_enlarged(_enlarged(plane, height, 0), width, 1) - scale / 2) * chroma_scale
            for plane in planes[1:]
        )
        # Rec. ITU-R BT.601-7, 2.5; Rec. ITU-R BT.709-6, 3.2.
        red_share, blue_share = {None: (0.299, 0.114), 5: (0.299, 0.114), 1: (0.2126, 0.0722)}[
            matrix
        ]
        red = luma + 2 * (1 - red_share) * cr
        blue = luma + 2 * (1 - blue_share) * cb
        green = (luma - red_share * red - blue_share * blue) / (1 - red_share - blue_share)
        return self._upright(np.stack([red, green, blue], axis=-1) * 255).clip(0, 255)

    def _upright(self, pixels: Array) -> Array:
        return upright_of(pixels, self.orientation)


def _enlarged(plane: Array, size: int, axis: int) -> Array:
    """Interpolate along an axis between samples that are centred on those they represent."""
    if plane.shape[axis] == size:
        return plane
    # FFmpeg spreads them evenly over pictures of odd sizes, and rounds their distance.
    distance = np.round(plane.shape[axis] / size * 65536) / 65536
    at = np.clip((np.arange(size) + 0.5) * distance - 0.5, 0, plane.shape[axis] - 1)
    lower = np.floor(at).astype(int)
    upper = np.minimum(lower + 1, plane.shape[axis] - 1)
    weight = (at - lower).reshape([-1 if i == axis else 1 for i in range(2)])
    return plane.take(lower, axis) * (1 - weight) + plane.take(upper, axis) * weight


@functools.cache
def frames_of(path: Path) -> tuple[Frame, ...]:
    """Return all frames of a video in presentation order, as PyAV decodes it from the start."""
    with av.open(str(path)) as container:
        decoded = list(container.decode(container.streams.video[0]))
    first = decoded[0].time
    return tuple(_frame(frame, first) for frame in decoded)


def _frame(frame: av.VideoFrame, first: float | None) -> Frame:
    bits = frame.format.components[0].bits
    assert frame.time is not None
    assert first is not None
    return Frame(
        planes=tuple(_plane(plane, bits) for plane in frame.planes),
        seconds=frame.time - first,
        is_key=frame.key_frame,
        format=frame.format.name,
        bits=bits,
        full_range=frame.color_range == 2 or frame.format.name.startswith("yuvj"),
        matrix=int(frame.colorspace),
        orientation=_orientation(frame),
    )


def _orientation(frame: av.VideoFrame) -> int:
    matrix = frame.side_data.get("DISPLAYMATRIX")
    if matrix is None:
        return 1
    a, b, _, c, d = (int(value) for value in np.sign(np.frombuffer(matrix, np.int32)[:5]))
    return next(number for number, values in MATRICES.items() if values == (a, b, c, d))


def _plane(plane: Any, bits: int) -> Array:
    size = 2 if bits > 8 else 1
    rows = np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)
    return rows[:, : plane.width * size].copy().view(np.uint16 if bits > 8 else np.uint8)
