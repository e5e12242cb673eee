"""Nodes: what they are as Python objects, what they reject, and their properties."""

from __future__ import annotations

import operator
from collections import abc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core.math
from dali_core import DataNode, Pipeline, fn, types
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    GraphError,
    NodeUseError,
    SampleError,
)
from tests.graph.computing import compute


def define(build: Callable[[DataNode], Any]) -> Any:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        return build(fn.external_source(source=lambda: [np.zeros(3, np.int32)]))


def test_nodes_are_keys() -> None:
    def build(x: DataNode) -> None:
        y = x + 1
        assert {x: "x", y: "y"}[x] == "x"
        assert len({x, y, x}) == 2
        assert x in [x]
        assert [y, x].index(y) == 0

    define(build)


def test_comparing_makes_a_node() -> None:
    results = define(lambda x: [x == 3, x != 3, operator.eq(3, x), x < 2, x > 2, x == +x])
    assert [isinstance(value, DataNode) for value in results] == [True] * 6
    names = [value.source.operator for value in results]
    assert names == [f"operator {name}" for name in ("==", "!=", "==", "<", ">", "==")]


def test_nodes_have_no_truth_value() -> None:
    for use in (bool, list, lambda x: 1 if x == 2 else 0, lambda x: 0 <= x < 5):
        with pytest.raises(GraphError):
            define(use)


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda x: x + "a", ArgumentTypeError, r"operator \+ at .*operands must be .*'a', a str"),
        (lambda x: x == None, ArgumentTypeError, "operator == at .*NoneType"),  # noqa: E711
        (lambda x: 2j * x, ArgumentTypeError, "complex"),
        (lambda x: x + 2**31, ArgumentValueError, r"must fit into INT32 \(got 2147483648\)"),
        (lambda x: x + types.Constant(300).uint8(), ArgumentValueError, "must fit into UINT8"),
        (lambda x: x * [[1], [2, 3]], ArgumentTypeError, "equal lengths"),
        (lambda x: x + np.array(["a"]), ArgumentTypeError, "arrays must hold numbers"),
        (lambda x: dali_core.math.sin("a"), ArgumentTypeError, "math.sin at .*operands must be"),
        (lambda x: x @ x, TypeError, "unsupported operand"),
    ],
)
def test_wrong_operands(use: Callable[[DataNode], Any], error: type, message: str) -> None:
    with pytest.raises(error, match=message) as caught:
        define(use)
    if error is not TypeError:
        assert __file__ in str(caught.value)


def line_of(text: str) -> int:
    """Return the number of the first line of this file that contains the text."""
    with open(__file__, encoding="utf-8") as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


