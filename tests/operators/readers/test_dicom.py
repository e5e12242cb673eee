"""`fn.readers.dicom`: frames of files, and volumes of series."""

from __future__ import annotations

import io
import struct
import zlib
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.dicom import Dicom
from dali_core._readers.formats.lossless_jpeg import decode_lossless
from dali_core.errors import ArgumentValueError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import open_format
from tests.lossless_jpeg import write_lossless_jpeg
from tests.mutated_formats import outcomes
from tests.operators.readers.dicom_files import (
    END,
    EXPLICIT,
    IMPLICIT,
    SECRET,
    dicom,
    element,
    encapsulated,
    item,
    placed,
)
from tests.operators.suite import Example, numbers

JPEG, LOSSLESS, JPEG_2000 = (f"1.2.840.10008.1.2.4.{n}" for n in (50, 70, 90))
RLE = "1.2.840.10008.1.2.5"
SLOPE, INTERCEPT, FRAMES = (0x0028, 0x1053), (0x0028, 0x1052), (0x0028, 0x0008)


def slices(folder: Path, **arguments: Any) -> dict[str, Any]:
    for number in range(7):
        syntax = (EXPLICIT, IMPLICIT)[number % 2]
        count = 3 if number == 4 else 1
        pixels = numbers("int16", (count, 5, 4), number)
        changes = {SLOPE: 0.5, INTERCEPT: number, FRAMES: count}
        (folder / f"{number}.dcm").write_bytes(dicom(pixels, syntax, changes=changes))
    return {"file_root": str(folder), **arguments}


def series(folder: Path, **arguments: Any) -> dict[str, Any]:
    for volume in range(8):
        for number in range(3):
            place = (number * 7 + volume) % 3  # names of files have another order
            changes = placed((0, 0, 2.5 * place), place)
            changes |= {(0x0020, 0x000E): f"1.2.{volume}", SLOPE: 1 + place}
            pixels = numbers("uint16", (4, 3), 3 * volume + place)
            (folder / f"{volume}{number}.dcm").write_bytes(dicom(pixels, changes=changes))
    return {"file_root": str(folder), "series": True, **arguments}


EXAMPLES = [
    Example("slices", (), partial(slices, random_shuffle=True)),
    Example("series", (), partial(series, affine=True)),
]


class TestSlices(ReaderSuite):
    format = Dicom()
    num_samples = 9
    write = staticmethod(slices)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        for number in (1, 6):
            path = folder / f"{number}.dcm"
            path.write_bytes(path.read_bytes()[:-1])
        return {1: "1.dcm'", 8: "6.dcm'"}


class TestSeries(TestSlices):
    num_samples = 8

    def write(self, folder: Path) -> dict[str, Any]:
        return series(folder, affine=True)

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        for name in ("20.dcm", "52.dcm"):
            (folder / name).write_bytes((folder / name).read_bytes()[:-1])
        return {2: "20.dcm'", 5: "52.dcm'"}


def fetched(path: Path, **arguments: Any) -> list[np.ndarray]:
    source, fetcher = open_format(Dicom(), {"files": [str(path)], **arguments})
    return [fetcher.fetch(index)[0] for index in range(len(source))]


def check(path: Path) -> list[np.ndarray]:
    """Compare with what the reference reads, as it is stored and rescaled."""
    pydicom = pytest.importorskip("pydicom", reason="not available: pydicom")
    dataset = pydicom.dcmread(path)
    stored = dataset.pixel_array
    images = stored if int(dataset.get("NumberOfFrames", 1)) > 1 else stored[None]
    found = fetched(path, rescale=False)
    np.testing.assert_array_equal(np.stack(found), images)
    if dataset.SamplesPerPixel == 1:
        rescaled = pydicom.pixels.apply_rescale(images, dataset).astype(np.float32)
        np.testing.assert_array_equal(np.stack(fetched(path)), rescaled, strict=True)
    return found


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16", "uint32", "int32"])
@pytest.mark.parametrize("syntax", [IMPLICIT, EXPLICIT])
def test_types_are_those_of_the_reference(dtype: str, syntax: str, tmp_path: Path) -> None:
    pixels = numbers(dtype, (5, 7), 1)
    for scale in ({}, {SLOPE: 1, INTERCEPT: 0}, {SLOPE: 0.1, INTERCEPT: -1024}):
        (tmp_path / "a.dcm").write_bytes(dicom(pixels, syntax, changes=scale))
        (found,) = check(tmp_path / "a.dcm")
        np.testing.assert_array_equal(found, pixels, strict=True)


