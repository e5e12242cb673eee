"""Indices and slices: the same results as NVIDIA DALI.

Where this library differs on purpose:

* An ellipsis stands for all dimensions that are not mentioned; the reference does not support it.
* A step of 0 is rejected when the pipeline is defined, not when it runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
from tests.conformance.test_expressions import check, check_refused, run

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

IMAGE = np.arange(2 * 4 * 3, dtype=np.int32).reshape(2, 4, 3)
INPUTS = [
    IMAGE,
    np.array(1, np.int32),
    np.array(-2, np.int64),
    np.array(1, np.uint8),
    np.array(1.0, np.float32),
    np.array([1], np.int32),
    np.array(True),
]
# Of the library: a scalar of each sample, and three tensors that are not integer scalars.
Entries = Callable[..., Any]

CONSTANT: list[Any] = [
    *(0, -1, 1, True, np.int64(1), np.array(1), None),
    *(np.s_[1:], np.s_[::2], np.s_[::-1], np.s_[1:3], np.s_[-1:], np.s_[5:], np.s_[0:0]),
    *(np.s_[1:0], np.s_[:0], np.s_[0, 1], np.s_[0, 1, 2], np.s_[:, 1], np.s_[:, :, 0]),
    *(np.s_[:, -2:, 1:], np.s_[0:100], np.s_[-100:2], np.s_[-5:-1], np.s_[::3], np.s_[:, ::2]),
    *(np.s_[2::-1], np.s_[::1], np.s_[::-2], np.s_[:, 1:3:2], np.s_[2:], np.s_[2:2]),
    *(np.s_[-2:-3], np.s_[:, 3:0:-2], np.s_[:, -1:-5:-3, 1], np.s_[:, 10:-10:-1], ()),
    *(np.s_[:, :, ::-1], np.s_[:, -100:100:100], np.s_[1, ::-1, ::2]),
]


def nothing(library: Any) -> list[Any]:
    new = library.newaxis
    return [new, (new, 0), (0, new), (slice(None), new), (new, new, new), (slice(None), new, 1)]


def named(library: Any) -> list[Any]:
    new = library.newaxis
    every = slice(None)
    return [
        *(new("C"), (every, new("Z")), (new("C"), new("D"), 0), (every, every, every, new("K"))),
        *((0, new("N"), every, 1), (every, new("Q"), slice(None, None, -1))),
    ]


@pytest.mark.parametrize("layout", ["HWC", ""])
def test_constant_indices(layout: str) -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        entries = [*CONSTANT, *nothing(library), library.types.Constant(1)]
        return [nodes[0][entry] for entry in entries]

    check([IMAGE], build, layout=layout)


def test_new_axes_with_names() -> None:
    check(
        [IMAGE],
        lambda library, nodes: [nodes[0][entry] for entry in named(library)],
        layout="HWC",
    )


@pytest.mark.parametrize("layout", ["HWC", ""])
def test_indices_of_samples(layout: str) -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        x, one, minus_two, also_one, *_ = nodes
        return [
            *(x[one], x[also_one], x[minus_two], x[one:], x[:one], x[one:1], x[:, one]),
            *(x[0, one, ::1], x[minus_two:], x[one:minus_two], x[:, minus_two:, one]),
            *(x[x.shape()[0] - 1], x[:, one : x.shape()[1] - 1]),
        ]

    check(INPUTS, build, layout=layout)


REFUSED: list[Entries] = [
    lambda library, *_: 2,
    lambda library, *_: -3,
    lambda library, *_: (slice(None), 5),
    lambda library, *_: (0, 1, 2, 0),
    lambda library, *_: 1.5,
    lambda library, *_: "a",
    lambda library, *_: [0, 1],
    lambda library, *_: slice(None, None, 0),
    lambda library, *_: library.newaxis("ABC"),
    lambda library, *_: (0, library.newaxis("Z"), library.newaxis),
    lambda library, one, real, vector, truth: real,
    lambda library, one, real, vector, truth: vector,
    lambda library, one, real, vector, truth: truth,
]


@pytest.mark.parametrize("entries", REFUSED)
def test_invalid_indices(entries: Entries) -> None:
    def build(library: Any, nodes: list[Any]) -> list[Any]:
        x, one, _, _, *others = nodes
        return [x[entries(library, one, *others)]]

    check_refused(INPUTS, build, layout="HWC")


def test_names_need_a_layout() -> None:
    check_refused([IMAGE], lambda library, nodes: [nodes[0][library.newaxis("C")]])


def test_scalars_have_no_elements() -> None:
    check_refused(INPUTS, lambda library, nodes: [nodes[1][0]])


def test_ellipsis() -> None:
    entries = [
        *(np.s_[...], np.s_[..., 0], np.s_[0, ...], np.s_[1, ..., 1:], np.s_[..., ::-1, :]),
        *(np.s_[0, 1, ..., 2], np.s_[0, 1, 2, ...]),
    ]
    results, _, layouts = run(
        dali_core, [IMAGE], lambda library, nodes: [nodes[0][entry] for entry in entries], "HWC"
    )
    for result, entry in zip(results, entries, strict=True):
        np.testing.assert_array_equal(result, IMAGE[entry])
    assert layouts == ["HWC", "HW", "WC", "WC", "HWC", "", ""]
