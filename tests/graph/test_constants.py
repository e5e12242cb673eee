"""Constants, and the objects that are converted to constants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Pipeline, fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.graph.computing import compute, numbers

Constant, ScalarConstant = types.Constant, types.ScalarConstant


class OnlyDLPack:
    """An array of a library that supports only DLPack."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values
        self.shape = values.shape

    def __dlpack__(self, **keywords: Any) -> Any:
        return self._values.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._values.__dlpack_device__()


class OnDevice:
    """An array that cannot be read from the host."""

    shape = (2,)

    def __array__(self, *arguments: Any, **keywords: Any) -> Any:
        raise TypeError("can't convert device tensor to numpy")


def constants(*make: Callable[[], Any]) -> list[np.ndarray]:
    return compute(lambda x: [each() for each in make], np.zeros(1))


def test_a_number_is_a_scalar_constant() -> None:
    for value, dtype in (
        *((3, types.INT32), (2.5, types.FLOAT), (True, types.BOOL), (np.uint8(2), types.UINT8)),
        *((np.float64(2), types.FLOAT), (np.array(2, np.int16), types.INT16)),
    ):
        made = Constant(value)
        assert isinstance(made, ScalarConstant)
        assert (made.value, made.dtype, made.shape) == (value, dtype, [])
    assert Constant(2.7, types.INT8).value == 2
    assert Constant(5, types.FLOAT64).value == 5.0


def test_types_of_scalar_constants() -> None:
    names = [*(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)), "bool"]
    for name in (*names, "float16", "float32", "float64"):
        made = getattr(Constant(1), name)()
        assert made.dtype == types.to_dali_type(np.dtype(name))
        assert made == ScalarConstant(1, made.dtype)
    assert Constant(1) != Constant(1.0)
    assert Constant(1) != 1


def test_conversions_of_scalar_constants() -> None:
    assert (int(Constant(3)), bool(Constant(0)), float(Constant(2.5))) == (3, False, 2.5)
    assert (str(Constant(3)), repr(Constant(2.5))) == ("3:DALIDataType.INT32", "2.5")
    for convert in (
        lambda: float(Constant(3)),
        lambda: int(Constant(2.5)),
        lambda: bool(Constant(0.0)),
    ):
        with pytest.raises(ArgumentTypeError, match="a constant must be of"):
            convert()
    with pytest.raises(TypeError):
        hash(Constant(3))
    with pytest.raises(TypeError):
        Constant(3) + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ScalarConstant(None), ArgumentTypeError),
        (lambda: ScalarConstant([1]), ArgumentTypeError),
        (lambda: ScalarConstant("a"), ArgumentTypeError),
        (lambda: ScalarConstant(1, types.STRING), ArgumentTypeError),
        (lambda: Constant("a"), ArgumentTypeError),
        (lambda: Constant(None), ArgumentTypeError),
        (lambda: Constant([1, "a"]), ArgumentTypeError),
        (lambda: Constant([[1], [1, 2]]), ArgumentTypeError),
        (lambda: Constant(np.array([2**33])), ArgumentValueError),
        (lambda: Constant([2**31]), ArgumentValueError),
        (lambda: Constant(np.array(["a"])), ArgumentTypeError),
        (lambda: Constant(np.ones(3, np.complex64)), ArgumentTypeError),
        (lambda: Constant(OnDevice()), ArgumentTypeError),
        (lambda: Constant(3, foo=2), ArgumentTypeError),
        (lambda: Constant(3, device="mixed"), ArgumentValueError),
    ],
)
def test_wrong_constants(make: Callable[[], Any], error: type) -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None), pytest.raises(error):
        make()


