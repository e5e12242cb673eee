"""Reductions on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_all_types_and_axes() -> None:
    run("reductions/all_types_and_axes")


def test_output_types() -> None:
    run("reductions/output_types")


def test_long_sums() -> None:
    """Several chunks for each of their lanes, in places that begin anywhere."""
    run("reductions/long_sums")


def test_signed_zeros_and_nan() -> None:
    """Of equal zeros the first counts, and NaN is passed over."""
    run("reductions/signed_zeros_and_nan")


def test_rejects_means_of_wrong_shape() -> None:
    run("reductions/rejects_means_of_wrong_shape")