@pytest.mark.parametrize("dtype", ["uint16", "int16"])
@pytest.mark.parametrize(("stored", "high"), [(12, 11), (10, 13), (1, 0), (15, 15)])
def test_bits_that_are_not_of_the_values(
    dtype: str, stored: int, high: int, tmp_path: Path
) -> None:
    values = np.arange(-(1 << stored - 1), 1 << stored - 1)[: 20 * (1 << stored) // 20][:20]
    if dtype == "uint16":
        values = values - values.min()
    low = high + 1 - stored
    bits = (np.resize(values, 20) & ((1 << stored) - 1)) << low
    noise = numbers("uint16", (20,), 3) & ~np.uint16(((1 << stored) - 1) << low)
    pixels = (bits.astype("u2") | noise).view(dtype).reshape(4, 5)
    changes = {(0x0028, 0x0101): stored, (0x0028, 0x0102): high}
    (tmp_path / "a.dcm").write_bytes(dicom(pixels, changes=changes))
    (found,) = fetched(tmp_path / "a.dcm")
    np.testing.assert_array_equal(found.ravel(), np.resize(values, 20).astype("f4"), strict=True)


def test_frames_and_colours_are_those_of_the_reference(tmp_path: Path) -> None:
    path = tmp_path / "a.dcm"
    path.write_bytes(
        dicom(numbers("int16", (4, 5, 6), 1), changes={FRAMES: 4, SLOPE: 3, INTERCEPT: 1})
    )
    assert len(check(path)) == 4
    for colours in ("RGB", "YBR_FULL"):
        for planar in (0, 1):
            changes: dict[Any, Any] = {
                FRAMES: 2,
                (0x0028, 0x0002): 3,
                (0x0028, 0x0004): colours,
                (0x0028, 0x0006): planar,
            }
            data = dicom(numbers("uint8", (2, 3, 6, 6), 2), shape=(6, 6), changes=changes)
            path.write_bytes(data)
            assert check(path)[1].shape == (6, 6, 3)
    changes = {(0x0028, 0x0002): 3, (0x0028, 0x0004): "YBR_FULL_422", (0x0028, 0x0006): 0}
    path.write_bytes(dicom(numbers("uint8", (6 * 4 * 2,), 2), shape=(6, 4), changes=changes))
    check(path)
    packed = np.packbits(numbers("bool", (3, 3, 5), 1).ravel(), bitorder="little")
    bits = {(0x0028, n): value for n, value in ((0x0100, 1), (0x0101, 1), (0x0102, 0))}
    data = dicom(np.resize(packed, 6), shape=(3, 5), changes={FRAMES: 3, **bits})
    path.write_bytes(data)
    np.testing.assert_array_equal(
        np.stack(fetched(path)), numbers("bool", (3, 3, 5), 1).astype("f4"), strict=True
    )


def rle(frame: np.ndarray) -> bytes:
    """Compress a frame: half of it without runs, then in runs of one."""
    planes = frame.astype(frame.dtype.newbyteorder(">")).reshape(-1, 1).view("u1").T
    segments = []
    for plane in planes:
        half = len(plane) // 2
        data = bytes([half - 1]) + plane[:half].tobytes() + bytes([128])
        data += b"".join(bytes([0, value]) for value in plane[half:])
        segments.append(data + bytes(len(data) % 2))
    ends = np.cumsum([64, *map(len, segments)])
    return struct.pack("<16I", len(segments), *ends[:-1], *[0] * (16 - len(ends))) + b"".join(
        segments
    )


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32"])
def test_rle_is_that_of_the_reference(dtype: str, tmp_path: Path) -> None:
    pixels = numbers(dtype, (2, 4, 6), 3)
    data = encapsulated(list(map(rle, pixels)))
    changes = {FRAMES: 2, (0x0028, 0x0103): int(dtype[0] == "i")}
    bits = 8 * pixels.itemsize
    changes |= {(0x0028, 0x0100): bits, (0x0028, 0x0101): bits, (0x0028, 0x0102): bits - 1}
    (tmp_path / "a.dcm").write_bytes(dicom(data, RLE, (4, 6), changes))
    np.testing.assert_array_equal(check(tmp_path / "a.dcm"), pixels, strict=True)


def test_runs_of_rle(tmp_path: Path) -> None:
    pydicom = pytest.importorskip("pydicom", reason="not available: pydicom")
    path = tmp_path / "a.dcm"
    pixels = np.repeat(numbers("uint16", (40, 3), 1), 20, axis=1)
    path.write_bytes(dicom(pixels))
    dataset = pydicom.dcmread(path)
    dataset.SOPClassUID, dataset.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.7", "1.2.3.4"
    dataset.compress(pydicom.uid.RLELossless, generate_instance_uid=False)
    dataset.save_as(path)
    np.testing.assert_array_equal(check(path)[0], pixels)


def encoded(image: np.ndarray, kind: str) -> bytes:
    pil = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    file = io.BytesIO()
    options = {"no_jp2": True} if kind == "JPEG2000" else {"quality": 90}
    pil.fromarray(image).save(file, kind, **options)
    return file.getvalue()


@pytest.mark.parametrize("kind", ["JPEG", "JPEG2000"])
@pytest.mark.parametrize("is_rgb", [False, True])
def test_jpeg_is_that_of_the_reference(kind: str, is_rgb: bool, tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="not available: Pillow")
    shape = (16, 24, 3) if is_rgb else (16, 24)
    frames = [encoded(numbers("uint8", shape, number), kind) for number in range(3)]
    split = [*frames[:1], frames[1][:100], frames[1][100:], frames[2]]
    changes: dict[Any, Any] = {FRAMES: 3}
    if is_rgb:
        colours = "YBR_FULL_422" if kind == "JPEG" else "YBR_RCT"
        changes |= {(0x0028, 0x0002): 3, (0x0028, 0x0004): colours, (0x0028, 0x0006): 0}
    syntax = JPEG if kind == "JPEG" else JPEG_2000
    path = tmp_path / "a.dcm"
    lengths = [8 + len(one) + len(one) % 2 for one in split]
    table = [0, lengths[0], sum(lengths[:3])]
    found = []
    for parts, offsets in ((frames, []), (split, table), (split, [])):
        path.write_bytes(dicom(encapsulated(parts, offsets), syntax, (16, 24), changes))
        found.append(np.stack(fetched(path, rescale=False)))
        if offsets or parts is frames:
            check(path)
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_jpeg_2000_of_16_bits_and_lossless_jpeg(tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="not available: Pillow")
    path = tmp_path / "a.dcm"
    deep = {(0x0028, 0x0100): 16, (0x0028, 0x0101): 16, (0x0028, 0x0102): 15}
    pixels = numbers("uint16", (16, 20), 1)
    data = encapsulated([encoded(pixels, "JPEG2000")])
    path.write_bytes(dicom(data, JPEG_2000, (16, 20), deep))
    np.testing.assert_array_equal(check(path)[0], pixels, strict=True)
    # The codestream has no sign, and the elements say that there is one.
    path.write_bytes(dicom(data, JPEG_2000, (16, 20), {**deep, (0x0028, 0x0103): 1}))
    np.testing.assert_array_equal(fetched(path, rescale=False)[0], pixels.view("i2"), strict=True)
    grey = numbers("uint8", (16, 20, 1), 2)
    path.write_bytes(dicom(encapsulated([write_lossless_jpeg(grey)]), LOSSLESS, (16, 20)))
    np.testing.assert_array_equal(fetched(path, rescale=False)[0], grey[..., 0], strict=True)
    for dtype in ("uint16", "int16"):
        wide = (20000 + numbers("uint16", (16, 20), 2) % 25000).astype("u2").view(dtype)
        frame = write_lossless_jpeg(wide.view("u2")[..., None], precision=16)
        changes = {**deep, (0x0028, 0x0103): int(dtype == "int16")}
        path.write_bytes(dicom(encapsulated([frame]), LOSSLESS, (16, 20), changes))
        np.testing.assert_array_equal(fetched(path, rescale=False)[0], wide, strict=True)
    path.write_bytes(dicom(encapsulated([frame]), JPEG, (16, 20), deep))
    with pytest.raises(ValueError, match="JPEG must have samples of 8 bits .they have 16"):
        fetched(path)
    other = write_lossless_jpeg(wide.view("u2")[..., None], predictor=4, precision=16)
    path.write_bytes(dicom(encapsulated([other]), LOSSLESS, (16, 20), deep))
    with pytest.raises(ValueError, match="a scan of the first predictor"):
        fetched(path)


@pytest.mark.parametrize("precision", [8, 12, 16])
def test_lossless_jpeg_of_all_precisions(precision: int) -> None:
    # Differences of neighbours have 15 bits, as many as the writer has codes for.
    image = (20000 + numbers("uint16", (37, 51, 1), precision) % 25000) >> (16 - precision)
    image = image.astype(np.uint16)
    data = write_lossless_jpeg(image, precision=precision)
    np.testing.assert_array_equal(decode_lossless(data, 37, 51), image[..., 0], strict=True)
    pil = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    if precision == 8:
        np.testing.assert_array_equal(np.asarray(pil.open(io.BytesIO(data))), image[..., 0])
    for end in (10, len(data) // 2, len(data) - 40):
        with pytest.raises(ValueError, match="lossless JPEG must have"):
            decode_lossless(data[:end], 37, 51)
    with pytest.raises(ValueError, match="one component of 36 rows"):
        decode_lossless(data, 36, 51)


def test_deflated_and_nested_elements(tmp_path: Path) -> None:
    pixels = numbers("uint16", (4, 6), 1)
    inner = struct.pack("<HH2sHI", 0x0040, 0xA730, b"SQ", 0, 0xFFFFFFFF)
    nested = struct.pack("<HHI", 0xFFFE, 0xE000, 0xFFFFFFFF) + element((0x0010, 0x0010), "x")
    nested += item(b"", (0xFFFE, 0xE00D)) + END
    unknown = struct.pack("<HH2sHI", 0x0051, 0x0010, b"UN", 0, 0xFFFFFFFF)
    unknown += item(element((0x0028, 0x0010), 9, explicit=False)) + END
    data = dicom(pixels, extra=inner + nested + unknown)
    path = tmp_path / "a.dcm"
    path.write_bytes(data)
    np.testing.assert_array_equal(check(path)[0], pixels)
    head = 132 + len(element((0x0002, 0x0010), EXPLICIT))
    start = bytes(128) + b"DICM" + element((0x0002, 0x0010), "1.2.840.10008.1.2.1.99")
    compressor = zlib.compressobj(wbits=-15)
    path.write_bytes(start + compressor.compress(data[head:]) + compressor.flush())
    np.testing.assert_array_equal(check(path)[0], pixels)


def test_values_of_each_frame(tmp_path: Path) -> None:
    def sequence(tag: tuple[int, int], items: list[bytes]) -> bytes:
        data = b"".join(map(item, items))
        return struct.pack("<HH2sHI", *tag, b"SQ", 0, len(data)) + data

    groups = [
        sequence((0x0020, 0x9113), [element((0x0020, 0x0032), [0, 0, 3 - n])])
        + sequence((0x0028, 0x9145), [element(INTERCEPT, n) + element(SLOPE, 2)])
        for n in range(3)
    ]
    shared = sequence((0x0020, 0x9116), [element((0x0020, 0x0037), [1, 0, 0, 0, 1, 0])])
    extra = sequence((0x5200, 0x9229), [shared]) + sequence((0x5200, 0x9230), groups)
    pixels = numbers("int16", (3, 4, 5), 1)
    path = tmp_path / "a.dcm"
    path.write_bytes(dicom(pixels, changes={FRAMES: 3}, extra=extra))
    expected = [2.0 * pixels[n].astype("f4") + n for n in range(3)]
    np.testing.assert_array_equal(np.stack(fetched(path)), expected)
    np.testing.assert_array_equal(fetched(path, series=True)[0], expected[::-1])


def test_volumes_are_ordered_by_geometry(tmp_path: Path) -> None:
    rotation, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))
    row, column = rotation[0], rotation[1]
    normal = np.cross(row, column)
    volume = numbers("int16", (6, 3, 4), 1)
    for number, place in enumerate([3, 0, 5, 1, 4, 2]):
        changes = placed(10 + place * 2.0 * normal, 99 - place)
        changes |= {(0x0020, 0x0037): [*row, *column], INTERCEPT: place}
        (tmp_path / f"{number}.dcm").write_bytes(dicom(volume[place], changes=changes))
    arguments = {"file_root": str(tmp_path), "series": True, "affine": True}
    _, fetcher = open_format(Dicom(), arguments)
    found, affine = fetcher.fetch(0)
    expected = volume + np.arange(6, dtype="f4")[:, None, None]
    np.testing.assert_array_equal(found, expected, strict=True)
    points = affine @ [[5, 0, 0], [0, 2, 0], [0, 0, 3], [1, 1, 1]]
    wanted = [10 + 10 * normal, 10 + 2 * 0.5 * column, 10 + 3 * 0.25 * row]
    np.testing.assert_allclose(points[:3].T, wanted, atol=1e-9)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([0, 1, 2, 4], r"\(2 and 3 are 2.000 mm .* most 1.000 mm\). Slices may be missing"),
        ([0, 1, 1, 2], r"\(1 and 2 are at one; times or echoes"),
        ([0, 1, None, 2], "must have positions, or numbers of their own"),
    ],
)
def test_slices_that_do_not_fit(positions: list[Any], message: str, tmp_path: Path) -> None:
    for number, place in enumerate(positions):
        changes = placed((0, 0, place or 0), 5)
        if place is None:
            changes[0x0020, 0x0032] = None
        (tmp_path / f"{number}.dcm").write_bytes(
            dicom(numbers("int16", (3, 4), 1), changes=changes)
        )
    _, fetcher = open_format(Dicom(), {"file_root": str(tmp_path), "series": True})
    with pytest.raises(ValueError, match=message) as raised:
        fetcher.fetch(0)
    assert "0.dcm'" in str(raised.value)


