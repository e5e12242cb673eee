"""Checks of a saved state, which may come from anywhere, before anything is changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from dali_core._messages import shown
from dali_core._runtime.step import LARGEST_COUNT, is_count
from dali_core.errors import ArgumentTypeError, StateMismatchError

T = TypeVar("T")

VERSION = 1
"""Version of the form of states; to be raised when older programs cannot read new ones."""


class SavedState:
    """A state that is to be loaded.

    Parameters
    ----------
    where : str
        Start of messages, such as ``"Pipeline.load_state_dict"``.
    state : object
        What the user passed.
    kind : str
        What must have saved it.

    Raises
    ------
    ArgumentTypeError
        If it is no mapping.
    StateMismatchError
        If something else saved it, or a newer version of the library.
    """

    def __init__(self, where: str, state: Any, kind: str) -> None:
        self.where = where
        if not isinstance(state, Mapping):
            raise ArgumentTypeError(
                f"{where}: the state must be a dict (got a {type(state).__name__}). Pass what "
                "state_dict returned."
            )
        self._state = state
        saved_kind = self.get("kind", str)
        if saved_kind != kind:
            raise StateMismatchError(
                f"{where}: the state must be that of a {kind} (got that of a "
                f"{saved_kind[:200]}). Load it into the kind of object that it was saved from."
            )
        version = self.get("version", int)
        if not 1 <= version <= VERSION:
            raise StateMismatchError(
                f"{where}: the state must have version 1 to {VERSION} (got "
                f"{shown(version)}). Load it with the version of dali_core that saved it, or a "
                "newer one."
            )

    def __contains__(self, name: str) -> bool:
        return name in self._state

    @property
    def entries(self) -> Mapping[str, Any]:
        """All entries, unchecked."""
        return self._state

    def get(self, name: str, kind: type[T]) -> T:
        """Return an entry of the state, which must be there and have a type.

        Raises
        ------
        StateMismatchError
            If it is missing or of another type.
        """
        if name not in self._state:
            raise StateMismatchError(
                f"{self.where}: the state must have the entry {name!r} (got "
                f"{sorted(map(str, self._state))})."
                " Pass all that state_dict returned."
            )
        value = self._state[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise StateMismatchError(
                f"{self.where}: entry {name!r} of the state must be of type {kind.__name__} (got "
                f"{shown(value)}). Pass what state_dict returned."
            )
        return value

    def number(self, name: str, least: int = 0, most: int = LARGEST_COUNT) -> int:
        """Return an entry that is a number in a range."""
        value = self.get(name, int)
        if not least <= value <= most:
            raise self.mismatch(f"entry {name!r}", f"a number from {least} to {most}", value)
        return value

    def integers(self, name: str, count: int) -> list[int]:
        """Return an entry that is a list of so many numbers from 0 on."""
        values = list(self.get(name, list))
        if len(values) != count or not all(map(is_count, values)):
            raise self.mismatch(f"entry {name!r}", f"{count} numbers from 0 on", values)
        return values

    def mismatch(
        self, what: str, here: object, saved: object, cure: str = "Pass what state_dict returned."
    ) -> StateMismatchError:
        """Make the error that something in the state is not as it is here."""
        return StateMismatchError(
            f"{self.where}: {what} of the state must be {here} (got "
            f"{saved if isinstance(saved, (str, Exception)) else shown(saved)}). {cure}"
        )
