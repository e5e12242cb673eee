"""Generators of random numbers."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, TypeAlias

from dali_core._call.location import user_location
from dali_core._runtime.call_executor import SampleIds
from dali_core._runtime.random import mix_seed
from dali_core.errors import ArgumentFormError, ArgumentTypeError, ArgumentValueError

_MASK = 2**64 - 1
# Steps of readers that a generator distinguishes at the same time.
_MAX_STEPS = 256
# How far a call of an operator advances a generator, whatever the batch.
_NUMBERS_A_CALL = 7

Draws: TypeAlias = Sequence[int]
"""For each operator the number of its call, of 64 bits and not 0."""
Seeds: TypeAlias = tuple[tuple[int, int], ...]
"""For each operator a seed, and its place among those that draw in a step."""


class RNG:
    """A generator of random numbers: a counter and a seed.

    Each call of an operator that draws takes numbers of the generator when it is called, so that
    results do not depend on when they are computed. For samples that come from a reader, the
    numbers of a call depend on the seed, on which of the generator's calls it is since the batch
    was read, and on the sample itself: not on the batch size, nor on what was read before.

    Parameters
    ----------
    seed : int, optional
        Seed, taken modulo 2^64; by default 0, or that of the state.
    state : str, optional
        What `get_state` of another generator has returned.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If both are given, or one has the wrong form.
    """

    __module__ = "dali_core.dynamic.random"

    def __init__(self, seed: int | None = None, state: str | None = None) -> None:
        if seed is not None and state is not None:
            raise ArgumentValueError(
                f"RNG at {user_location()}: only one of seed and state may be given (got both). "
                "Leave one out."
            )
        self._seed = 0 if seed is None else _checked_seed(seed, "RNG")
        self._counter = 0
        self._num_calls: dict[object, int] = {}
        if state is not None:
            self.set_state(state)

    def __call__(self) -> int:
        """Return the next number, an integer from 0 to 2^32 - 1."""
        return self._next() & 0xFFFFFFFF

    def _next(self) -> int:
        number = mix_seed(self._seed, self._counter)
        self._counter = (self._counter + 1) & _MASK
        return number

    @property
    def seed(self) -> int:
        """The seed; setting it starts over."""
        return self._seed

    @seed.setter
    def seed(self, seed: int) -> None:
        self._seed = _checked_seed(seed, "RNG.seed")
        self._counter = 0
        self._num_calls.clear()

    def clone(self) -> RNG:
        """Return a generator that gives the same numbers from here on."""
        other = RNG(self._seed)
        other._counter, other._num_calls = self._counter, self._num_calls.copy()
        return other

    def advance(self, n: int) -> None:
        """Skip numbers.

        Parameters
        ----------
        n : int
            How many; not negative.
        """
        if isinstance(n, bool) or not isinstance(n, int):
            raise ArgumentTypeError(
                f"RNG.advance at {user_location()}: n must be an integer (got {n!r:.60})."
            )
        if n < 0:
            raise ArgumentValueError(
                f"RNG.advance at {user_location()}: n must not be negative (got {n}). Use "
                "set_state to go back."
            )
        self._counter = (self._counter + n) & _MASK

    @property
    def state(self) -> str:
        """The state as a text."""
        return f"{self._seed:016x}:{self._counter:016x}"

    @state.setter
    def state(self, state: str) -> None:
        self.set_state(state)

    def get_state(self) -> str:
        """Return the state, a text."""
        return self.state

    def set_state(self, state: str) -> None:
        """Resume from a state.

        Parameters
        ----------
        state : str
            What `get_state` has returned.
        """
        where = f"RNG.set_state at {user_location()}"
        if not isinstance(state, str):
            raise ArgumentTypeError(
                f"{where}: the state must be a text (got a {type(state).__name__}). Pass what "
                "get_state has returned."
            )
        parts = state.split(":")
        if [len(part) for part in parts] != [16, 16]:
            raise ArgumentValueError(
                f"{where}: the state must be of a generator (got {state!r:.60}). Pass what "
                "get_state has returned."
            )
        try:
            seed, counter = (int(part, 16) for part in parts)
        except ValueError as error:
            raise ArgumentValueError(
                f"{where}: the state must be of a generator (got {state!r:.60}). Pass what "
                "get_state has returned."
            ) from error
        self._seed, self._counter = seed, counter
        self._num_calls.clear()

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"

    def draws(self, count: int) -> Draws:
        """Take the numbers of operators in a call on samples without ids."""
        base = self._next()
        self._counter = (self._counter + _NUMBERS_A_CALL - 1) & _MASK
        return [mix_seed(base, which) or 1 for which in range(count)]

    def seeds(self, count: int, ids: SampleIds) -> Seeds:
        """Take the seeds of operators in a call on samples with ids, as a pipeline has them.

        They are those of a pipeline with this seed which calls the same operators in this order.
        """
        token = ids.step.token
        first = self._num_calls.get(token, 0)
        self._num_calls[token] = first + count
        if len(self._num_calls) > _MAX_STEPS:  # the oldest one first
            del self._num_calls[next(iter(self._num_calls))]
        self._counter = (self._counter + _NUMBERS_A_CALL) & _MASK
        return tuple((self._seed, first + which) for which in range(count))


def _checked_seed(seed: Any, what: str) -> int:
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise ArgumentTypeError(
            f"{what} at {user_location()}: seed must be an integer (got {seed!r:.60}, a "
            f"{type(seed).__name__}). Convert it."
        )
    return seed & _MASK


class _Local(threading.local):
    def __init__(self) -> None:
        self.rng = RNG(mix_seed(threading.get_native_id(), 1) if _is_other_thread() else None)


def _is_other_thread() -> bool:
    return threading.current_thread() is not threading.main_thread()


_local = _Local()


def get_default_rng() -> RNG:
    """Return the generator of this thread."""
    return _local.rng


def set_seed(seed: int) -> None:
    """Set the seed of this thread's generator."""
    _local.rng.seed = seed


def generator(rng: Any) -> RNG:
    """Return a generator that was passed, or that of the thread.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no generator.
    """
    if rng is None:
        return _local.rng
    if not isinstance(rng, RNG):
        raise ArgumentFormError(
            f"rng at {user_location()}: must be a random.RNG (got a {type(rng).__name__}). Make "
            "one of a seed."
        )
    return rng
