"""Execution of branches: skipped operators, groups of samples, random numbers, errors, memory."""

# ruff: noqa: SIM108, RET504 (what is written in other ways elsewhere)

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import Pipeline, fn, pipeline_def, types
from dali_core.errors import SampleError
from tests.generated_images import encode, photo_like
from tests.pipeline.conditionals.branching import build, data, numbers, run, run_one

MIXED = [True, False, False, True]


def samples(output: Any) -> list[np.ndarray]:
    return [np.array(sample) for sample in output]


def augment() -> Any:
    """Use different random operators in nested branches on random conditions."""
    image = fn.random.uniform(range=[0, 255], shape=[4, 5, 3], dtype=types.UINT8)
    image = fn.reshape(image, layout="HWC")
    if fn.random.coin_flip(dtype=types.BOOL):
        image = fn.flip(image, horizontal=fn.random.coin_flip())
        if fn.random.coin_flip(dtype=types.BOOL) and not fn.random.coin_flip(dtype=types.BOOL):
            image = fn.crop(image, crop=[3, 3], crop_pos_x=fn.random.uniform(range=[0, 1]))
        else:
            image = fn.brightness(image, brightness=fn.random.uniform(range=[0.5, 1.5]))
    else:
        shift = fn.random.normal(shape=[1])
        image = fn.resize(image, size=[6, 7]) if fn.random.coin_flip() else image
        return image, shift
    return image, fn.random.uniform(shape=[1])


def batches(size: int, count: int, **options: Any) -> list[np.ndarray]:
    pipeline = build(augment, batch_size=size, **options)
    found: list[np.ndarray] = []
    for _ in range(count):
        for one, other in zip(*pipeline.run(), strict=True):
            found += [np.array(one), np.array(other)]
    return found


def assert_same(first: Sequence[np.ndarray], second: Sequence[np.ndarray]) -> None:
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_results_do_not_depend_on_threads_batches_and_fusion() -> None:
    expected = batches(24, 2, num_threads=1)
    assert len({array.shape for array in expected}) > 3
    assert_same(expected, batches(24, 2, num_threads=4))
    assert_same(expected, batches(24, 2, prefetch_queue_depth=5))
    assert_same(expected, batches(6, 8, optimize=False))
    assert_same(expected, batches(1, 48))


def test_random_numbers_are_those_of_the_sample() -> None:
    def define(is_branch: bool) -> Any:
        p = data(MIXED)
        drawn = fn.random.uniform(range=[1, 2], seed=4) if not is_branch or p else 0.0
        return drawn

    everywhere = run_one(define, False)
    in_branch = run_one(define, True)
    assert in_branch == [value if p else 0 for value, p in zip(everywhere, MIXED, strict=True)]
    assert len(set(everywhere)) == 4


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=9))
@settings(max_examples=40, deadline=None)
def test_any_conditions(pairs: list[tuple[bool, bool]]) -> None:
    first, second = zip(*pairs, strict=True)

    def define() -> Any:
        p, q, number = data(first), data(second), numbers(len(pairs))
        result = number
        if p and q:
            result = fn.cat(fn.reshape(number, shape=[1]), fn.reshape(number, shape=[1]))
        elif p or q:
            result = fn.reshape(fn.copy(number), shape=[1])
        else:
            result = fn.reshape(result, shape=[1])
        return result, (1 if p else 2)

    expected = [[i] * (1 + (p and q)) for i, (p, q) in enumerate(pairs)]
    assert run(define, batch_size=len(pairs)) == [expected, [1 if p else 2 for p in first]]


def test_branches_not_taken_do_not_run() -> None:
    called: list[int] = []

    def note(value: np.ndarray) -> np.ndarray:
        called.append(int(value))
        return value

    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            return fn.python_function(number, function=note)
        return number

    assert run_one(define, exec_async=False, exec_pipelined=False) == [0, 1, 2, 3]
    assert called == [0, 3]


