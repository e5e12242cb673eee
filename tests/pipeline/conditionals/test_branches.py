"""Conditionals on data: types of conditions, merged values, and errors with their lines."""

# ruff: noqa: SIM108, RUF021 (what is written in other ways elsewhere)

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def, types
from dali_core.errors import ArgumentTypeError, GraphError, SampleError
from dali_core.pipeline import do_not_convert
from tests.pipeline.conditionals.branching import build, data, numbers, run, run_one
from tests.pipeline.conditionals.programs import function_from

MIXED = [True, False, False, True]
NUMERIC = ["bool", "uint8", "int16", "int32", "uint64", "float16", "float32", "float64"]


def choose(condition: Any) -> Any:
    if condition:
        result = 1
    else:
        result = 2
    return result


@pytest.mark.parametrize("dtype", NUMERIC)
def test_conditions_are_scalars_of_any_type(dtype: str) -> None:
    assert run_one(lambda: choose(data(MIXED, dtype))) == [1, 2, 2, 1]


@pytest.mark.parametrize("values", [[0.0, -0.0, float("nan"), 1e-7], [2, -1, 0, 256]])
def test_truth_is_that_of_python(values: list[float]) -> None:
    expected = [1 if value else 2 for value in values]
    assert run_one(lambda: choose(data(values))) == expected
    assert run_one(lambda: data(values) and True if False else not data(values)) == [
        not value for value in values
    ]


@pytest.mark.parametrize("batch", [[True], [False], [True] * 4, [False] * 4])
def test_all_samples_may_take_the_same_branch(batch: list[bool]) -> None:
    assert run_one(lambda: choose(data(batch)), batch_size=len(batch)) == [
        1 if value else 2 for value in batch
    ]


def test_conditions_must_be_scalars() -> None:
    pipeline = build(lambda: choose(data([[True]] * 4)))
    with pytest.raises(SampleError, match=r"condition of 'if' must be a scalar \(got shape \(1,\)"):
        pipeline.run()


@pytest.mark.parametrize("keyword", ["and", "or"])
def test_logic_is_for_booleans(keyword: str) -> None:
    def define() -> Any:
        number = numbers(4)
        return number and number if keyword == "and" else number or number

    with pytest.raises(SampleError, match=f"'{keyword}' is applied to must be a boolean") as caught:
        build(define).run()
    assert caught.value.location.startswith(__file__)


@pytest.mark.parametrize("right", [1, None, "text"])
def test_logic_with_anything_else_raises(right: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="`and` is applied to must be data or a bool"):
        build(lambda: data(MIXED) and right)


def test_logic_like_that_of_python() -> None:
    first, second = [True, True, False, False], [True, False, True, False]

    def define() -> Any:
        a, b = data(first), data(second)
        return a and b, a or b, not a, a and not b or b and not a, a and True, False or b

    outputs = run(define)
    pairs = list(zip(first, second, strict=True))
    assert outputs[0] == [a and b for a, b in pairs]
    assert outputs[1] == [a or b for a, b in pairs]
    assert outputs[2] == [not a for a in first]
    assert outputs[3] == [a != b for a, b in pairs]
    assert outputs[4:] == [first, second]
    assert all(type(value) is bool for output in outputs for value in output)


@pytest.mark.parametrize("value", [False, True])
def test_logic_with_constants(value: bool) -> None:
    assert run_one(lambda: data(MIXED) and value) == [p and value for p in MIXED]
    assert run_one(lambda: data(MIXED) or value) == [p or value for p in MIXED]


def test_constants_become_data() -> None:
    def define() -> Any:
        if data(MIXED):
            integer, real, boolean, array = 1, 1.5, True, np.array([1, 2])
        else:
            integer, real, boolean, array = 2, np.float32(2), False, np.array([3])
        return integer, real, boolean, array

    pipeline = build(define)
    outputs = pipeline.run()
    kinds = [types.INT32, types.FLOAT, types.BOOL, types.INT32]
    assert [output.dtype for output in outputs] == kinds
    assert [np.asarray(x).tolist() for x in outputs[3]] == [[1, 2], [3], [3], [1, 2]]


class Pair(NamedTuple):
    first: Any
    second: Any


