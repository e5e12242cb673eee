"""Normalisation by statistics on a device is that of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_axes_and_types() -> None:
    """Runs of all kinds, groups across their ends, samples that begin anywhere, and no elements."""
    run("normalize_on_device/axes_and_types")


def test_given_mean_and_stddev() -> None:
    run("normalize_on_device/given_mean_and_stddev")


def test_whole_batches() -> None:
    run("normalize_on_device/whole_batches")


def test_errors_equal_the_host() -> None:
    run("normalize_on_device/errors_equal_the_host")