@pytest.mark.parametrize("batch", [[True] * 4, [False] * 4, MIXED])
def test_python_functions_see_their_branch_only(batch: list[bool]) -> None:
    sizes: list[int] = []

    def add(values: list[np.ndarray], others: list[np.ndarray]) -> Any:
        sizes.append(len(values))
        return [one + other for one, other in zip(values, others, strict=True)], others

    def define() -> Any:
        number = numbers(4)
        first = second = number
        if data(batch):
            first, second = fn.python_function(
                number, number, function=add, batch_processing=True, num_outputs=2
            )
        return first, second, fn.copy(first)

    options = {"exec_async": False, "exec_pipelined": False}
    doubled = [2 * i if p else i for i, p in enumerate(batch)]
    assert run(define, **options) == [doubled, [0, 1, 2, 3], doubled]
    assert sizes == ([sum(batch)] if any(batch) else [])


def test_functions_without_inputs_and_with_conditions_from_python() -> None:
    def define() -> Any:
        p = fn.python_function(numbers(4), function=lambda x: x % 2 == 0)
        if p:
            return fn.python_function(function=lambda: np.int32(7))
        return fn.python_function(numbers(4), function=lambda x: x)

    assert run_one(define) == [7, 1, 7, 3]


def test_sources_feed_whole_batches() -> None:
    seen: list[int] = []

    def source(info: types.SampleInfo) -> np.ndarray:
        seen.append(info.idx_in_batch)
        return np.int32(info.idx_in_epoch)

    def define() -> Any:
        if data(MIXED):
            return fn.external_source(source, batch=False)
        return -1

    pipeline = build(define, exec_pipelined=False)
    assert [pipeline.run()[0].as_array().tolist() for _ in range(2)] == [
        [0, -1, -1, 3],
        [4, -1, -1, 7],
    ]
    assert seen[:4] == [0, 1, 2, 3]


