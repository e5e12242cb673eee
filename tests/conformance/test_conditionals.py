"""Functions with conditions on data behave as in NVIDIA DALI."""

# ruff: noqa: SIM108 (what is written in other ways elsewhere)

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

SIZE = 4
NUMERIC = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64"]


def run(library: Any, define: Callable[[Any], Any]) -> list[tuple[str, str, list[Any]]]:
    """Return type, layout and samples of each output of a function that gets the library."""

    @library.pipeline_def(
        enable_conditionals=True, batch_size=SIZE, num_threads=2, device_id=None, seed=1
    )
    def pipeline() -> Any:
        return define(library)

    return [
        (
            output.dtype.name,
            output.layout(),
            [np.array(output.at(i)).tolist() for i in range(len(output))],
        )
        for output in pipeline().run()
    ]


def check_same(define: Callable[[Any], Any]) -> None:
    here = run(dali_core, define)
    there = run(reference, define)
    assert [(dtype.lower(), *rest) for dtype, *rest in here] == [
        (dtype.lower(), *rest) for dtype, *rest in there
    ]


def data(library: Any, values: Any, dtype: Any = None) -> Any:
    samples = [np.array(value, dtype) for value in values]
    return library.fn.external_source(source=lambda: list(samples))


def half(library: Any) -> Any:
    return data(library, [True, False, True, False])


def first(library: Any) -> Any:
    return data(library, [True, True, False, False])


def numbers(library: Any) -> Any:
    return data(library, range(SIZE), np.int32)


def branches(lib: Any) -> Any:
    p, q, number = half(lib), first(lib), numbers(lib)
    if p:
        if q:
            result = number
        else:
            result = lib.fn.reshape(number, shape=[])
    elif q:
        result = 10
    else:
        result = number
        other = 3
        result = other
    return result, p, number


def only_if(lib: Any) -> Any:
    number = numbers(lib)
    if half(lib):
        number = lib.fn.cast(lib.fn.cast(number, dtype=lib.types.FLOAT), dtype=lib.types.INT32)
    return number


def constants(lib: Any) -> Any:
    if half(lib):
        integer, real, boolean, listed = 1, 1.5, True, [1, 2]
    else:
        integer, real, boolean, listed = 2, 2.5, False, [3, 4]
    return integer, real, boolean, listed[0], listed[1]


def arrays(lib: Any) -> Any:
    if half(lib):
        integers, reals, number = np.array([1, 2]), np.array([1.5]), np.float32(1)
    else:
        integers, reals, number = np.array([3, 4]), np.array([2.5]), np.float32(2)
    return integers, reals, number


def structures(lib: Any) -> Any:
    number = numbers(lib)
    if half(lib):
        made = {"a": (number, 1), "b": [number]}
    else:
        made = {"a": (2, number), "b": [3]}
    return made["a"][0], made["a"][1], made["b"][0]


def attributes(lib: Any) -> Any:
    class Holder:
        pass

    holder: Any = Holder()
    holder.value, items = 1, {"key": numbers(lib)}
    if half(lib):
        holder.value = numbers(lib)
        items["key"] = 7
        items["new"] = 1
    else:
        items["new"] = 2
    return holder.value, items["key"], items["new"]


def early_returns(lib: Any) -> Any:
    if half(lib):
        return numbers(lib), 1
    other = numbers(lib)
    return 5, other


def returns_in_helpers(lib: Any) -> Any:
    def choose(condition: Any, *values: Any, default: Any = 9) -> Any:
        if condition:
            return values[0]
        else:  # noqa: RET505
            return default

    return choose(half(lib), numbers(lib)), choose(first(lib), 3, default=numbers(lib))


def recursion(lib: Any) -> Any:
    def deep(condition: Any, depth: int) -> Any:
        if depth == 0:
            return 0
        if condition:
            return depth
        return deep(first(lib), depth - 1)

    return deep(half(lib), 3)


class Chooser:
    def __init__(self, kept: Any = 2) -> None:
        self.kept = kept

    def choose(self, condition: Any) -> Any:
        if condition:
            self.kept = 3
        return self.kept


def methods(lib: Any) -> Any:
    chooser = Chooser()
    chooser.choose(half(lib))
    kept = chooser.kept
    return kept, chooser.choose(first(lib)), chooser.kept


def loops(lib: Any) -> Any:
    number, last = numbers(lib), 0
    for i in range(4):
        if i == 3:
            break
        if half(lib):
            number = i
            continue
        last = i
    count = 0
    while count < 2:
        count += 1
        if first(lib):
            last = count
    return number, last


def logic(lib: Any) -> Any:
    p, q = half(lib), first(lib)
    return (
        p and q,
        p or q,
        not p,
        (p and not q) or (q and not p),
        p and True,
        False or q,
        1 and p,
        not numbers(lib),
    )


def logic_in_conditions(lib: Any) -> Any:
    p, q = half(lib), first(lib)
    if p and not q:
        result = 1
    elif p or q:
        result = 2
    else:
        result = 3
    return result


def ordinary_conditions(lib: Any) -> Any:
    number: Any = None or numbers(lib)
    if not [] and "text":
        number = number if True else None
    return number


def blocks(lib: Any) -> Any:
    try:
        with open("/dev/null"):
            if half(lib):
                result = 1
            else:
                result = 2
    finally:
        other = 3
    if first(lib):
        result = other
    return result