def test_series_without_positions_and_damaged_files(tmp_path: Path) -> None:
    volume = numbers("uint8", (3, 3, 4), 1)
    for number in range(3):
        changes = {(0x0020, 0x0013): 9 - number}
        (tmp_path / f"{number}.dcm").write_bytes(dicom(volume[number], changes=changes))
    (tmp_path / "x.dcm").write_bytes(b"damaged")
    source, fetcher = open_format(Dicom(), {"file_root": str(tmp_path), "series": True})
    assert len(source) == 2
    np.testing.assert_array_equal(fetcher.fetch(0)[0], volume[::-1].astype("f4"))
    with pytest.raises(ValueError, match=r"x\.dcm' must be an image of DICOM"):
        fetcher.fetch(1)
    other = placed((0, 0, 0), 1)
    (tmp_path / "x.dcm").write_bytes(dicom(numbers("uint8", (3, 5), 1), changes=other))
    _, fetcher = open_format(Dicom(), {"file_root": str(tmp_path), "series": True})
    with pytest.raises(ValueError, match="must all have as many rows and columns"):
        fetcher.fetch(0)


@pytest.mark.parametrize(
    ("changes", "syntax", "message"),
    [
        ({(0x0028, 0x0010): 0}, EXPLICIT, "must have rows and columns"),
        ({(0x0028, 0x0010): 0xFFFF}, EXPLICIT, "there must be 1 to 0 frames"),
        ({FRAMES: 1 << 31}, EXPLICIT, "there must be 1 to 1 frames"),
        ({FRAMES: "9x"}, EXPLICIT, r"\(0028,0008\) must be a number"),
        ({(0x0028, 0x0100): 12}, EXPLICIT, "must have 1, 8, 16 or 32 bits"),
        ({(0x0028, 0x0101): 17}, EXPLICIT, "bits in those that are allocated"),
        ({(0x0028, 0x0100): None}, EXPLICIT, r"\(0028,0100\) must be one number"),
        ({SLOPE: "nan"}, EXPLICIT, r"\(0028,1053\) must have 1 finite"),
        ({SLOPE: SECRET}, EXPLICIT, r"\(0028,1053\) must have 1 finite"),
        ({}, "1.2.840.10008.1.2.4.80", "the syntax is 1.2.840.10008.1.2.4.80"),
        ({}, SECRET, "the syntax is none"),
    ],
)
def test_hostile_files(changes: dict[Any, Any], syntax: str, message: str, tmp_path: Path) -> None:
    pixels: Any = numbers("int16", (4, 5), 1)
    if syntax != EXPLICIT:
        pixels = encapsulated([b"x"])
    path = tmp_path / "a.dcm"
    path.write_bytes(dicom(pixels, syntax, (4, 5), changes))
    with pytest.raises(ValueError, match=message) as raised:
        fetched(path)
    assert SECRET not in str(raised.value)
    assert "a.dcm' must be an image of DICOM" in str(raised.value)


def test_files_without_images(tmp_path: Path) -> None:
    head = bytes(128) + b"DICM" + element((0x0002, 0x0010), EXPLICIT)
    (tmp_path / "a.dcm").write_bytes(head + element((0x0010, 0x0010), SECRET))
    with pytest.raises(ArgumentValueError, match="files must have images"):
        fetched(tmp_path / "a.dcm")
    with pytest.raises(ArgumentValueError, match="affine must be given with series=True"):
        fetched(tmp_path / "a.dcm", affine=True)


@pytest.mark.parametrize("suite", [TestSlices(), TestSeries()])
def test_mutated_files(suite: ReaderSuite, tmp_path: Path) -> None:
    counts = outcomes(suite, tmp_path, 0, 100)
    assert min(counts["bad"], counts["read"]) > 10