def test_structures_are_merged_item_by_item() -> None:
    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            result = {"pair": Pair(number, 7), "list": [1, (2, number)], "name": "same"}
        else:
            result = {"pair": Pair(9, number), "list": [3, (4, 5)], "name": "same"}
        assert isinstance(result["pair"], Pair)
        assert result["name"] == "same"
        one, (two, three) = result["list"]
        return (*result["pair"], one, two, three)

    assert run(define) == [[0, 9, 9, 3], [7, 1, 2, 7], [1, 3, 3, 1], [2, 4, 4, 2], [0, 5, 5, 3]]


def test_unchanged_variables_keep_their_identity() -> None:
    def define() -> Any:
        number, listed, count = numbers(4), [1], 3
        if data(MIXED):
            before = listed
            if False:
                count = 4
                number = None
        else:
            before = listed
        assert (before is listed, count) == (True, 3)
        return number

    pipeline = build(define)
    assert "merge" not in pipeline.plan()


def test_attributes_and_items() -> None:
    class Holder:
        value: Any = 5

    def define() -> Any:
        holder, items, key = Holder(), {"a": 1, -1: 1, "list": [1, 2]}, "a"
        if data(MIXED):
            holder.value = 6
            items[key] = 2
            items["list"][1] = 3
            items[-1] += 1
            holder.new = 1
        else:
            holder.new = 2
        return holder.value, items["a"], items["list"][1], items[-1], holder.new

    assert run(define) == [
        [6, 5, 5, 6], [2, 1, 1, 2], [3, 2, 2, 3], [2, 1, 1, 2], [1, 2, 2, 1]
    ]  # fmt: skip


@pytest.mark.parametrize("assigned", ["value", "holder.value", "items['key']"])
def test_variables_need_a_value_in_both_branches(assigned: str) -> None:
    define = function_from(
        "def define():\n"
        "    holder, items, p = Holder(), {}, data(MIXED)\n"
        "    if p:\n"
        f"        {assigned} = 1\n"
        f"    return {assigned}\n",
        "define",
        Holder=type("Holder", (), {}),
        data=data,
        MIXED=MIXED,
    )
    with pytest.raises(GraphError) as caught:
        build(define)
    message = str(caught.value)
    assert assigned in message
    assert "in the `else` branch" in message
    assert message.startswith(f"if at {define.__code__.co_filename}:3:")


def test_unused_variables_need_not_match() -> None:
    def define() -> Any:
        p, number = data(MIXED), numbers(4)
        if p:
            scratch: Any = number
            result: Any = scratch
        if not p:
            scratch = (number, 3)
            result = scratch[0]
        else:
            scratch = None
            result = 7
        return result

    assert run_one(define) == [7, 1, 2, 7]


def test_deleted_variables() -> None:
    def define() -> Any:
        number, other = numbers(4), 3
        if data(MIXED):
            del other
            number = 9
        return number

    assert run_one(define) == [9, 1, 2, 9]


@pytest.mark.parametrize(
    ("yes", "no", "problem"),
    [
        ("(1, 2)", "3", "got a tuple of 2 and 3"),
        ("(1, 2)", "(1, 2, 3)", "got a tuple of 2 and a tuple of 3"),
        ("None", "number", "got None and DataNode"),
        ("'a'", "'b'", "got 'a' and 'b'"),
        ("{'a': 1}", "{'b': 1}", r"a dict with keys \['a'\]"),
        ("len", "max", "a builtin_function_or_method"),
        ("2 ** 40", "1", "fit into INT32"),
    ],
)
def test_values_must_be_alike(yes: str, no: str, problem: str) -> None:
    text = f"def define(p, number):\n    if p: x = {yes}\n    else: x = {no}\n    return x\n"
    define = function_from(text, "define")
    with pytest.raises(GraphError, match=rf"'x' must be alike in both branches \(.*{problem}"):
        build(lambda: define(data(MIXED), numbers(4)))


