"""States of sources: how much they have given, to be saved and restored."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from dali_core._runtime.step import StepContext, is_count
from dali_core._runtime.turn import KeptCalls
from dali_core.errors import (
    DaliCoreError,
    PipelineStateError,
    StateMismatchError,
)


class OwnState:
    """The state of an object that has ``state_dict`` and ``load_state_dict``.

    Parameters
    ----------
    owner : object
        The object.
    """

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._first: Any = None

    @classmethod
    def of(cls, owner: Any) -> OwnState | None:
        """Return the state of an object, if it has one."""
        # Without a generator: an interrupt while one is closed would be lost.
        saves = callable(getattr(owner, "state_dict", None))
        return cls(owner) if saves and callable(getattr(owner, "load_state_dict", None)) else None

    def remember_first(self) -> None:
        """Keep the state as it is before the first use; does nothing later."""
        if self._first is not None:
            return
        try:
            self._first = self.save()
        except Exception as error:
            self._first = error  # raised only if this state is to be restored

    def save(self) -> Any:
        """Return a copy of the state."""
        return copy.deepcopy(self._owner.state_dict())

    def load(self, state: Any) -> None:
        """Bring a state back."""
        try:
            self._owner.load_state_dict(copy.deepcopy(state))
        except Exception as error:
            raise StateMismatchError(
                f"load_state_dict of the source must take its state back (it raised {error!r}). "
                "Use the source that the state is from."
            ) from error

    def load_first(self) -> None:
        """Bring back the state from before the first use."""
        if isinstance(self._first, Exception):
            raise PipelineStateError(
                "state_dict of the source must work before its first use, to start over (it "
                f"raised {self._first!r}). Make a new pipeline."
            ) from self._first
        if self._first is not None:
            self.load(self._first)


def check_items_state(state: Any) -> None:
    """Check that a state is one that `Items` gave, of whatever source."""
    is_own = isinstance(state, dict) and isinstance(state.get("exhausted"), bool)
    if not is_own or not (
        {"own", "iterator"} & set(state)
        or (is_count(state.get("asked")) and is_count(state.get("failed")))
    ):
        raise _other_source(state)


def is_iterable(source: Any) -> bool:
    """Return whether a source gives items: a generator function, or an iterable or sequence."""
    return (
        inspect.isgeneratorfunction(source)
        or hasattr(source, "__iter__")
        or hasattr(type(source), "__getitem__")
    )


class Items:
    """The items of an iterable or of a generator function, cycled through as asked.

    Parameters
    ----------
    source : iterable or generator function
        Where the items come from.
    cycle : str
        ``"no"``, ``"quiet"`` or ``"raise"``.
    kept : KeptCalls, optional
        What asks for items, so that a batch may be interrupted and begun once more.
    """

    def __init__(self, source: Any, cycle: str, kept: KeptCalls | None = None) -> None:
        self._source = source
        self._cycle = cycle
        self._own = OwnState.of(source)
        self._iterator: Iterator[Any] | None = None
        self._is_used = False
        self._is_exhausted = False
        self._num_asked = 0  # of this iterator
        self._num_failed = 0
        self._kept = kept
        self._before: tuple[Any, ...] = ()
        self._is_ended = False  # by an interrupt

    def begin(self, *, is_again: bool) -> None:
        """Begin a batch, perhaps once more after an interrupt."""
        if is_again:
            (
                self._iterator,
                self._is_used,
                self._is_exhausted,
                self._num_asked,
                self._num_failed,
            ) = self._before
        else:
            counts = self._num_asked, self._num_failed
            self._before = (self._iterator, self._is_used, self._is_exhausted, *counts)

    def take(self, context: StepContext) -> Any:
        """Return the next item, or raise StopIteration."""
        if self._own is not None:
            self._own.remember_first()
        self._is_used = True
        if self._iterator is None:
            self._iterator = self._start()
        try:
            return self._next(self._iterator)
        except StopIteration:
            self._is_exhausted = True
            if self._cycle != "quiet":
                raise
        self._is_exhausted = False
        self._iterator = self._start()
        return self._next(self._iterator)

    def end_epoch(self) -> None:
        """Start over, if the source has ended and may do so."""
        # Another source may have ended the epoch before.
        if self._cycle == "raise" and self._is_exhausted:
            self._forget_iterator()

    def state(self) -> dict[str, Any] | None:
        """Return what was taken, or the source's own state; None at the beginning."""
        if not self._is_used:
            return None
        if self._own is not None:
            return {"own": self._own.save(), "exhausted": self._is_exhausted}
        if self._iterator is None:
            return None
        iterator_state = OwnState.of(self._iterator)
        if iterator_state is not None:
            return {"iterator": iterator_state.save(), "exhausted": self._is_exhausted}
        return {
            "asked": self._num_asked,
            "failed": self._num_failed,
            "exhausted": self._is_exhausted,
        }

    def restore(self, state: Any) -> None:
        """Take up a state: hand it over to the source, or skip what was taken."""
        if state is None:
            if self._is_used and self._own is not None:
                self._own.load_first()
            elif self._is_used:
                self._iterator = self._start_over()
                return
            self._forget_iterator()
            return
        check_items_state(state)
        if ("own" in state) != (self._own is not None):
            raise _other_source(state)
        if self._own is not None:
            self._own.remember_first()
            self._own.load(state["own"])
            self._forget_iterator()
        elif self._can_skip_on(state):
            assert self._iterator is not None
            self._skip(self._iterator, state["asked"], state["failed"])
        else:
            self._iterator = self._start_over()
            iterator_state = OwnState.of(self._iterator)
            if ("iterator" in state) != (iterator_state is not None):
                raise _other_source(state)
            if iterator_state is not None:
                iterator_state.load(state["iterator"])
            else:
                self._skip(self._iterator, state["asked"], state["failed"])
        self._is_used = True
        if state["exhausted"]:
            self._is_exhausted = True
            self._iterator = iter(())

    def _can_skip_on(self, state: dict[str, Any]) -> bool:
        """Return whether an iterator that cannot start over has not come as far as the state."""
        return (
            self._iterator is not None
            and self._iterator is self._source
            and self._cycle == "no"
            and self._num_asked <= state.get("asked", -1)
        )

    def _next(self, iterator: Iterator[Any]) -> Any:
        try:
            item = next(iterator) if self._kept is None else self._asked(self._kept, iterator)
        except StopIteration:
            raise
        except Exception:
            self._num_asked += 1
            self._num_failed += 1
            raise
        self._num_asked += 1
        return item

    def _asked(self, kept: KeptCalls, iterator: Iterator[Any]) -> Any:
        if self._is_ended:
            raise PipelineStateError(
                "the source must not be a generator that has ended (an interrupt in it has ended "
                "it, and Python cannot resume one). Use an iterator that is a class, or make a new "
                "pipeline."
            )
        try:
            return kept.call(next, iterator)
        except KeyboardInterrupt:
            self._is_ended = inspect.isgenerator(iterator) and iterator.gi_frame is None
            raise

    def _start(self) -> Iterator[Any]:
        self._num_asked = self._num_failed = 0
        self._is_ended = False
        if self._kept is None:
            return self._iterate()
        found: Iterator[Any] = self._kept.call(self._iterate)
        return found

    def _iterate(self) -> Iterator[Any]:
        return iter(self._source() if inspect.isgeneratorfunction(self._source) else self._source)

    def _start_over(self) -> Iterator[Any]:
        iterator = self._start()
        self._is_exhausted = False
        if iterator is self._source and self._is_used and self._cycle == "no":
            raise PipelineStateError(
                f"the source must be able to start over (got {self._source!r}, which has given "
                "items already). Make a new pipeline with a new source, or pass the generator "
                "function itself."
            )
        return iterator

    def _forget_iterator(self) -> None:
        self._iterator = None
        self._is_exhausted = False
        self._num_asked = self._num_failed = 0

    def _skip(self, iterator: Iterator[Any], count: int, num_failures: int) -> None:
        """Ask for items that were given before; those that failed then may fail again."""
        while self._num_asked < count:
            try:
                self._next(iterator)
            except StopIteration:
                raise StateMismatchError(
                    f"the source must give at least the {count} items that it gave before (got "
                    f"{self._num_asked}). Use the source that the state is from."
                ) from None
            except Exception as error:
                if self._num_failed > num_failures:
                    raise PipelineStateError(
                        f"the source must give its first {count} items again (item "
                        f"{self._num_asked - 1} failed: {error}). Use the source that the state "
                        "is from."
                    ) from error


