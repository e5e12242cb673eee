"""`fn.readers.nifti`: volumes of NIfTI files, their scaling, affine and orientation."""

from __future__ import annotations

import gzip
import struct
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core._readers.formats.nifti import Nifti
from dali_core._readers.formats.nifti_header import ORIENTATIONS
from dali_core.errors import SampleError
from dali_core.testing import ReaderSuite
from dali_core.testing.reading import Sample, read
from tests.mutated_formats import outcomes
from tests.operators.suite import Example, numbers

CODES = {
    "uint8": 2,
    "int16": 4,
    "int32": 8,
    "float32": 16,
    "float64": 64,
    "int8": 256,
    "uint16": 512,
    "uint32": 768,
    "int64": 1024,
    "uint64": 1280,
}


def nifti(volume: np.ndarray, slope: float = 0, inter: float = 0, order: str = "<") -> bytes:
    """Return a NIfTI-1 file without a form."""
    header = bytearray(352)
    dims = [volume.ndim, *volume.shape, *[1] * 7][:8]
    struct.pack_into(f"{order}i", header, 0, 348)
    struct.pack_into(f"{order}8h", header, 40, *dims)
    code = CODES[volume.dtype.name]
    struct.pack_into(f"{order}hh", header, 70, code, volume.dtype.itemsize * 8)
    struct.pack_into(f"{order}8f", header, 76, 1, 2, 3, 4, *[1] * 4)
    struct.pack_into(f"{order}fff", header, 108, 352, slope, inter)
    header[344:348] = b"n+1\0"
    data = volume.astype(volume.dtype.newbyteorder(order)).tobytes(order="F")
    return bytes(header) + data


def example(folder: Path, compressed: bool = False, **arguments: Any) -> dict[str, Any]:
    for number in range(9):
        data = nifti(numbers("int16", (4, 3, number % 2 + 2), number), 0.5, number)
        if compressed:
            (folder / f"{number}.nii.gz").write_bytes(gzip.compress(data, mtime=0))
        else:
            (folder / f"{number}.nii").write_bytes(data)
    return {"file_root": str(folder), **arguments}


EXAMPLES = [
    Example("plain", (), partial(example, random_shuffle=True)),
    Example("compressed", (), partial(example, compressed=True, orientation="SLP")),
]


class TestPlain(ReaderSuite):
    format = Nifti()
    num_samples = 9
    write = staticmethod(example)  # type: ignore[assignment]

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        (folder / "2.nii").write_bytes((folder / "2.nii").read_bytes()[:-1])
        (folder / "8.nii").write_bytes(b"short")
        return {n: f"{n}.nii' must be a file of NIfTI" for n in (2, 8)}


class TestCompressed(TestPlain):
    def write(self, folder: Path) -> dict[str, Any]:
        return example(folder, compressed=True)

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        data = bytearray((folder / "3.nii.gz").read_bytes())
        data[-6] ^= 1  # of the checksum
        (folder / "3.nii.gz").write_bytes(data)
        (folder / "7.nii.gz").write_bytes(data[:-30])
        return {n: f"{n}.nii.gz' must be a file of NIfTI" for n in (3, 7)}


def found(path: Path, **arguments: Any) -> Sample:
    ((volume, affine),) = read("readers.nifti", {"files": [str(path)], **arguments}, 1)
    return volume, affine


def check(path: Path, orientation: str | None = None) -> None:
    """Compare with what the reference reads."""
    nibabel = pytest.importorskip("nibabel", reason="not available: nibabel")
    image = nibabel.load(path)
    if orientation is not None:
        now = nibabel.io_orientation(image.affine)
        wanted = nibabel.orientations.axcodes2ornt(orientation)
        image = image.as_reoriented(nibabel.orientations.ornt_transform(now, wanted))
    volume, affine = found(path, orientation=orientation)
    expected = np.asarray(image.get_fdata()).astype(np.float32)
    np.testing.assert_array_equal(volume, expected, strict=True)
    np.testing.assert_allclose(affine, image.affine, rtol=1e-6, atol=1e-6)
    assert affine.dtype == np.float64


@pytest.mark.parametrize("dtype", CODES)
@pytest.mark.parametrize("order", "<>")
def test_types_and_byte_orders(dtype: str, order: str, tmp_path: Path) -> None:
    volume = numbers(dtype, (2, 3, 4), 1)
    path = tmp_path / "a.nii"
    for scale in ((0, 0), (float("nan"), 3), (0.1, -7), (1, 0)):
        path.write_bytes(nifti(volume, *scale, order=order))
        found_volume, affine = found(path)
        is_scaled = scale[0] not in (0, 1) and scale[0] == scale[0]
        slope, inter = map(np.float64, np.float32(scale))
        expected = volume * slope + inter if is_scaled else volume
        np.testing.assert_array_equal(found_volume, expected.astype("f4"), strict=True)
        assert affine.tolist() == [[-2, 0, 0, 1], [0, 3, 0, -3], [0, 0, 4, -6], [0, 0, 0, 1]]


