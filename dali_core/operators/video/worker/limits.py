"""Resource limits of a worker: the time that a file can take is bounded."""

from __future__ import annotations

import math
import resource
import signal

_WAITING_PER_SECOND = 10


def prepare_limits() -> None:
    """Let the timers end this process, and leave no core file behind."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in (signal.SIGALRM, signal.SIGPROF, signal.SIGVTALRM):
        signal.signal(number, signal.SIG_DFL)
    # The terminal's signals are for the program that started this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def limit_seconds(seconds: float) -> None:
    """End this process after so much processor time; 0 for no limit.

    A codec that waits for nothing at all is ended as well, though later, and is given a second
    chance: other processes may keep it waiting.
    """
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.alarm(math.ceil(_WAITING_PER_SECOND * seconds))


def limit_ahead_seconds(seconds: float) -> None:
    """End this process after so much processor time for work ahead of requests; 0 for no limit.

    The signal is not that of `limit_seconds`, so that the next request is not taken for the cause.
    """
    signal.setitimer(signal.ITIMER_PROF, 0)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    signal.alarm(math.ceil(_WAITING_PER_SECOND * seconds))