class Calls:
    """Calls of a callable source.

    Parameters
    ----------
    source : callable
        The source.
    takes_argument : bool
        Whether it takes the number of the sample or batch; then it needs no state.
    kept : KeptCalls
        What calls it, so that a batch may be interrupted and begun once more.
    """

    def __init__(self, source: Callable[..., Any], takes_argument: bool, kept: KeptCalls) -> None:
        self._source = source
        self._takes_argument = takes_argument
        self._own = OwnState.of(source)
        self._num_calls = self._calls_before = 0
        self._kept = kept

    def begin(self, *, is_again: bool) -> None:
        """Begin a batch, perhaps once more after an interrupt."""
        if is_again:
            self._num_calls = self._calls_before
        else:
            self._calls_before = self._num_calls

    @property
    def can_go_on(self) -> bool:
        """Whether the source can continue from a state."""
        return self._takes_argument or self._own is not None

    def call(self, argument: Any) -> Any:
        """Call the source, with the argument if it takes one."""
        if self._own is not None:
            self._own.remember_first()
        self._num_calls += 1
        arguments = (argument,) if self._takes_argument else ()
        return self._kept.call(self._source, *arguments)

    def state(self) -> dict[str, Any] | None:
        """Return the source's own state, or how often it was called; None if it has no state."""
        if self._num_calls == 0 or (self._takes_argument and self._own is None):
            return None
        if self._own is not None:
            return {"own": self._own.save(), "calls": self._num_calls}
        return {"calls": self._num_calls}

    def restore(self, state: Any) -> None:
        """Hand a state over to the source."""
        if state is None:
            if self._num_calls > 0 and self._own is not None:
                self._own.load_first()
            elif self._num_calls > 0 and not self._takes_argument:
                raise _unknown_state(self._source)
            return
        if self._own is None and not self._takes_argument:
            raise _unknown_state(self._source)
        is_own = isinstance(state, dict) and "own" in state and is_count(state.get("calls"))
        if self._own is None or not is_own:
            raise _other_source(state)
        self._own.remember_first()
        self._own.load(state["own"])
        self._num_calls = state["calls"]


def _other_source(state: Any) -> DaliCoreError:
    what = f"{', '.join(map(str, state))}" if isinstance(state, dict) else type(state).__name__
    return StateMismatchError(
        f"the source must be the one that the state is from (got a state of {what}). Use that "
        "one, or start without the state."
    )


def _unknown_state(source: Any) -> DaliCoreError:
    return PipelineStateError(
        "a callable source must take the number of the batch or a SampleInfo, or have state_dict "
        f"and load_state_dict, to resume from a state (got {source!r}, which has been called). Let "
        "it take an argument."
    )