def test_division_by_zero_names_the_line() -> None:
    batches = [[np.int32([1, 2]), np.int32([1, 0])], [np.int32([1, 2]), np.int32([4, 2])]]
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        x = fn.external_source(source=batches)
        y = 8 // (x + 0)  # here
        pipeline.set_outputs(y * 2 + 1)
    try:
        with pytest.raises(SampleError, match="divisors must not be zero") as caught:
            pipeline.run()
        error = caught.value
        assert (error.operator, error.sample) == ("operator //", 1)
        assert error.location == f"{__file__}:{line_of('# here')}"
        assert str(error).startswith(f"operator //, at {error.location}, epoch 0, iteration 0")
        (good,) = pipeline.run()
        np.testing.assert_array_equal(good.at(1), [8 // 4 * 2 + 1, 8 // 2 * 2 + 1])
    finally:
        pipeline.close()


@pytest.mark.parametrize(
    ("build", "arrays", "message"),
    [
        (lambda x, y: [x + y], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [-x], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [dali_core.math.sin(x)], ("bool", "bool"), "operands must have numbers"),
        (lambda x, y: [x & y], ("int8", "float32"), "must be integers .*int8 and float32"),
        (lambda x, y: [~y], ("int8", "float32"), r"must be integers or bool \(got float32"),
        (lambda x, y: [x % y], ("int8", "int8"), r"must not be zero \(got 0, of type int8"),
    ],
)
def test_invalid_types(build: Callable[..., Any], arrays: tuple[str, str], message: str) -> None:
    with pytest.raises(SampleError, match=message):
        compute(build, *(np.zeros(3, dtype) for dtype in arrays))


@pytest.mark.parametrize(
    ("shapes", "layouts", "message"),
    [
        (((2, 3), (4, 3)), ("", ""), r"equal extents.*\(2, 3\) and \(4, 3\)"),
        (((2, 3), (2, 3)), ("HW", "WH"), 'same layout.*"HW" and "WH"'),
        (((2, 3), (3,)), ("HW", "H"), 'same layout.*"HW" and "H"'),
    ],
)
def test_operands_that_do_not_fit(
    shapes: tuple[tuple[int, ...], ...], layouts: tuple[str, str], message: str
) -> None:
    def build(*nodes: DataNode) -> list[DataNode]:
        x, y = (fn.reinterpret(n, layout=of) for n, of in zip(nodes, layouts, strict=True))
        return [x + y]

    with pytest.raises(SampleError, match=message):
        compute(build, *(np.zeros(shape, np.int32) for shape in shapes))


# Properties of nodes


def test_attributes_of_nodes() -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None):
        x = fn.external_source(
            source=lambda: [np.zeros((2, 3), np.uint8)],
            name="x",
            dtype=types.UINT8,
            ndim=2,
            layout="HW",
        )
        assert (x.name, x.device, x.index) == ("x", "cpu", 0)
        assert (x.dtype, x.ndim, x.layout) == (types.UINT8, 2, "HW")
        assert (x.source.spec.name, str(x)) == ("external_source", repr(x))
        assert repr(x) == "DataNode(name='x', device='cpu')"
        y = x + 1
        assert (y.dtype, y.ndim, y.layout) == (None, None, None)
        assert (+x) is x
        assert x.cpu() is x
        _, second = fn.external_source(source=lambda: [[1], [2]], num_outputs=2, name="both")
        assert (second.index, second.name) == (1, "both[1]")
        moved = x.gpu()
        assert (moved.device, moved.cpu().device) == ("gpu", "cpu")
        assert moved.gpu() is moved
        with pytest.raises(ArgumentValueError, match="device must be"):
            x.shape(device="gpu")


def test_methods_of_nodes() -> None:
    image = np.zeros((4, 5, 3), np.uint8)

    def build(x: DataNode) -> list[DataNode]:
        shape = x.shape()
        return [
            *(shape, x.shape(dtype=types.FLOAT), shape[0] * shape[1], x.property("layout")),
            *(x.source_info(), (x + 1).property("layout")),
        ]

    results = compute(build, image, layout="HWC")
    expected = [
        *(np.int64([4, 5, 3]), np.float32([4, 5, 3]), np.int64(20), np.uint8([72, 87, 67])),
        *(np.zeros(0, np.uint8), np.uint8([72, 87, 67])),
    ]
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


def test_sources_of_files(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.bin").write_bytes(bytes([number, 7]))
    pipeline = Pipeline(batch_size=3, num_threads=1, device_id=None)
    with pipeline:
        data, _ = fn.readers.file(file_root=str(tmp_path), files=[f"{i}.bin" for i in range(3)])
        pipeline.set_outputs((1 + data * 2).source_info(), data[0].source_info())
    outputs = pipeline.run()
    for batch in outputs:
        names = [bytes(batch.at(i)).decode() for i in range(3)]
        assert names == ["0.bin", "1.bin", "2.bin"]
    pipeline.close()


def test_nodes_are_no_iterables() -> None:
    """As programs find out that take nodes or containers of nodes; iterating says what to do."""

    def build(x: DataNode) -> None:
        for value in (x, x + 1, types.Constant([1, 2, 3])):
            for kind in (abc.Iterable, abc.Collection, abc.Sequence):
                assert not isinstance(value, kind)
                assert not issubclass(type(value), kind)
            for consume in (iter, list, lambda node: [*node]):
                with pytest.raises(NodeUseError, match="Check how many outputs"):
                    consume(value)
        assert isinstance([x], abc.Iterable)

    define(build)
