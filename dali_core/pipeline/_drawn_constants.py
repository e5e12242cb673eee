"""Random numbers of Python and NumPy that become constants of a graph."""

from __future__ import annotations

import random
import sys
from typing import Any

from dali_core._call.location import warn_user

_SEEDED = 624  # position of a Mersenne Twister that was seeded, and has drawn nothing


class DrawnConstants:
    """The global generators of Python and NumPy before a function defines a graph.

    A number that the function draws from them is the same in all batches. Numbers drawn before,
    from generators of the user's own, or by seeding alone, do not count.

    Parameters
    ----------
    function : str
        How a warning calls the function.
    """

    def __init__(self, function: str) -> None:
        self._function = function
        self._states = _states()

    def warn(self) -> None:
        """Warn if the function has drawn numbers."""
        drawn = [
            name
            for name, (state, position) in _states().items()
            if position != _SEEDED and self._states.get(name, (state, 0))[0] != state
        ]
        if drawn:
            warn_user(
                f"{self._function}: random numbers must be drawn by operators (got some of "
                f"{' and '.join(drawn)}). The function runs once, so that they are constants: each "
                "batch gets the same. Use fn.random.uniform or its siblings; draw constants, such "
                "as seeds, before, and pass them as arguments.",
                UserWarning,
            )


def _states() -> dict[str, tuple[Any, int]]:
    """Return state and position of each global generator that is in use."""
    state = random.getstate()
    found: dict[str, tuple[Any, int]] = {"random": (state, state[1][-1])}
    if "numpy.random" in sys.modules:
        name, key, position, *rest = sys.modules["numpy.random"].get_state()
        if name == "MT19937":
            found["numpy.random"] = ((key.tobytes(), position, *rest), int(position))
    return found
