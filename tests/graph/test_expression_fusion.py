"""Fused expressions: what is fused, and that results are bitwise identical."""

from __future__ import annotations

import hashlib
import itertools
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dali_core.math
from dali_core import DataNode, Pipeline, fn, types
from dali_core.errors import SampleError
from tests.graph.computing import ALL_TYPES, compute_batch, numbers, run

math = dali_core.math

STEPS: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / (y * 2 + 1),
    lambda x, y: math.max(x, y),
    lambda x, y: math.clamp(x, y, 100),
    lambda x, y: (x < y) * 3,
    lambda x, y: math.sin(x * 0.01) + y,
    lambda x, y: -abs(x * types.Constant(2).int8()),
    lambda x, y: math.sqrt(math.fabs(y * 1)) - x,
    lambda x, y: x * np.array([1.5, 2, 3], np.float32),
    lambda x, y: (x == y) * types.Constant(1.5, types.FLOAT64) + 1,
    lambda x, y: x % 7.5,
]
SHAPES: list[tuple[int, ...]] = [(), (3,), (1, 3), (37, 1), (41, 37, 3), (41, 1, 1), (0, 37, 3)]


def same_bits(one: Sequence[Sequence[np.ndarray]], other: Sequence[Sequence[np.ndarray]]) -> None:
    for ours, theirs in zip(one, other, strict=True):
        for result, expected in zip(ours, theirs, strict=True):
            assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
            assert result.tobytes() == expected.tobytes()


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[tuple[int, int, int]], list[int]]:
    """Draw steps with the indices of two earlier values, and the requested values."""
    count = draw(st.integers(2, 9))
    steps = [
        (
            draw(st.integers(0, len(STEPS) - 1)),
            draw(st.integers(max(0, i), i + 2)),
            draw(st.integers(0, i + 2)),
        )
        for i in range(count)
    ]
    more = draw(st.lists(st.integers(3, count + 1), max_size=2))
    return steps, [*more, count + 2]


@given(
    graphs(),
    st.lists(
        st.sampled_from([name for name in ALL_TYPES if name != "bool"]), min_size=3, max_size=3
    ),
    st.lists(st.sampled_from(SHAPES), min_size=3, max_size=3),
)
@settings(max_examples=60)
def test_fused_expressions_give_the_same_bits(
    graph: tuple[list[tuple[int, int, int]], list[int]],
    dtypes: list[str],
    shapes: list[tuple[int, ...]],
) -> None:
    steps, wanted = graph

    def build(*inputs: DataNode) -> list[DataNode]:
        values = list(inputs)
        for step, one, other in steps:
            values.append(STEPS[step](values[one], values[other]))
        return [values[number] for number in wanted]

    has_none = any(0 in shape for shape in shapes)
    arrays = [
        numbers(dtype, [1 if has_none and extent == 41 else extent for extent in shape], number)
        for number, (dtype, shape) in enumerate(zip(dtypes, shapes, strict=True))
    ]
    same_bits(compute_batch(build, [arrays]), compute_batch(build, [arrays], optimize=False))


def groups_of(build: Callable[..., Any]) -> list[int]:
    """Return the sizes of the groups in the plan."""
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        nodes = [fn.external_source(name=name, batch=False) for name in ("x", "y")]
        pipeline.set_outputs(*build(*nodes))
    pipeline.build()
    assert pipeline._definition.plan is not None
    return [len(chain) for stage in pipeline._definition.plan.stages for chain in stage.chains]


@pytest.mark.parametrize(
    ("build", "sizes"),
    [
        (lambda x, y: [x + 1], []),
        (lambda x, y: [(x + 1) * 2], [2]),
        (lambda x, y: [(x + 1) * (y - 1)], [3]),
        (lambda x, y: [shared(x + 1)], [2]),
        (lambda x, y: [shared(x + 1) - 3, y * 2], [3]),
        (lambda x, y: two_outputs(x + 1), []),
        (lambda x, y: [fn.cast(x + 1, dtype=types.INT64) * 2 + 1], [2]),
        (lambda x, y: [(x + 1) * 2 + fn.copy((x - 1) / 2)], [2, 3]),
        (lambda x, y: [x[(y + 1) * 2] + 1], [2]),
        (lambda x, y: [fn.crop(x, crop_h=(y + 1) * 2, crop_w=3) * 2], [2]),
        (lambda x, y: diamond(x, y), [5]),
    ],
)
def test_groups(build: Callable[..., Any], sizes: list[int]) -> None:
    assert sorted(groups_of(build)) == sizes


