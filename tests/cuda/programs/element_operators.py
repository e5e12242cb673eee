"""Elementwise operators: the device is bitwise identical to the host.

Shapes, types and expressions are drawn; `tests.operators.suite` has fixed examples.
"""

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, math, types
from dali_core.errors import SampleError
from tests.operators.suite import ALL_TYPES, numbers, type_of

FAILED_TOO = re.compile(r" \(\d+ more samples? of this batch failed: .*\Z", re.DOTALL)
SETTINGS = settings(
    max_examples=int(os.environ.get("DALI_CORE_EXAMPLES", "40")),
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)
Batch = Sequence[np.ndarray]
Define = Callable[..., Any]

ARITHMETIC: dict[str, Define] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "<": lambda a, b: a < b,
    "==": lambda a, b: a == b,
    "min": math.min,
    "max": math.max,
    "abs": lambda a, b: -math.abs(a),
    "sqrt": lambda a, b: math.sqrt(a) + b,
    "floor": lambda a, b: math.floor(a) - b,
    "constant": lambda a, b: a * 0.5 + 3,
}


def _source(batch: Batch) -> Callable[[], list[np.ndarray]]:
    return lambda: list(batch)


def outcome(define: Define, inputs: Sequence[Batch], *, device: bool, **options: Any) -> Any:
    """Run a graph on some inputs; return samples and layout, or the message of the error."""
    size = len(inputs[0]) if inputs else 3
    pipeline = Pipeline(batch_size=size, num_threads=1, device_id=0, seed=5, **options)
    with pipeline:
        values = [fn.external_source(source=_source(batch)) for batch in inputs]
        if device:
            values = [value.gpu() for value in values]
        result = define(*values)
        assert not values or result.device == ("gpu" if device else "cpu")
        pipeline.set_outputs(result.cpu())
    try:
        (output,) = pipeline.run()
        return [np.array(output.at(i)) for i in range(size)], output.layout()
    except SampleError as error:
        return FAILED_TOO.sub("", str(error))
    finally:
        pipeline.close()


def check(define: Define, *inputs: Batch) -> bool:
    """Compare the device with the host, with and without fusion; return whether it has a result."""
    expected = outcome(define, inputs, device=False)
    for optimize in (True, False):
        result = outcome(define, inputs, device=True, optimize=optimize)
        if isinstance(expected, str) or isinstance(result, str):
            assert result == expected
            continue
        assert result[1] == expected[1]
        for mine, wanted in zip(result[0], expected[0], strict=True):
            assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_array_equal(mine, wanted)
    return not isinstance(expected, str)


@st.composite
def batches(
    draw: st.DrawFn, least_dims: int = 0, most_dims: int = 4, dims: int | None = None
) -> list[np.ndarray]:
    """Draw samples of one type and number of dimensions, and of different extents."""
    dtype = draw(st.sampled_from(ALL_TYPES))
    ndim = draw(st.integers(least_dims, most_dims)) if dims is None else dims
    extent = st.integers(0, 9) | st.sampled_from([1, 3, 40])
    shapes = st.lists(
        st.tuples(*[extent] * ndim).filter(lambda shape: np.prod(shape, dtype=int) < 20_000),
        min_size=1,
        max_size=4,
    )
    return [numbers(dtype, shape, number) for number, shape in enumerate(draw(shapes))]


def check_casts() -> None:
    """All pairs of types."""

    @SETTINGS
    @given(batches(), st.sampled_from(ALL_TYPES))
    def run(data: Batch, dtype: Any) -> None:
        assert check(lambda value: fn.cast(value, dtype=type_of(dtype)), data)

    run()


def check_transpositions() -> None:
    """Any permutation, by tiles, registers and strides."""

    @SETTINGS
    @given(st.data())
    def run(data: st.DataObject) -> None:
        ndim = data.draw(st.integers(1, 5))
        batch = data.draw(batches(dims=ndim))
        order = data.draw(st.permutations(range(ndim)))
        assert check(lambda value: fn.transpose(value, perm=list(order)), batch)

    run()


