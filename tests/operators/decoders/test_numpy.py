"""`fn.decoders.numpy`: arrays of .npy files."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core import types
from dali_core.errors import SampleError
from tests.npy_files import TYPES, TYPES_SWAPPED, array_of, npy, with_header
from tests.operators.suite import Example, Input, run_on

HEADER = "{'descr': '<i2', 'fortran_order': False, 'shape': (2,), }"


def file_of(array: np.ndarray, version: tuple[int, int] | None = None) -> np.ndarray:
    return np.frombuffer(npy(array, version), np.uint8)


def of_number(number: int) -> np.ndarray:
    return file_of(np.arange(number * 3, dtype=np.int16).reshape(number, 3))


EXAMPLES = [
    Example("array", (Input(of_number),)),
    Example("converted", (Input(of_number),), {"dtype": types.FLOAT}),
]


def decode(*contents: bytes, **arguments: object) -> list[np.ndarray]:
    files = [np.frombuffer(content, np.uint8) for content in contents]
    return run_on("decoders.numpy", files, **arguments)


def test_types_orders_and_shapes() -> None:
    for number in range(300):
        array = array_of(number)
        (found,) = decode(npy(array))
        np.testing.assert_array_equal(found, array.astype(array.dtype.newbyteorder("=")))
        assert found.dtype == array.dtype.newbyteorder("=")
        assert found.shape == array.shape


@pytest.mark.parametrize("shape", [(1, -1), (-1, 1)])
def test_bytes_in_further_dimensions(shape: tuple[int, int]) -> None:
    file = np.frombuffer(npy(np.arange(6)), np.uint8)
    (found,) = run_on("decoders.numpy", [file.reshape(shape)])
    np.testing.assert_array_equal(found, np.arange(6), strict=True)
    with pytest.raises(SampleError, match="uint8 in one dimension"):
        run_on("decoders.numpy", [file.reshape(2, -1)])


def test_versions() -> None:
    for version in ((1, 0), (2, 0), (3, 0)):
        (found,) = decode(npy(np.arange(6).reshape(2, 3), version))
        np.testing.assert_array_equal(found, np.arange(6).reshape(2, 3), strict=True)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float32", "bool", "int64"])
def test_conversion(dtype: str) -> None:
    array = np.array([[300.7, -5.5, 2.5], [0, 3.5, -1e30]], np.float32)
    expected = run_on("cast", [array], dtype=types.to_dali_type(np.dtype(dtype)))
    for stored in (array, np.asfortranarray(array), array.astype(">f4")):
        found = decode(npy(stored), dtype=types.to_dali_type(np.dtype(dtype)))
        np.testing.assert_array_equal(found[0], expected[0], strict=True)


def test_headers_of_other_writers() -> None:
    data = b"\1\0\2\0"
    for text in (
        HEADER,
        "{'shape':(2L,),'descr':'=i2','fortran_order':True}",
        '  {"descr" : "<i2",\n\t"shape" : ( 2 , ) , "fortran_order" : False}  \n',
        HEADER.replace("(2,)", "(2)").replace("<", "|"),
    ):
        for version in (1, 2, 3):
            (found,) = decode(with_header(text, data, version))
            np.testing.assert_array_equal(found, np.array([1, 2], np.int16), strict=True)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "NUMPY at its beginning"),
        (b"\x93NUMPY", "NUMPY at its beginning"),
        (b"PK\3\4" * 10, "NUMPY at its beginning"),
        (with_header(HEADER, b"abcd", 4), "format version 1.0"),
        (with_header(HEADER, b"abcd")[:30], "a complete header"),
        (with_header(HEADER, b"abc"), "all elements"),
        (with_header(" " * 66000 + HEADER, b"abcd", 2), "at most 65536 characters"),
        (with_header(HEADER.replace("2,", "-1,"), b"abcd"), "not negative"),
        (with_header(HEADER.replace("2,", "9" * 30), b"abcd"), r"at most 2\^47"),
        (with_header(HEADER.replace("2,", "9" * 14 + ",0")), "fits into memory"),
        (with_header(HEADER.replace("2,", f"{2**46}," * 3), b"abcd"), "fits into memory"),
        (with_header(HEADER.replace("2,", "1," * 9), b"abcd"), "at most 8 dimensions"),
        (with_header(HEADER.replace("<i2", "<i3"), b"abcd"), "integers, floating point"),
        (with_header(HEADER.replace("<i2", "|O"), b"abcd"), "no pickled objects"),
        (with_header(HEADER.replace("'<i2'", "[('a', '<i2')]"), b"abcd"), "no records"),
        (with_header(HEADER.replace("False", "0"), b"abcd"), "True or False"),
        (with_header(HEADER.replace("'<i2'", "open('x')"), b"abcd"), "quoted text"),
        (with_header(HEADER.replace("descr", "shape"), b"abcd"), "in its header"),
        (with_header(HEADER.replace("'descr': '<i2',", ""), b"abcd"), "only some of them"),
        (with_header(HEADER + "x", b"abcd"), "nothing after the header"),
        (with_header("{'descr", b"abcd"), "text that ends"),
        (npy(np.zeros(3, complex)), "integers, floating point"),
        (npy(np.zeros(3, "U2")), "integers, floating point"),
        (npy(np.zeros(3, "M8[s]")), "integers, floating point"),
    ],
)
def test_other_files_are_bad_samples(content: bytes, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        decode(content)


def test_pickled_arrays_are_not_read() -> None:
    file = npy_of_objects()
    with pytest.raises(SampleError, match="no pickled objects"):
        decode(file)


def npy_of_objects() -> bytes:
    return npy(np.array([{}, None], object))


def test_inputs_of_other_types_raise() -> None:
    with pytest.raises(SampleError, match="bytes of a file"):
        run_on("decoders.numpy", [np.zeros(100, np.int8)])
    with pytest.raises(SampleError, match="bytes of a file"):
        run_on("decoders.numpy", [np.zeros((50, 2), np.uint8)])


def test_every_type_is_covered() -> None:
    assert {array_of(number).dtype.str for number in range(300)} == {
        np.dtype(dtype).str for dtype in (*TYPES, *TYPES_SWAPPED)
    }