def test_returned_values_must_be_alike() -> None:
    def define() -> Any:
        if data(MIXED):
            return 1, 2
        return numbers(4)

    with pytest.raises(GraphError, match="what is returned must be alike"):
        build(define)

    def nothing() -> Any:
        if data(MIXED):
            return 1
        return None

    with pytest.raises(GraphError, match="what is returned must be alike.*got None and 1"):
        build(nothing)


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (lambda number: 2.5, "float32"),
        (lambda number: fn.reshape(number, shape=[1]), "1 dimensions"),
        (lambda number: fn.reshape(number, shape=[1], layout="X"), "layout 'X'"),
    ],
)
def test_branches_must_give_the_same_kind(other: Any, kind: str) -> None:
    def define() -> Any:
        number = numbers(4)
        if data([False, False, True, True]):
            number = other(number)
        return fn.copy(number)

    with pytest.raises(SampleError, match=f"same type, number of dim.*{kind}.*sample 0") as caught:
        build(define).run()
    assert caught.value.sample == 2
    assert caught.value.location.startswith(__file__)


def test_kinds_may_differ_if_one_branch_is_taken() -> None:
    def define(p: list[bool]) -> Any:
        return 1 if data(p) else 2.5

    assert run_one(define, [True] * 4) == [1] * 4
    assert run_one(define, [False] * 4) == [2.5] * 4


def test_results_of_a_branch_raise_outside_of_it() -> None:
    kept: list[Any] = []

    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            kept.append(fn.copy(number))
            fn.copy(kept[-1])
        return number

    assert run_one(define) == [0, 1, 2, 3]

    def leak_into_operator() -> Any:
        define()
        return fn.copy(kept[-1])

    def leak_into_output() -> Any:
        define()
        return kept[-1]

    def leak_into_argument() -> Any:
        define()
        return fn.random.uniform(range=[0, 1], shape=kept[-1])

    def leak_into_branch() -> Any:
        kept.clear()
        number = numbers(4)
        if data(MIXED):
            kept.append(fn.copy(number))
            result = number
        else:
            result = kept[0]
        return result

    for leak in (leak_into_operator, leak_into_output, leak_into_argument, leak_into_branch):
        with pytest.raises(GraphError, match="must exist for all samples"):
            build(leak)


def test_error_without_conditionals_suggests_enabling_them() -> None:
    @pipeline_def(batch_size=4, num_threads=1, device_id=None)
    def define() -> Any:
        return choose(data(MIXED))

    with pytest.raises(GraphError, match=r"no truth value.*pass enable_conditionals=True"):
        define()
    with Pipeline(4, 1, None), pytest.raises(GraphError, match=f"DataNode at {__file__}"):
        bool(data(MIXED))


def test_functions_may_be_excluded() -> None:
    @do_not_convert
    def stays(condition: Any) -> Any:
        return 1 if condition else 2

    assert run_one(lambda: choose(data(MIXED))) == [1, 2, 2, 1]
    with pytest.raises(GraphError, match="no truth value"):
        build(lambda: stays(data(MIXED)))


def test_failure_resets_the_conditions() -> None:
    def define() -> Any:
        number = numbers(4)
        try:
            if data(MIXED):
                fn.copy(number)
                raise KeyError
        except KeyError:
            number = fn.copy(number)
        return number

    pipeline = build(define)
    assert " if " not in pipeline.plan()
    assert [int(value) for value in pipeline.run()[0].as_array()] == [0, 1, 2, 3]
    assert Pipeline.current() is None


def power(number: Any, condition: Any, exponent: int) -> Any:
    """Multiply numbers by themselves, where the condition holds; it calls itself."""
    if exponent == 1:
        return number
    result = number * power(number, condition, exponent - 1)
    if condition:
        chosen = result
    else:
        chosen = number
    return chosen


class Doubling:
    """Names itself in its methods."""

    factor = 2

    def __init__(self, number: Any) -> None:
        self.number = number

    def where(self, condition: Any) -> Any:
        if condition:
            result = self.number * Doubling.factor
        else:
            result = self.number
        return result


def test_functions_may_call_themselves() -> None:
    condition = [True, False, False, True]
    given = run_one(lambda: power(data([2, 3, 4, 5]), data(condition), 3))
    assert given == [8, 3, 4, 125]


def test_methods_may_name_their_class() -> None:
    condition = [True, False, False, True]
    assert run_one(lambda: Doubling(data([2, 3, 4, 5])).where(data(condition))) == [4, 3, 4, 10]
