"""Conversion of planes of video frames: a plain formula, sanitizers, every instruction set."""

from __future__ import annotations

import ctypes
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.compiled_programs import (
    KERNELS,
    VOCABULARY,
    build_program,
    operator_flags,
    require_compiler,
)
from tests.engine.build_and_run import HERE as OF_ENGINE
from tests.engine.build_and_run import run_operators, run_program
from tests.orientations import upright_of

HERE = Path(__file__).parent
SOURCES = [
    HERE / "convert.cpp",
    KERNELS / "video" / "convert_planes.cpp",
    *VOCABULARY,
]
LEVELS = ("baseline", "avx2", "avx512")
RGB, BGR, GRAY, YCBCR = range(4)


class FramePlanes(ctypes.Structure):
    """The same as in `frame_planes.hpp`."""

    _fields_ = [
        ("width", ctypes.c_int),
        ("height", ctypes.c_int),
        ("num_planes", ctypes.c_int),
        ("chroma_shift_x", ctypes.c_int),
        ("chroma_shift_y", ctypes.c_int),
        ("bits", ctypes.c_int),
        ("full_range", ctypes.c_bool),
        ("is_rgb", ctypes.c_bool),
        ("matrix", ctypes.c_uint8),
        ("orientation", ctypes.c_int),
        ("seconds", ctypes.c_double),
        ("data", ctypes.c_void_p * 3),
        ("stride", ctypes.c_int64 * 3),
    ]


def run_at(level: str, command: list[str]) -> str:
    result = run_program(command, DALI_CORE_SIMD=level)
    assert result.returncode == 0, f"{level}: {result.stdout}"
    return str(result.stdout)


@pytest.mark.parametrize("level", LEVELS)
def test_under_sanitizers(level: str) -> None:
    printed = run_operators("convert", [OF_ENGINE / "main.cpp", *SOURCES], DALI_CORE_SIMD=level)
    assert "5 tests run, 0 failed" in printed


@pytest.fixture(scope="module")
def library() -> Path:
    require_compiler()
    flags = [*operator_flags(sanitize=False), "-fPIC"]
    return build_program("convert_planes.so", SOURCES, [*flags, "-shared"])


def make_frame(
    planes: list[np.ndarray], shifts: tuple[int, int] = (1, 1), **settings: int
) -> FramePlanes:
    height, width = planes[0].shape
    frame = FramePlanes(
        width, height, len(planes), *shifts, **{"bits": 8, "matrix": 2, "orientation": 1} | settings
    )
    for i, plane in enumerate(planes):
        frame.data[i] = plane.ctypes.data
        frame.stride[i] = plane.strides[0]
    frame.planes = planes  # what the addresses refer to
    return frame


def convert(
    library: Path, frame: FramePlanes, kind: int = RGB, matrix: str = "bt601"
) -> np.ndarray:
    function = ctypes.CDLL(str(library)).convert_planes
    turned = frame.orientation >= 5
    height, width = frame.height, frame.width
    shape = (width, height) if turned else (height, width)
    out = np.zeros((*shape, 1 if kind == GRAY else 3), np.uint8)
    result = function(
        ctypes.byref(frame), kind, matrix.encode(), out.ctypes.data_as(ctypes.c_void_p)
    )
    assert result == shape[0]
    return out


def random_planes(
    height: int, width: int, shifts: tuple[int, int] = (1, 1), bits: int = 8, seed: int = 0
) -> list[np.ndarray]:
    generator = np.random.default_rng([seed, height, width])
    chroma = (((height - 1) >> shifts[1]) + 1, ((width - 1) >> shifts[0]) + 1)
    dtype = np.uint8 if bits == 8 else np.uint16
    sizes = [(height, width), chroma, chroma]
    return [generator.integers(0, 1 << bits, size, dtype=dtype) for size in sizes]


def spread(plane: np.ndarray, axis: int, size: int) -> np.ndarray:
    """Interpolate between centres of samples that are spread evenly over `size` pixels."""
    distance = np.round(plane.shape[axis] / size * 65536) / 65536  # as FFmpeg rounds it
    places = np.clip((np.arange(size) + 0.5) * distance - 0.5, 0, plane.shape[axis] - 1)
    low = np.floor(places).astype(int)
    high = np.minimum(low + 1, plane.shape[axis] - 1)
    shape = [1, 1]
    shape[axis] = size
    share = (places - low).reshape(shape)
    return plane.take(low, axis) * (1 - share) + plane.take(high, axis) * share


# Coefficients of red and blue in luma: ITU-R BT.601, BT.709, BT.2020.
SHARES = {"bt601": (0.299, 0.114), "bt709": (0.2126, 0.0722), "bt2020": (0.2627, 0.0593)}


def exact_rgb(planes: list[np.ndarray], matrix: str, bits: int, full_range: bool) -> np.ndarray:
    height, width = planes[0].shape
    step = 1 << (bits - 8)
    most = (1 << bits) - 1
    chroma = [spread(spread(plane.astype(float), 0, height), 1, width) for plane in planes[1:]]
    y = planes[0] / most if full_range else (planes[0] / step - 16) / 219
    u, v = ((c - 128 * step) / (most if full_range else 224 * step) for c in chroma)
    red, blue = SHARES[matrix]
    r = y + 2 * (1 - red) * v
    b = y + 2 * (1 - blue) * u
    g = (y - red * r - blue * b) / (1 - red - blue)
    return np.clip(255 * np.stack([r, g, b], -1), 0, 255)


