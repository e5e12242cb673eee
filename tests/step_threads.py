"""The threads in which pipelines run their steps."""

from __future__ import annotations

import threading


def step_threads() -> set[threading.Thread]:
    """Return those of all pipelines; some of earlier tests may not have ended yet.

    Other threads come and go: of test runners, and of what was read ahead.
    """
    return {thread for thread in threading.enumerate() if thread.name == "dali_core steps"}
