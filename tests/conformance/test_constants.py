"""Constants equal those of NVIDIA DALI; random numbers have the same distribution.

Where this library differs on purpose:

* `full` and `full_like` reject a value that NumPy would not broadcast; the reference takes a part
  of it.
* `constant` knows ``FLOAT64``, and `random.normal` ``FLOAT16`` and ``BOOL``.
* Lists of lists serve as values of `full`, `full_like` and `random.choice`.
* Integers beyond 32 bits as the value of `full` are rejected; the reference saturates them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

TYPES = (
    *("UINT8", "INT8", "UINT16", "INT16", "UINT32", "INT32", "UINT64", "INT64"),
    *("FLOAT16", "FLOAT", "FLOAT64", "BOOL"),
)
Call = Callable[[Any, Callable[..., Any]], Any]


def run(library: Any, call: Call, batch_size: int) -> tuple[str, str, list[np.ndarray]]:
    """Return dtype, layout and samples; a call gets the library and a maker of nodes."""
    pipeline = library.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, seed=11)

    def node(value: Any, **keywords: Any) -> Any:
        samples = [np.asarray(value)] * batch_size
        return library.fn.external_source(source=lambda: samples, **keywords)

    with pipeline:
        pipeline.set_outputs(call(library, node))
    pipeline.build()
    (batch,) = pipeline.run()
    arrays = [np.array(batch.at(i)) for i in range(batch_size)]
    return batch.dtype.name, batch.layout(), arrays


def check(call: Call) -> None:
    ours, theirs = (run(library, call, 2) for library in (dali_core, reference))
    assert ours[:2] == theirs[:2]
    for one, other in zip(ours[2], theirs[2], strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def check_refused(call: Call) -> None:
    for library in (dali_core, reference):
        with pytest.raises((RuntimeError, ValueError, TypeError, KeyError)):
            run(library, call, 2)


@pytest.mark.parametrize(
    "arguments",
    [
        {"fdata": 2.5},
        {"fdata": [1, 2.5]},
        {"fdata": 2.5, "shape": []},
        {"fdata": 2.5, "shape": 3},
        {"fdata": [2.5], "shape": [2, 3]},
        {"fdata": [1, 2, 3, 4, 5, 6], "shape": [2, 3], "layout": "HW"},
        {"fdata": 1, "shape": [0, 2]},
        {"fdata": []},
        {"idata": [1, 2]},
        {"idata": [2**31 - 1, -(2**31)]},
    ],
)
def test_constant(arguments: dict[str, Any]) -> None:
    check(lambda library, _: library.fn.constant(**arguments))


@pytest.mark.parametrize("dtype", [name for name in TYPES if name != "FLOAT64"])
def test_types_of_constant(dtype: str) -> None:
    for data in ({"fdata": [1, 2.5, 300, -5, 1.5, -1.5, 0.3]}, {"idata": [1, 2, 300, -5, 0]}):
        check(
            lambda library, _, d=data: library.fn.constant(dtype=getattr(library.types, dtype), **d)
        )


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"shape": [2]},
        {"fdata": 1, "idata": 1},
        {"fdata": [1, 2, 3, 4], "shape": [2, 3]},
        {"fdata": [1, 2], "layout": "XY"},
        {"fdata": 1, "shape": [-1]},
    ],
)
def test_invalid_constants(arguments: dict[str, Any]) -> None:
    check_refused(lambda library, _: library.fn.constant(**arguments))


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_zeros_and_ones(name: str) -> None:
    for arguments in (
        {},
        {"shape": [2, 3]},
        {"shape": 3},
        {"shape": []},
        {"shape": [0, 4]},
        {"shape": [2, 3], "layout": "AB"},
    ):
        check(lambda library, _, a=arguments: getattr(library.fn, name)(**a))
    for dtype in TYPES:
        check(
            lambda library, _, d=dtype: getattr(library.fn, name)(
                shape=[2], dtype=getattr(library.types, d)
            )
        )
        check(
            lambda library, node, d=dtype: getattr(library.fn, f"{name}_like")(
                node(np.int16([[2, 3]]), layout="HW"), dtype=getattr(library.types, d)
            )
        )
    check(lambda library, node: getattr(library.fn, name)(shape=node(np.int32([2, 3]))))
    check(lambda library, node: getattr(library.fn, name)(shape=node(np.int32(3))))
    check(lambda library, node: getattr(library.fn, f"{name}_like")(node(np.float16([5, 0]))))
    check_refused(lambda library, _: getattr(library.fn, name)(shape=[2, 3], layout="A"))
    check_refused(lambda library, _: getattr(library.fn, name)(layout="A"))
    check_refused(lambda library, _: getattr(library.fn, name)(shape=[-1]))


@pytest.mark.parametrize("value", [3, 3.5, True, [1, 2, 3], [1.5, 2, 4]])
def test_full_with_values_of_the_program(value: Any) -> None:
    check(lambda library, _: library.fn.full(value, shape=[2, 3]))
    check(lambda library, _: library.fn.full(value, shape=[4, 2, 3], layout="DHW"))
    check(lambda library, node: library.fn.full(value, shape=node(np.int32([2, 3]))))
    check(
        lambda library, node: library.fn.full_like(
            node(np.zeros((2, 3), np.int16), layout="HW"), value
        )
    )


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float16", "float32", "bool"])
def test_full_with_nodes(dtype: str) -> None:
    value = np.array([[3], [1]], dtype)
    check(lambda library, node: library.fn.full(node(value), shape=[2, 2, 3]))
    check(lambda library, node: library.fn.full(node(value.ravel(), layout="X"), shape=[3, 2]))
    for like in ("uint8", "int32", "float32", "bool"):
        check(
            lambda library, node, to=like: library.fn.full_like(
                node(np.zeros((2, 3), to), layout="HW"), node(value)
            )
        )


def test_conversion_to_the_type_of_the_output() -> None:
    for value in (2.5, -2.5, 3.7, 70000.0, -70000.0):
        check(lambda library, node, v=value: library.fn.full_like(node(np.int16([0, 0])), v))


def test_invalid_values() -> None:
    check_refused(lambda library, _: library.fn.full([1, 2], shape=[2, 3]))
    check_refused(lambda library, node: library.fn.full_like(node(np.zeros((2, 3))), [1, 2]))
    check_refused(lambda library, _: library.fn.full("a", shape=[2]))
    check_refused(lambda library, _: library.fn.full(3, shape=[2], layout="AB"))


def draw(library: Any, call: Call) -> tuple[str, str, np.ndarray]:
    """Draw 10000 numbers, half of them for each of two samples."""
    dtype, layout, arrays = run(library, call, 2)
    return dtype, layout, np.concatenate([array.ravel() for array in arrays])


def check_distribution(call: Call) -> None:
    ours, theirs = (draw(library, call) for library in (dali_core, reference))
    assert ours[:2] == theirs[:2]
    assert len(ours[2]) == len(theirs[2]) == 10_000
    values = np.union1d(ours[2], theirs[2])
    steps = [
        np.searchsorted(np.sort(drawn[2]), values, "right") / 10_000 for drawn in (ours, theirs)
    ]
    # Two-sample Kolmogorov-Smirnov test, at a level of 0.001.
    assert np.abs(steps[0] - steps[1]).max() < 1.95 * np.sqrt(2 / 10_000)


@pytest.mark.parametrize("dtype", [name for name in TYPES if name not in ("FLOAT16", "BOOL")])
def test_normal(dtype: str) -> None:
    check_distribution(
        lambda library, _: library.fn.random.normal(
            mean=3.0, stddev=40.0, shape=5000, dtype=getattr(library.types, dtype)
        )
    )


def test_normal_of_other_parameters() -> None:
    like = np.zeros((50, 100), np.int16)
    check_distribution(lambda library, node: library.fn.random.normal(node(like, layout="HW")))
    check_distribution(
        lambda library, node: library.fn.random.normal(mean=node(np.float32(9)), shape=5000)
    )
    check_refused(lambda library, node: library.fn.random.normal(node(like), shape=[2]))


@pytest.mark.parametrize(
    ("alpha", "beta"), [(1.0, 1.0), (2.0, 5.0), (0.3, 0.7), (100.0, 1.0), (1000.0, 1000.0)]
)
def test_beta(alpha: float, beta: float) -> None:
    for dtype in ("FLOAT", "FLOAT64"):
        check_distribution(
            lambda library, _, d=dtype: library.fn.random.beta(
                alpha=alpha, beta=beta, shape=5000, dtype=getattr(library.types, d)
            )
        )


def test_invalid_beta() -> None:
    check_refused(lambda library, _: library.fn.random.beta(alpha=0.0))
    check_refused(lambda library, _: library.fn.random.beta(beta=float("inf")))
    check_refused(lambda library, _: library.fn.random.beta(dtype=library.types.FLOAT16))


@pytest.mark.parametrize("choices", [7, [1.5, 2.5, 4.0], [3, 1, 2]])
def test_choice(choices: Any) -> None:
    check_distribution(lambda library, _: library.fn.random.choice(choices, shape=[50, 100]))
    like = np.zeros((5000,), np.int16)
    check_distribution(
        lambda library, node: library.fn.random.choice(choices, node(like, layout="X"))
    )


def test_choice_with_probabilities() -> None:
    check_distribution(
        lambda library, _: library.fn.random.choice(3, p=[0.1, 0.9, 0.0], shape=5000)
    )
    check_distribution(
        lambda library, node: library.fn.random.choice(
            node(np.int16([4, 9])), p=node(np.float32([0.3, 0.7])), shape=5000
        )
    )


def test_shapes_and_layouts_of_chosen_slices() -> None:
    slices = np.zeros((3, 2, 2), np.uint8)
    for shape in ({}, {"shape": [4]}, {"shape": [4, 5]}):
        check(
            lambda library, node, s=shape: library.fn.random.choice(node(slices, layout="FHW"), **s)
        )
    for shape in ({}, {"shape": [4]}):
        check(
            lambda library, node, s=shape: library.fn.random.choice(
                node(np.zeros(3, np.float16), layout="A"), **s
            )
        )


def test_invalid_choices() -> None:
    for choices in (0, -1, 5.5):
        check_refused(lambda library, _, c=choices: library.fn.random.choice(c))
    for p in ([0.1, 0.9], [0.1, 0.9, 0.9], [-0.1, 0.9, 0.2], [0.1, 0.9, 0.001]):
        check_refused(lambda library, _, p=p: library.fn.random.choice(3, p=p))
    check_refused(lambda library, node: library.fn.random.choice(node(np.zeros(0, np.float32))))
    check_refused(lambda library, node: library.fn.random.choice(3, node(np.zeros(2)), shape=[2]))