@pytest.mark.parametrize("matrix", SHARES)
@pytest.mark.parametrize("full_range", [False, True])
@pytest.mark.parametrize("bits", [8, 10, 12])
def test_matrices(library: Path, bits: int, full_range: bool, matrix: str) -> None:
    for height, width in ((1, 1), (2, 3), (35, 70), (48, 64)):
        planes = random_planes(height, width, bits=bits)
        frame = make_frame(planes, bits=bits, full_range=full_range)
        exact = exact_rgb(planes, matrix, bits, full_range)
        got = convert(library, frame, RGB, matrix)
        assert np.abs(got - exact).max() <= 0.5 + 1e-3
        np.testing.assert_array_equal(convert(library, frame, BGR, matrix), got[..., ::-1])


def test_matrix_of_the_stream(library: Path) -> None:
    planes = random_planes(8, 8)
    for code, same in ((1, "bt709"), (5, "bt601"), (6, "bt601"), (9, "bt2020"), (2, "bt601")):
        frame = make_frame(planes, matrix=code)
        expected = convert(library, frame, RGB, same)
        np.testing.assert_array_equal(convert(library, frame, RGB, "auto"), expected)
        by_default = convert(library, make_frame(planes), RGB, "bt601")
        np.testing.assert_array_equal(convert(library, frame, RGB, "bt601"), by_default)


@pytest.mark.parametrize("size", [(576, 720), (577, 16), (2, 1280)])
def test_streams_that_say_nothing_go_by_their_size(library: Path, size: tuple[int, int]) -> None:
    frame = make_frame(random_planes(*size))
    expected = convert(library, frame, RGB, "bt601" if size == (576, 720) else "bt709")
    np.testing.assert_array_equal(convert(library, frame, RGB, "auto"), expected)


def test_luma_and_chroma_are_unchanged(library: Path) -> None:
    planes = random_planes(9, 11, (0, 0))
    same = convert(library, make_frame(planes, (0, 0)), YCBCR)
    np.testing.assert_array_equal(same, np.stack(planes, -1))
    full = convert(library, make_frame(planes, (0, 0), full_range=1), YCBCR)
    scaled = [16 + planes[0] * (219 / 255), *(128 + (c - 128.0) * 224 / 255 for c in planes[1:])]
    assert np.abs(full - np.stack(scaled, -1)).max() <= 0.5 + 1e-3


def test_grey(library: Path) -> None:
    planes = random_planes(9, 11)
    exact = np.clip((planes[0] - 16.0) * 255 / 219, 0, 255)[..., None]
    assert np.abs(convert(library, make_frame(planes), GRAY) - exact).max() <= 0.5 + 1e-3
    of_luma = make_frame(planes[:1])
    np.testing.assert_array_equal(
        convert(library, of_luma, GRAY), convert(library, make_frame(planes), GRAY)
    )
    np.testing.assert_array_equal(
        convert(library, of_luma, RGB), np.repeat(convert(library, of_luma, GRAY), 3, -1)
    )
    np.testing.assert_array_equal(convert(library, of_luma, YCBCR)[..., 1:], 128)
    np.testing.assert_array_equal(convert(library, of_luma, YCBCR)[..., 0], planes[0])


def test_planes_of_colours(library: Path) -> None:
    green, blue, red = planes = random_planes(9, 20, (0, 0))
    frame = make_frame(planes, (0, 0), is_rgb=1, full_range=1, matrix=0)
    rgb = np.stack([red, green, blue], -1)
    np.testing.assert_array_equal(convert(library, frame, RGB), rgb)
    np.testing.assert_array_equal(convert(library, frame, BGR, "auto"), rgb[..., ::-1])
    grey = rgb @ np.array([0.299, 0.587, 0.114])
    assert np.abs(convert(library, frame, GRAY)[..., 0] - grey).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", [RGB, GRAY])
def test_orientation(library: Path, kind: int, orientation: int) -> None:
    planes = random_planes(300, 41)
    upright = convert(library, make_frame(planes, orientation=orientation), kind)
    stored = convert(library, make_frame(planes), kind)
    np.testing.assert_array_equal(upright, upright_of(stored, orientation))


def test_bits_are_the_same_at_all_levels(library: Path) -> None:
    code = (
        "import sys; from pathlib import Path; "
        "from tests.engine.video.test_convert import checksum; "
        "print(checksum(Path(sys.argv[1])))"
    )
    command = [sys.executable, "-c", code, str(library)]
    assert len({run_at(level, command) for level in LEVELS}) == 1


def checksum(library: Path) -> int:
    """Convert frames of all sizes, kinds and depths; return a checksum of all pixels."""
    total = 0
    for size in range(1, 71):
        for bits in (8, 10):
            planes = random_planes(71 - size, size, bits=bits)
            frame = make_frame(planes, bits=bits, full_range=size % 2, orientation=size % 8 + 1)
            for kind in (RGB, BGR, GRAY, YCBCR):
                total = zlib.crc32(convert(library, frame, kind).tobytes(), total)
    return total