def test_readers_keep_their_order_in_branches(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_bytes(b"%d" % number)

    def define() -> Any:
        p = data(MIXED)
        label = fn.constant(idata=[-1])
        if p:
            _, label = fn.readers.file(file_root=str(tmp_path), file_filters=["*.txt"],
                                       files=[f"{i}.txt" for i in range(4)])  # fmt: skip
        return label

    assert run_one(define) == [[0], [-1], [-1], [3]]


def test_operators_on_whole_batches_see_their_branch_only() -> None:
    def define() -> Any:
        ragged = data([np.zeros(size) for size in (1, 9, 2, 4)])
        order = fn.constant(idata=[-1], shape=[])
        number = numbers(4)
        if data(MIXED):
            ragged = fn.pad(ragged)
            number = fn.permute_batch(number, indices=[1, 0])
            order = fn.batch_permutation()
        return fn.shapes(ragged), number, order

    shapes, permuted, order = run(define)
    assert shapes == [[4], [9], [2], [4]]
    assert permuted == [3, 1, 2, 0]
    assert sorted((order[0], order[3])) == [0, 1]
    assert order[1:3] == [-1, -1]


def failing_on(value: int) -> Any:
    def check(number: np.ndarray) -> np.ndarray:
        if number == value:
            raise ValueError("bad number")
        return number

    return check


@pytest.mark.parametrize("taken", [True, False])
def test_errors_belong_to_samples_in_the_branch(taken: bool) -> None:
    def define() -> Any:
        number = numbers(4)
        if data([True, False, taken, True]):
            number = fn.python_function(number, function=failing_on(2))
        return number

    pipeline = build(define)
    if taken:
        with pytest.raises(SampleError, match="bad number") as caught:
            pipeline.run()
        assert (caught.value.sample, caught.value.operator) == (2, "python_function")
    else:
        assert pipeline.run()[0].as_array().tolist() == [0, 1, 2, 3]


def test_values_that_would_fail_are_left_to_the_other_branch() -> None:
    def define() -> Any:
        number = numbers(4)
        share = 100 // number if number > 0 else -1
        is_large = number != 0 and 100 // number > 40
        if number == 0 or 100 // number < 50:
            kind = number * 2 + 1
        else:
            kind = number - 1
        return share, is_large, kind

    expected = [[-1, 100, 50, 33], [False, True, True, False], [1, 0, 1, 7]]
    assert run(define) == expected
    assert run(define, optimize=False) == expected

    def failing() -> Any:
        number = numbers(4)
        return 100 // number if number < 2 else number

    with pytest.raises(SampleError) as caught:
        build(failing).run()
    assert [bad.sample for bad in caught.value.failures] == [0]


GOOD = encode(photo_like(8, 8), "JPEG")
BROKEN = b"\xff\xd8 this is no image"


def decoding(broken_is_taken: bool, **options: Any) -> Pipeline:
    files = [np.frombuffer(file, np.uint8) for file in (GOOD, BROKEN, GOOD, GOOD)]

    def define() -> Any:
        file, number = data(files), fn.reshape(numbers(4), shape=[1])
        if data([True, broken_is_taken, False, True]):
            number = fn.shapes(fn.decoders.image(file), dtype=types.INT32)
        return number

    return build(define, **options)


def test_native_errors_belong_to_samples_in_the_branch() -> None:
    expected = [[8, 8, 3], [1], [2], [8, 8, 3]]
    assert [x.tolist() for x in samples(decoding(False).run()[0])] == expected
    pipeline = decoding(True)
    for _ in range(2):
        with pytest.raises(SampleError) as caught:
            pipeline.run()
        assert (caught.value.sample, caught.value.operator) == (1, "decoders.image")


def test_bad_samples_in_branches_are_replaced() -> None:
    pipeline = decoding(True, on_sample_error="replace")
    # It is replaced by the next good sample of the batch, in the branch of that one.
    assert [x.tolist() for x in samples(pipeline.run()[0])] == [[8, 8, 3], [2], [2], [8, 8, 3]]
    assert [bad.sample for bad in pipeline.bad_samples] == [1]


def test_bad_files_are_replaced_by_the_next_one(tmp_path: Path) -> None:
    for number in range(6):
        (tmp_path / f"{number}").write_bytes(BROKEN if number == 2 else GOOD)

    @pipeline_def(
        batch_size=3, num_threads=2, device_id=None, seed=1, on_sample_error="replace",
        enable_conditionals=True,
    )  # fmt: skip
    def define() -> Any:
        file, label = fn.readers.file(
            file_root=str(tmp_path), files=[f"{i}" for i in range(6)], name="reader"
        )
        number = fn.reshape(label, shape=[])
        if number:
            height = fn.reductions.max(fn.shapes(fn.decoders.image(file), dtype=types.INT32))
            height = fn.reshape(height, shape=[1])
        else:
            height = label
        return height, label

    pipeline = define()
    heights, labels = pipeline.run()
    assert [int(x) for x in labels.as_array().ravel()] == [0, 1, 3]
    assert [int(x) for x in heights.as_array().ravel()] == [0, 8, 8]
    assert [Path(bad.source or "").name for bad in pipeline.bad_samples] == ["2"]


def test_replaced_python_failures_name_their_sample() -> None:
    def define() -> Any:
        number = numbers(4)
        if data([False, True, True, True]):
            number = fn.python_function(number, function=failing_on(2))
        return number

    pipeline = build(define, on_sample_error="replace")
    assert pipeline.run()[0].as_array().tolist() == [0, 1, 3, 3]
    assert [bad.sample for bad in pipeline.bad_samples] == [2]


def test_sources_of_samples_are_those_of_the_branch(tmp_path: Path) -> None:
    for number in range(4):
        (tmp_path / f"{number}").write_bytes(b"%d" % number)
    names = [f"{i}" for i in range(4)]

    def define() -> Any:
        file, _ = fn.readers.file(file_root=str(tmp_path), files=names)
        other, _ = fn.readers.file(file_root=str(tmp_path), files=names[::-1])
        if data(MIXED):
            file = fn.copy(other)
        return file, fn.get_property(file, key="source_info")

    _, sources = build(define).run()
    assert [Path(bytes(np.array(x)).decode()).name for x in sources] == ["3", "1", "2", "0"]


def test_layouts_come_through() -> None:
    def define() -> Any:
        image = fn.reshape(fn.constant(idata=[1], shape=[2, 3, 1]), layout="HWC")
        return fn.flip(image) if data(MIXED) else image

    assert build(define).run()[0].layout() == "HWC"


def test_dense_outputs_are_written_in_place() -> None:
    def define() -> Any:
        image = fn.reshape(fn.random.uniform(shape=[64, 64, 3]), layout="HWC")
        if data([True] * 6 + [False] * 2):
            if data([True, False] * 4):
                image = fn.flip(image)
            else:
                image = fn.flip(image, vertical=1, horizontal=0)
        else:
            image = fn.crop(image, crop=[64, 64])
        return image

    pipeline = build(define, batch_size=8)
    pipeline.build()
    assert pipeline._definition.plan is not None
    # The joins of the inner branches, and the three that write; the engine's tests check memory.
    assert [len(values) for values in pipeline._definition.plan.joined_outputs] == [4]
    plain = samples(build(lambda: fn.copy(define()), batch_size=8).run()[0])
    batches = [pipeline.run()[0] for _ in range(3)]
    assert all(batch.is_dense_tensor() for batch in batches)
    assert_same(samples(batches[0]), plain)


def test_values_read_elsewhere_keep_their_own_memory() -> None:
    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            number = fn.copy(number)
            other = fn.copy(number)
        else:
            other = number
        return number, other, number

    first = run(define)
    assert first == [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize("optimize", [True, False])
def test_chains_stay_within_their_branch(optimize: bool) -> None:
    files = [np.frombuffer(encode(photo_like(20, 30, seed=i), "JPEG"), np.uint8) for i in range(4)]

    def define() -> Any:
        file = data(files)
        if data(MIXED):
            image = fn.decoders.image(file)
            image = fn.resize(image, size=[12, 14])
            return fn.flip(image)
        image = fn.crop(fn.decoders.image(file), crop=[12, 14])
        return fn.brightness(image, brightness=1.5)

    pipeline = build(define, optimize=optimize, exec_pipelined=False)
    found = samples(pipeline.run()[0])
    assert pipeline.plan().count("fused:") == 2 * optimize
    counts = pipeline._run.runner.executor.fusion_counts()
    if optimize:
        assert [sum(count) for count in counts] == [2, 2]
    plain = samples(build(define, optimize=False).run()[0])
    assert_same(found, plain)


def test_chains_end_where_a_branch_begins() -> None:
    files = [np.frombuffer(encode(photo_like(20, 30, seed=i), "JPEG"), np.uint8) for i in range(4)]

    def define() -> Any:
        image = fn.decoders.image(data(files))
        if data(MIXED):
            image = fn.resize(image, size=[12, 14])
        else:
            image = fn.resize(fn.crop(image, crop=[13, 13]), size=[12, 14])
        return fn.flip(image)

    pipeline = build(define)
    fused = samples(pipeline.run()[0])
    assert pipeline.plan().count("fused:") == 1
    assert_same(fused, samples(build(define, optimize=False).run()[0]))


def test_plans_and_drawings_show_conditions(tmp_path: Path) -> None:
    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            number = fn.copy(number, name="yes")
        else:
            number = fn.copy(number, name="no")
        return number

    pipeline = build(define)
    plan = pipeline.plan()
    (predicate,) = (
        node for node in pipeline._definition.graph.nodes if "predicate" in node.spec.name
    )
    assert f"fn.copy (yes) if {predicate.name}\n" in plan
    assert f"fn.copy (no) if not {predicate.name}\n" in plan
    pipeline.save_graph_to_dot_file(tmp_path / "graph.dot")
    text = (tmp_path / "graph.dot").read_text()
    assert text.count("style=dotted") == 2
    assert '[label="if not", style=dotted]' in text


def test_preserved_operators_in_branches() -> None:
    called: list[int] = []

    def define() -> Any:
        number = numbers(4)
        if data(MIXED):
            fn.python_function(
                number, function=lambda x: called.append(int(x)), num_outputs=0, preserve=True
            )
        return number

    assert run_one(define, exec_async=False, exec_pipelined=False) == [0, 1, 2, 3]
    assert called == [0, 3]