def check_expressions() -> None:
    """Expressions of two inputs of any types and broadcast shapes, and errors."""

    @SETTINGS
    @given(st.data())
    def run(data: st.DataObject) -> None:
        first = data.draw(batches(least_dims=1, most_dims=3))
        dtype = data.draw(st.sampled_from(ALL_TYPES))
        second = []
        for number, sample in enumerate(first):
            shape = [data.draw(st.sampled_from([1, extent])) for extent in sample.shape]
            shape = shape[data.draw(st.integers(0, len(shape) - 1)) :]
            second.append(numbers(dtype, shape, number + 10))
        if len({sample.ndim for sample in second}) > 1:
            second = [sample.reshape(-1)[-1:] for sample in second]
        names = data.draw(st.lists(st.sampled_from(list(ARITHMETIC)), min_size=1, max_size=5))

        def define(a: Any, b: Any) -> Any:
            value = a
            for name in names:
                value = ARITHMETIC[name](value, b)
            return value

        with np.errstate(all="ignore"):
            done.append(check(define, first, second))

    done: list[bool] = []
    run()
    assert sum(done) > len(done) / 2


def check_joins_and_parts() -> None:
    """Concatenation, slices, and padding."""

    @SETTINGS
    @given(st.data())
    def run(data: st.DataObject) -> None:
        batch = data.draw(batches(least_dims=1, most_dims=3))
        axis = data.draw(st.integers(0, batch[0].ndim - 1))
        step = data.draw(st.sampled_from([1, 2, -1, -3]))
        assert check(lambda value: fn.cat(value, value, axis=axis), batch)
        assert check(lambda value: fn.stack(value, value, axis=axis), batch)
        assert check(lambda value: value[1::step], batch)
        assert check(lambda value: fn.pad(value, align=[4], fill_value=2), batch)
        assert check(lambda value: fn.reshape(value, shape=[-1]), batch)
        assert check(lambda value: fn.full_like(value, 3), batch)

    run()


def check_random_numbers() -> None:
    """Random numbers equal those of the host, also with rejection sampling."""

    @SETTINGS
    @given(
        st.sampled_from(ALL_TYPES),
        st.lists(st.integers(0, 30), max_size=3),
        st.integers(0, 1000),
    )
    def run(dtype: Any, shape: list[int], seed: int) -> None:
        options = {"dtype": type_of(dtype), "shape": shape, "seed": seed}
        for define in (
            lambda device: fn.random.uniform(range=[-3, 90], device=device, **options),
            lambda device: fn.random.uniform(values=[1, 2, 5.5], device=device, **options),
            lambda device: fn.random.coin_flip(probability=0.3, device=device, **options),
        ):
            expected = outcome(lambda define=define: define("cpu"), [], device=False)
            result = outcome(lambda define=define: define("gpu"), [], device=True)
            assert result[1] == expected[1]
            for mine, wanted in zip(result[0], expected[0], strict=True):
                np.testing.assert_array_equal(mine, wanted, strict=True)

    run()
    for bound in (3, 3_000_000_000, 2**40):
        expected, result = (
            outcome(
                lambda device=device, bound=bound: fn.random.choice(
                    types.Constant(bound, dtype=types.INT64), shape=[500], device=device, seed=1
                ),
                [],
                device=device == "gpu",
            )
            for device in ("cpu", "gpu")
        )
        np.testing.assert_array_equal(result[0], expected[0], strict=True)


def check_division_by_zero() -> None:
    """The device cannot report a divisor of zero: the quotient is 0."""
    data = [np.array([7, -7, 7], dtype=np.int32)]
    zeros = [np.array([0, 2, 0], dtype=np.int32)]
    (quotients,), _ = outcome(lambda a, b: a // b, [data, zeros], device=True)
    (remainders,), _ = outcome(lambda a, b: a % b, [data, zeros], device=True)
    assert quotients.tolist() == [0, -3, 0]
    assert remainders.tolist() == [0, -1, 0]


def check_fusing() -> None:
    """An expression is one kernel launch."""
    from tests.cuda.simulated_driver import control

    def launched() -> int:
        return sum(n for name, n in control.counts().items() if name.startswith("cuLaunchKernel"))

    data = [np.ones((4, 5), np.uint8)] * 2
    launches = []
    for optimize in (True, False):
        before = launched()
        outcome(
            lambda a: (a - 3.0) / 2.0 + a * 2,
            [data],
            device=True,
            optimize=optimize,
            exec_pipelined=False,
            exec_async=False,
        )
        launches.append(launched() - before)
    assert launches == [1, 4]
