"""Waiting for what other threads and processes do, however busy the machine is."""

from __future__ import annotations

import time
from collections.abc import Callable

from tests.hanging import HANG_SECONDS


def wait_until(
    condition: Callable[[], object],
    described: Callable[[], object] = str,
    seconds: float = HANG_SECONDS,
) -> None:
    """Wait until a condition holds, which nothing signals.

    Parameters
    ----------
    condition : callable
        Called again and again.
    described : callable
        Returns what is the case instead, for the error.
    seconds : float
        How long to wait at most.

    Raises
    ------
    AssertionError
        If the condition does not hold after this time.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"still, after {seconds} s: {described()}"
        time.sleep(0.001)
