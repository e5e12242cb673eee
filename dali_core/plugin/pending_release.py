"""Memory that a framework still copies from, in an order that its streams do not tell."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from typing import Any


class PendingRelease:
    """Holds what frameworks copy from until the copies are made, without waiting.

    Some frameworks release imported memory at once, and have no stream whose work ends with their
    last use of it. An adapter for one copies, and has this hold the source. Copies on a device are
    made in order, so a copy that is ready means that those before it are.

    Parameters
    ----------
    is_ready : callable
        Returns whether a copy is made; False if that cannot be told.
    """

    def __init__(self, is_ready: Callable[[Any], bool]) -> None:
        self._is_ready = is_ready
        self._lock = threading.Lock()
        self._held: deque[tuple[Any, Any]] = deque()

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, source: Any, copy: Any) -> None:
        """Hold a source until its copy is made, and release what needs not be held any more."""
        with self._lock:
            released = self._take_ready()
            self._held.append((source, copy))
        # Not under the lock: what is released may run any code.
        released.clear()

    def release(self) -> None:
        """Release what needs not be held any more."""
        with self._lock:
            released = self._take_ready()
        released.clear()

    def wait(self, block: Callable[[Any], object]) -> None:
        """Release everything, once `block` has waited for the copies; called at exit."""
        with self._lock:
            released = list(self._held)
            self._held.clear()
        for _, copy in released:
            block(copy)
        released.clear()

    def _take_ready(self) -> list[tuple[Any, Any]]:
        count = 0
        for number, (_, copy) in enumerate(self._held, 1):
            if self._is_ready(copy):
                count = number
        return [self._held.popleft() for _ in range(count)]