@pytest.mark.parametrize("kind", ["Nifti1Image", "Nifti2Image", "Nifti1Pair", "Nifti2Pair"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_values_and_affine_are_those_of_the_reference(
    kind: str, suffix: str, tmp_path: Path
) -> None:
    nibabel = pytest.importorskip("nibabel", reason="not available: nibabel")
    chance = np.random.default_rng(len(kind) + len(suffix))
    for number, shape in enumerate([(5,), (5, 4), (5, 4, 3), (5, 4, 3, 2), (2, 3, 1, 1, 2)]):
        volume = chance.integers(-1000, 1000, shape).astype(np.int16)
        affine = np.eye(4)
        rotation, _ = np.linalg.qr(chance.standard_normal((3, 3)))
        affine[:3] = np.c_[rotation * chance.uniform(0.5, 3, 3), chance.normal(size=3)]
        image = getattr(nibabel, kind)(volume, affine)
        image.header.set_slope_inter(0.25, 3)
        image.set_sform(affine, code=[1, 0, 0, 2, 1][number])
        image.set_qform(affine, code=[1, 1, 0, 0, 1][number])
        name = f"{number}.img{suffix}" if "Pair" in kind else f"{number}.nii{suffix}"
        nibabel.save(image, tmp_path / name)
        check(tmp_path / name)
        if "Pair" in kind:
            check(tmp_path / name.replace(".img", ".hdr"))


def test_orientations_are_those_of_the_reference(tmp_path: Path) -> None:
    nibabel = pytest.importorskip("nibabel", reason="not available: nibabel")
    chance = np.random.default_rng(0)
    for number in range(48):
        matrix, _ = np.linalg.qr(chance.standard_normal((3, 3)))
        affine = np.eye(4)
        affine[:3] = np.c_[matrix * (1, 2, 3), chance.normal(size=3)]
        shape = (2, 3, 4, 2)[: 3 + number % 2]
        image = nibabel.Nifti1Image(numbers("float32", shape, number), affine)
        nibabel.save(image, tmp_path / "a.nii")
        check(tmp_path / "a.nii", ORIENTATIONS[number])
        check(tmp_path / "a.nii", "RAS")


def test_decoded_files_are_kept(tmp_path: Path) -> None:
    arguments = example(tmp_path, compressed=True)
    _, fetcher = TestCompressed().open(arguments)
    _, other = TestCompressed().open({**arguments, "max_cached_bytes": 0})
    first = fetcher.fetch(0)[0]
    np.testing.assert_array_equal(other.fetch(0)[0], first)
    assert fetcher.fetch(1)[0].shape == other.fetch(1)[0].shape == (4, 3, 3)
    (tmp_path / "0.nii.gz").unlink()
    np.testing.assert_array_equal(fetcher.fetch(0)[0], first)
    with pytest.raises(ValueError, match=r"0\.nii\.gz' must be a file of NIfTI"):
        other.fetch(0)


@pytest.mark.parametrize(
    ("place", "value", "message"),
    [
        (0, b"\0", "must begin with a header of NIfTI-1"),
        (345, b"i", "header of a pair must be in a .hdr file"),
        (40, b"\x08", "must have 1 to 7 extents"),
        (42, b"\xff\xff", "must have 1 to 7 extents"),
        (42, b"\xff\x7f", r"bytes 352 to \d+ must be in the file"),
        (70, b"\x20", "real numbers of up to 64 bits .got type 32"),
        (70, b"\x80", "real numbers of up to 64 bits .got type 128"),
        (108, struct.pack("<f", -1), "the data must begin in the file"),
        (108, struct.pack("<f", float("inf")), "the data must begin in the file"),
        (112, struct.pack("<ff", 2, float("nan")), "scl_inter must be a finite number"),
        (254, b"\1", "the axes must have directions of their own"),
        (256, struct.pack("<f", 5) + b"", "ok"),
        (252, b"\1\0\0\0" + struct.pack("<f", 5), "must be that of a rotation"),
    ],
)
def test_hostile_headers(place: int, value: bytes, message: str, tmp_path: Path) -> None:
    data = bytearray(nifti(np.zeros((2, 3, 4), np.int16)))
    data[place : place + len(value)] = value
    (tmp_path / "a.nii").write_bytes(data)
    if message == "ok":
        assert found(tmp_path / "a.nii")[0].shape == (2, 3, 4)
        return
    with pytest.raises(SampleError, match=message):
        found(tmp_path / "a.nii", orientation="RAS")


def test_sizes_of_compressed_files(tmp_path: Path) -> None:
    data = nifti(np.zeros((2, 3, 4), np.int16))
    path = tmp_path / "a.nii.gz"
    path.write_bytes(gzip.compress(data + bytes(2 << 20)))
    with pytest.raises(SampleError, match="at most 1048576 bytes after the data"):
        found(path)
    path.write_bytes(gzip.compress(data[:42] + b"\xff\x7f" * 3 + data[48:]))
    with pytest.raises(SampleError, match="compressed bytes must have .* bytes in them"):
        found(path)
    path.write_bytes(gzip.compress(data[:-1]))
    with pytest.raises(SampleError, match="it must have 400 bytes .it has 399"):
        found(path)


@pytest.mark.parametrize("suite", [TestPlain(), TestCompressed()])
def test_mutated_files(suite: ReaderSuite, tmp_path: Path) -> None:
    counts = outcomes(suite, tmp_path, 0, 100)
    assert min(counts["bad"], counts["read"]) > 10