def unread(lib: Any) -> Any:
    number = numbers(lib)
    if half(lib):
        scratch: Any = number
        result = scratch
    else:
        scratch = (number, None)
        result = scratch[0]
    return result


def sources(lib: Any) -> Any:
    if half(lib):
        value = lib.fn.external_source(source=lambda info: np.int32(info.idx_in_epoch), batch=False)
    else:
        value = -1
    return value


def whole_batches(lib: Any) -> Any:
    number = numbers(lib)
    ragged = data(lib, [np.zeros(size, np.float32) for size in (1, 9, 2, 4)])
    if half(lib):
        number = lib.fn.permute_batch(number, indices=[1, 0])
        ragged = lib.fn.pad(ragged)
    return number, ragged


def python_functions(lib: Any) -> Any:
    number = data(lib, [[i] for i in range(SIZE)], np.int32)
    if half(lib):
        number = lib.fn.python_function(
            number, function=lambda batch: [a + len(batch) for a in batch], batch_processing=True
        )
    return number


def layouts(lib: Any) -> Any:
    image = lib.fn.reshape(lib.fn.constant(idata=[1], shape=[2, 3, 1]), layout="HWC")
    if half(lib):
        image = lib.fn.crop(image, crop=[1, 1])
    return image


def undefined(lib: Any) -> Any:
    if half(lib):
        value = 1
    return value


def other_structure(lib: Any) -> Any:
    if half(lib):
        value: Any = (1, 2)
    else:
        value = 3
    return value


def nothing_in_one(lib: Any) -> Any:
    if half(lib):
        return numbers(lib)
    return None


def other_type(lib: Any) -> Any:
    return_value: Any = 1
    if half(lib):
        return_value = 2.5
    return return_value


def other_ndim(lib: Any) -> Any:
    value = numbers(lib)
    if half(lib):
        value = lib.fn.reshape(value, shape=[1])
    return value


def other_layout(lib: Any) -> Any:
    value = lib.fn.constant(idata=[1], shape=[1, 1, 1])
    if half(lib):
        value = lib.fn.reshape(value, layout="HWC")
    return value


def no_scalar(lib: Any) -> Any:
    if data(lib, [[True]] * SIZE):
        return 1
    return 2


def no_scalar_negated(lib: Any) -> Any:
    return not data(lib, [[1]] * SIZE)


def no_boolean_left(lib: Any) -> Any:
    return numbers(lib) and half(lib)


def no_boolean_right(lib: Any) -> Any:
    return half(lib) or numbers(lib)


def integer_right(lib: Any) -> Any:
    return half(lib) and 1


def leaking(lib: Any) -> Any:
    kept = []
    number = numbers(lib)
    if half(lib):
        kept.append(lib.fn.copy(number))
    return number, lib.fn.copy(kept[0])


def in_while(lib: Any) -> Any:
    while half(lib):
        pass
    return numbers(lib)


def in_assert(lib: Any) -> Any:
    assert half(lib)
    return numbers(lib)


ALIKE = [
    branches, only_if, constants, arrays, structures, attributes, early_returns,
    returns_in_helpers, recursion, methods, loops, logic, logic_in_conditions,
    ordinary_conditions, blocks, unread, sources, whole_batches, python_functions, layouts,
]  # fmt: skip
REFUSED = [
    undefined, other_structure, nothing_in_one, other_type, other_ndim, other_layout, no_scalar,
    no_scalar_negated, no_boolean_left, no_boolean_right, integer_right, leaking, in_while,
    in_assert,
]  # fmt: skip


@pytest.mark.parametrize("define", ALIKE, ids=lambda define: define.__name__)
def test_same_results(define: Callable[[Any], Any]) -> None:
    check_same(define)


@pytest.mark.parametrize("define", REFUSED, ids=lambda define: define.__name__)
def test_invalid_conditions_raise_in_both(define: Callable[[Any], Any]) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            run(library, define)


@pytest.mark.parametrize("dtype", NUMERIC)
@pytest.mark.parametrize("values", [[0, 1, 2, 255], [0, 0.5, -0.0, 3]])
def test_conditions_of_any_type(dtype: str, values: list[float]) -> None:
    def define(lib: Any) -> Any:
        value = data(lib, values, dtype)
        if value:
            result = 1
        else:
            result = 2
        return result, not value

    check_same(define)


class Deciding:
    def __init__(self, condition: Any) -> None:
        if condition:
            self.kept = 1
        else:
            self.kept = 2


def test_some_programs_only_work_here() -> None:
    def constructor(lib: Any) -> Any:
        return Deciding(half(lib)).kept

    def expression(lib: Any) -> Any:
        return 1 if half(lib) else 2

    def leaving_loops(lib: Any) -> Any:
        number = -1
        for i in range(3):
            number = i
            if half(lib):
                break
        return number

    def returning_in_one_path(lib: Any) -> Any:
        if half(lib):
            if first(lib):
                return 1
        elif first(lib):
            return 2
        return 3

    expected = [[1, 2, 1, 2], [1, 2, 1, 2], [0, 2, 0, 2], [1, 2, 3, 3]]
    for define, samples in zip(
        (constructor, expression, leaving_loops, returning_in_one_path), expected, strict=True
    ):
        assert run(dali_core, define)[0][2] == samples
        with pytest.raises((RuntimeError, TypeError, ValueError)):
            run(reference, define)
