"""Spectra and decibels on a device are those of the host."""

from __future__ import annotations

import pytest

from tests.cuda.host_and_device import run

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")


def test_mel_filters() -> None:
    """Spectra of several numbers of bins, whose frequencies are in any dimension."""
    run("audio_on_device/mel_filters")


def test_decibels() -> None:
    """Numbers of all magnitudes, with a reference and without."""
    run("audio_on_device/decibels")


def test_spectra() -> None:
    """All factors, convolutions, samples outside of signals, and windows of several blocks."""
    run("audio_on_device/spectra")


def test_spectra_of_long_windows() -> None:
    """Windows that do not fit into shared memory, by factors and as convolutions."""
    run("audio_on_device/spectra_of_long_windows")


def test_memory_of_long_windows_is_bounded() -> None:
    """Blocks take several windows where all of them would take much memory."""
    run("audio_on_device/memory_of_long_windows_is_bounded")