def test_nodes_of_constants() -> None:
    array = numbers("int16", (3, 4), 1)
    results = constants(
        lambda: Constant(array),
        lambda: Constant(array, dtype=types.FLOAT, shape=(4, 3)),
        lambda: Constant([[1, 2.5], [3, 4]]),
        lambda: Constant(7, shape=3),
        lambda: Constant(np.array([2**40]), dtype=types.INT64),
        lambda: Constant(OnlyDLPack(array)),
        lambda: Constant(types.FLOAT, device="cpu"),
        lambda: types.ConstantNode("cpu", [True, False], None, None, None),
        lambda: Constant(np.zeros((2, 0), np.int8)),
        lambda: Constant([Constant(2), np.int8(3)]),
    )
    expected = [
        array,
        array.astype(np.float32).reshape(4, 3),
        np.float32([[1, 2.5], [3, 4]]),
        np.int32([7, 7, 7]),
        np.int64([2**40]),
        array,
        np.int32(types.FLOAT.value),
        np.array([True, False]),
        np.zeros((2, 0), np.int8),
        np.int32([2, 3]),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_names_and_layouts() -> None:
    with Pipeline(batch_size=2, num_threads=1, device_id=None) as pipeline:
        node = Constant(np.zeros((2, 3), np.uint8), layout="HW", name="mask")
        assert isinstance(node, DataNode)
        assert (node.name, node.layout, node.dtype) == ("mask", "HW", types.UINT8)
        pipeline.set_outputs(node)
    (batch,) = pipeline.run()
    assert batch.layout() == "HW"
    pipeline.close()


def test_inputs_of_operators() -> None:
    image = numbers("uint8", (4, 5, 3), 2)
    window = np.ones((3, 3), np.float32)
    results = compute(
        lambda x: [
            fn.filter(x, window),
            fn.filter(x, Constant(window)),
            fn.stack(x[0, 0], np.uint8([1, 2, 3])),
            fn.cast(5, dtype=types.FLOAT),
            fn.cast(Constant(5).uint8(), dtype=types.INT64),
            fn.cat([1, 2], [3]),
        ],
        image,
        layout="HWC",
    )
    np.testing.assert_array_equal(results[0], results[1], strict=True)
    np.testing.assert_array_equal(results[2], np.stack([image[0, 0], [1, 2, 3]]))
    for result, wanted in zip(
        results[3:], (np.float32(5), np.int64(5), np.int32([1, 2, 3])), strict=True
    ):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_arguments_of_operators() -> None:
    image = numbers("uint8", (6, 7, 3), 3)
    matrix = np.float32([[1, 0, 1], [0, 1, 0]])
    one, other, part, same, parts = compute(
        lambda x: [
            fn.warp_affine(x, matrix=matrix),
            fn.warp_affine(x, matrix=matrix.ravel().tolist()),
            fn.crop(x, crop=np.array([2, 3]), crop_pos_x=Constant(0.0), crop_pos_y=np.float32(0)),
            fn.rotate(x, angle=Constant(0)),
            fn.crop(x, crop=[Constant(2), np.int64(3)], crop_pos_x=0.0, crop_pos_y=0.0),
        ],
        image,
        layout="HWC",
    )
    np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(part, image[:2, :3])
    np.testing.assert_array_equal(parts, image[:2, :3])
    np.testing.assert_array_equal(same, image)


def test_outputs_of_pipelines() -> None:
    results = compute(
        lambda x: [5, 2.5, [1, 2], np.ones((2, 2)), Constant(3).uint8(), x], np.int8(7)
    )
    expected = [
        *(np.int32(5), np.float32(2.5), np.int32([1, 2]), np.ones((2, 2), np.float32)),
        *(np.uint8(3), np.int8(7)),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_wrong_inputs() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        x = fn.external_source(source=lambda: [np.zeros(3)])
        with pytest.raises(ArgumentTypeError, match="must be a list of DataNodes .got a int among"):
            fn.cat([x, 1])
        with pytest.raises(ArgumentTypeError, match="must be a list of DataNodes .got a tuple"):
            fn.cast((x, x), dtype=types.FLOAT)
        with pytest.raises(ArgumentValueError, match="must have the same length .got .1, 2."):
            fn.cat([x, x], [x])
        with pytest.raises(ArgumentTypeError, match="operators in Python"):
            fn.python_function([x, x], function=lambda value: value)
        with pytest.raises(ArgumentTypeError, match="input 0 must be a DataNode"):
            fn.cast("a", dtype=types.FLOAT)


def test_torch_tensors() -> None:
    torch = pytest.importorskip("torch", reason="not available: PyTorch")
    values = torch.arange(6, dtype=torch.int16).reshape(2, 3)
    results = compute(
        lambda x: [x + values, values * x, Constant(values), fn.cast(values, dtype=types.FLOAT)],
        np.int16([1, 2, 3]),
    )
    array = values.numpy()
    for result, wanted in zip(
        results,
        (array + np.int16([1, 2, 3]), array * np.int16([1, 2, 3]), array, array.astype("float32")),
        strict=True,
    ):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_lists_of_nodes() -> None:
    def build(x: DataNode, y: DataNode) -> list[DataNode]:
        both = fn.cast([x, y], dtype=types.FLOAT, name="casts")
        assert both[0].name == "casts"
        return [*both, *fn.cat([x, y], y), fn.cast([x], dtype=types.INT8), *fn.cat([x, y], [y, x])]

    x, y = np.uint8([1, 2]), np.uint8([3])
    expected = [
        *(np.float32([1, 2]), np.float32([3]), np.uint8([1, 2, 3]), np.uint8([3, 3])),
        *(np.int8([1, 2]), np.uint8([1, 2, 3]), np.uint8([3, 1, 2])),
    ]
    for result, wanted in zip(compute(build, x, y), expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)
