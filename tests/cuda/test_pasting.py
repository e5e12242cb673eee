"""Canvases on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_paste() -> None:
    """Rows of any number of bytes, with colours of any number of channels."""
    run("pasting/paste")


def test_paste_frames() -> None:
    run("pasting/paste_frames")


def test_multi_paste_regions() -> None:
    """Later regions cover earlier ones; each is of any image of the batch."""
    run("pasting/multi_paste_regions")


def test_multi_paste_source_info() -> None:
    """The files that regions are from are those of the host."""
    run("pasting/multi_paste_source_info")