def shared(value: DataNode) -> DataNode:
    return value * value


def two_outputs(value: DataNode) -> list[DataNode]:
    return [value, value * 2]


def diamond(x: DataNode, y: DataNode) -> list[DataNode]:
    middle = x - y
    return [(middle * middle) / (math.sqrt(middle) + 1)]


def test_preserved_values_are_materialized() -> None:
    def build(x: DataNode, y: DataNode) -> list[DataNode]:
        inner = x + 1
        inner.source.arguments["preserve"] = True
        return [inner * 2]

    assert groups_of(build) == []


def test_values_of_fewer_elements_are_computed_once() -> None:
    image = numbers("uint8", (200, 300, 3), 1)
    samples = [[image, np.float32([1, 2, 3])], [image[:0], np.float32([4, 5, 6])]]

    def build(x: DataNode, y: DataNode) -> list[DataNode]:
        scale = math.exp(y) * 2 + 1
        return [(x - y) / scale]

    outputs, counts = run(build, samples)
    assert counts == [(2, 0)]
    same_bits(
        [[np.array(outputs[0].at(i))] for i in range(2)],
        compute_batch(build, samples, optimize=False),
    )


def test_groups_that_cannot_fuse_run_one_by_one() -> None:
    samples = [
        [np.int32([1, 2, 3]), np.int32([3, 1, 2])],
        [np.int32([1, 2, 3]), np.int32([3, 0, 2])],
    ]
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None)
    with pipeline:
        x, y = fn.external_source(source=lambda: list(zip(*samples, strict=True)), num_outputs=2)
        bad = (x + 1) // y
        pipeline.set_outputs(bad * 2)
    try:
        with pytest.raises(SampleError, match="operator //.*divisors must not be zero") as caught:
            pipeline.run()
        assert caught.value.sample == 1
        assert caught.value.location == bad.source.location
        assert pipeline._run.runner is not None
        assert pipeline._run.runner.executor.fusion_counts()[0][1] >= 1
    finally:
        pipeline.close()


def test_types_may_differ_between_batches() -> None:
    batches = [numbers(dtype, (5, 7), 2) for dtype in ("uint8", "float32", "int64")]
    results = []
    for optimize in (True, False):
        pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None, optimize=optimize)
        with pipeline:
            # Batches of a source are of one type.
            x = fn.python_function(function=partial(next, itertools.cycle(batches)))
            pipeline.set_outputs((x * 2 - 1) % 5)
        results.append([[np.array(pipeline.run()[0].at(0))] for _ in batches])
        pipeline.close()
    same_bits(*results)


# Instruction sets


def checksum() -> str:
    """Compute everything on all dtypes, and return a checksum of all bits."""
    digest = hashlib.sha256()
    known = [name for name in ALL_TYPES if name != "bool"]
    arrays = [numbers(name, (1500,), number) for number, name in enumerate(known)]

    def build(*nodes: DataNode) -> list[DataNode]:
        pairs = list(zip(nodes, (*nodes[3:], *nodes[:3]), strict=True))
        results = [step(x, y) for step in STEPS[:10] for x, y in pairs]
        results += [math.floor(x / 3) + math.rsqrt(math.fabs(x)) for x in nodes]
        integers = [x for x, name in zip(nodes, known, strict=True) if "int" in name]
        results += [(x << 3) ^ (~x >> 1) for x in integers]
        return [*results, *(math.ceil(x * 0.3) for x in nodes)]

    for result in compute_batch(build, [arrays])[0]:
        digest.update(result.tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_results_do_not_depend_on_the_instruction_set(level: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.graph.test_expression_fusion"],
        env={**os.environ, "DALI_CORE_SIMD": level},
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == checksum()


if __name__ == "__main__":
    print(checksum())
