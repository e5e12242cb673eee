"""Random elements of a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, pipeline

EXAMPLES = [
    Example("bound", [Input(lambda number: np.int64(5 + number))], {"shape": (2, 3)}),
    Example(
        "elements",
        [Input(lambda number: np.int16([1, 20, 300]))],
        {"p": (0.5, 0.2, 0.3), "shape": 4},
    ),
    Example("slices", [Input(lambda number: numbers("float32", (4, 2, 3), number), "FHW")]),
    Example("like", [Input(lambda number: np.float64([1.5, 2.5])), images()]),
]


def draw(choices: Any, *, seed: int = 5, layout: str | None = None, **arguments: Any) -> Any:
    """Draw for one sample; arrays are passed as a node and everything else unchanged."""
    with pipeline(batch_size=1, seed=seed) as made:
        with made:
            if isinstance(choices, (np.ndarray, np.generic)):
                sample = np.asarray(choices)
                choices = fn.external_source(source=lambda: [sample], layout=layout)
            made.set_outputs(fn.random.choice(choices, **arguments))
        (batch,) = made.run()
        return np.array(batch.at(0)), batch.layout()


def chi_square(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Return the chi-squared statistic over its degrees of freedom."""
    expected = counts.sum() * probabilities
    return float(((counts - expected) ** 2 / expected).sum() / (len(counts) - 1))


def test_numbers_below_a_bound_have_equal_probability() -> None:
    drawn, _ = draw(20, shape=100_000)
    assert drawn.dtype == np.int32
    assert chi_square(np.bincount(drawn, minlength=20), np.full(20, 0.05)) < 2.2


def test_probabilities() -> None:
    probabilities = np.array([0.1, 0.0, 0.55, 0.3, 0.05, 0.0])
    drawn, _ = draw(6, p=probabilities.tolist(), shape=100_000)
    counts = np.bincount(drawn, minlength=6)
    assert (counts[probabilities == 0] == 0).all()
    possible = probabilities > 0
    assert chi_square(counts[possible], probabilities[possible]) < 4


def test_certain_choices() -> None:
    for number in range(3):
        certain = [float(number == other) for other in range(3)]
        assert (draw(3, p=certain, shape=1000)[0] == number).all()
    assert (draw(1, shape=100)[0] == 0).all()


@pytest.mark.parametrize("dtype", ALL_TYPES)
def test_elements_of_all_types(dtype: str) -> None:
    elements = np.array([0, 1, 1, 0, 1], dtype)
    drawn, _ = draw(elements, shape=50)
    assert drawn.dtype == elements.dtype
    assert set(drawn.tolist()) == set(elements.tolist())


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "uint64"])
def test_bounds_of_all_types(dtype: str) -> None:
    drawn, _ = draw(np.array(7, dtype), shape=500)
    assert drawn.dtype == dtype
    assert set(drawn.tolist()) == set(range(7))


def test_huge_bound() -> None:
    drawn, _ = draw(np.int64(2**40), shape=1000)
    assert 2**39 < drawn.max() < 2**40
    assert abs(drawn.mean() / 2**39 - 1) < 0.1


def test_lists_in_the_program() -> None:
    for choices, dtype in (
        ([1, 5, 30], "int32"),
        ((1.5, 2, 3), "float32"),
        ([True, False], "bool"),
    ):
        drawn, _ = draw(choices, shape=100)
        assert drawn.dtype == dtype
        assert set(drawn.tolist()) == set(choices)


@pytest.mark.parametrize(
    ("shape", "expected_layout"), [(None, "HW"), ([5], "FHW"), ([5, 6], ""), ([0], "FHW")]
)
def test_slices(shape: list[int] | None, expected_layout: str) -> None:
    elements = numbers("int16", (4, 2, 3), 0)
    drawn, layout = draw(elements, layout="FHW", shape=shape)
    assert layout == expected_layout
    assert drawn.shape == (*(shape or ()), 2, 3)
    known = {element.tobytes() for element in elements}
    assert {element.tobytes() for element in drawn.reshape(-1, 2, 3)} <= known


def test_layout_of_single_elements() -> None:
    elements = np.int32([1, 2, 3])
    assert draw(elements, layout="A")[1] == ""
    assert draw(elements, layout="A", shape=4)[1] == "A"


def test_seeds() -> None:
    first, again, other = (draw(1000, shape=50, seed=seed)[0] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.9


def test_shape_like_another_tensor() -> None:
    with pipeline() as made:
        with made:
            like = fn.external_source(source=lambda: [np.zeros((2, 3))] * 3, layout="HW")
            made.set_outputs(fn.random.choice(5, like))
        (batch,) = made.run()
        assert batch.shape() == [(2, 3)] * 3
        assert batch.dtype == types.INT32


@pytest.mark.parametrize(
    ("choices", "arguments", "message"),
    [
        (0, {}, "a scalar to choose below must be at least 1"),
        (-1, {}, "a scalar to choose below must be at least 1"),
        (5.5, {}, "a scalar to choose below must be an integer"),
        (True, {}, "a scalar to choose below must be an integer"),
        ([], {}, "there must be something to choose from"),
        (3, {"p": (0.1, 0.9)}, "p must be one probability for each of the 3"),
        (3, {"p": (0.1, 0.9, 0.9)}, "p must sum up to 1"),
        (3, {"p": (0.1, 0.9, 0.001)}, "p must sum up to 1"),
        (3, {"p": (-0.1, 0.9, 0.2)}, "'p', entry 0 must be from 0 to 1"),
        (3, {"p": (float("nan"), 0.9, 0.1)}, "'p', entry 0 must be from 0 to 1"),
    ],
)
def test_invalid_choices(choices: Any, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((ArgumentValueError, SampleError), match=message):
        draw(choices, **arguments)


def test_invalid_inputs_raise() -> None:
    with pytest.raises(ArgumentTypeError, match="input 0 must be a DataNode"):
        draw("abc")
    with pytest.raises(ArgumentTypeError, match="lists must be of numbers"):
        draw([1, "b"])
    with pytest.raises(ArgumentTypeError, match="lists must have equal lengths"):
        draw([[1], [1, 2]])
    with pytest.raises(ArgumentValueError, match="integers must fit into INT32"):
        draw([2**31])


def test_shape_excludes_a_second_input() -> None:
    with pipeline() as made, made:
        like = fn.external_source(source=lambda: [np.zeros(2)] * 3)
        made.set_outputs(fn.random.choice(3, like, shape=3))
        with pytest.raises(ArgumentValueError, match="shape must not be given together"):
            made.build()
