"""Checkpoints: the states of readers and random generators by names."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dali_core._atomic_files import write_whole
from dali_core._call.location import user_location
from dali_core.errors import (
    ArgumentKeyError,
    ArgumentTypeError,
    ArgumentValueError,
    PipelineStateError,
    StateMismatchError,
)

_VERSION = 2
_NUMBER = re.compile(r"\{seq(:[^{}]*)?\}")
_MAX_BYTES = 256 * 2**20


class Checkpoint:
    """States of objects by their names.

    Objects are registered; `collect` takes their states, `serialize` and `save` write them, and
    `deserialize` and `load` read them: objects that are registered then, or were before, resume.
    """

    def __init__(self) -> None:
        self._objects: dict[str, Any] = {}
        self._states: dict[str, tuple[str, str]] = {}
        self._is_collected = False
        self._is_loaded = False

    def register(self, op: Any, name: str | None = None) -> str:
        """Add an object.

        Parameters
        ----------
        op : Reader or RNG
            The object, which has `get_state` and `set_state`. If states were loaded, it resumes.
        name : str, optional
            Its name; by default ``__op_0`` and so on, by the number of objects.

        Returns
        -------
        str
            The name; that of an earlier registration if there was one.
        """
        where = f"Checkpoint.register at {user_location()}"
        if not (hasattr(op, "get_state") and hasattr(op, "set_state")):
            raise ArgumentTypeError(
                f"{where}: must be a reader or a generator (got a {type(op).__name__}). Only these "
                "have states."
            )
        if self._is_collected:
            raise PipelineStateError(
                f"{where}: states were collected. Call clear before more is registered."
            )
        for known, other in self._objects.items():
            if other is op:
                return known
        if name is None:
            name = f"__op_{len(self._objects)}"
        elif not isinstance(name, str) or not name or name.startswith("__op_"):
            raise ArgumentValueError(
                f"{where}: a name must not be empty nor begin with '__op_' (got {name!r:.60})."
            )
        if name in self._objects:
            raise ArgumentValueError(
                f"{where}: names must differ (got {name!r} twice). Choose another."
            )
        if self._is_loaded:
            self._apply(name, op)
        self._objects[name] = op
        return name

    @property
    def names(self) -> list[str]:
        """Names of all objects and states."""
        return list(dict.fromkeys([*self._objects, *self._states]))

    @property
    def is_complete(self) -> bool:
        """Whether there is a state for every object."""
        return all(name in self._states for name in self._objects) and bool(self._states)

    @property
    def is_loaded(self) -> bool:
        """Whether states were read."""
        return self._is_loaded

    def collect(self) -> None:
        """Take the states of all objects."""
        self._states = {
            name: (_text(op.get_state()), type(op).__name__) for name, op in self._objects.items()
        }
        self._is_collected = True

    def clear(self) -> None:
        """Forget the states, and that they were collected or loaded."""
        self._states = {}
        self._is_collected = self._is_loaded = False

    def restore(self) -> None:
        """Have all objects resume from their states."""
        for name, op in self._objects.items():
            self._apply(name, op)

    def get_state(self, name: str) -> str:
        """Return the state of an object as a text."""
        if name not in self._states:
            raise ArgumentKeyError(
                f"Checkpoint.get_state: there is no state {name!r:.60} (there are "
                f"{', '.join(self._states) or 'none'})."
            )
        return self._states[name][0]

    def set_state(self, name: str, value: str, op_type: str | None = None) -> None:
        """Set the state of an object."""
        known = self._objects.get(name)
        kind = op_type or (type(known).__name__ if known is not None else "")
        self._states[name] = (_text(value), kind)

    def serialize(self) -> str:
        """Return all states as JSON."""
        if not self._states:
            raise PipelineStateError(
                f"Checkpoint.serialize at {user_location()}: there are no states. Call collect."
            )
        states = {
            name: {"state": text, "type": kind} for name, (text, kind) in self._states.items()
        }
        return json.dumps({"version": _VERSION, "states": states})

    def deserialize(self, text: str) -> None:
        """Read states that `serialize` wrote; registered objects resume.

        Raises
        ------
        StateMismatchError
            If it is no such text, or an object is of another type.
        """
        where = f"Checkpoint.deserialize at {user_location()}"
        try:
            read = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise StateMismatchError(
                f"{where}: the text must be a checkpoint ({error})."
            ) from error
        if not isinstance(read, dict) or not isinstance(read.get("states"), dict):
            raise StateMismatchError(f"{where}: the text must be a checkpoint (got other data).")
        if read.get("version") != _VERSION:
            raise StateMismatchError(
                f"{where}: the version must be {_VERSION} (got {read.get('version')!r:.20})."
            )
        states = {}
        for name, entry in read["states"].items():
            if not _is_entry(entry):
                raise StateMismatchError(f"{where}: the state {name!r:.60} is damaged.")
            states[name] = (entry["state"], entry["type"])
        self._states = states
        self._is_loaded, self._is_collected = True, False
        for name, op in self._objects.items():
            if name in states:
                self._apply(name, op)

    def save(self, pattern: str | os.PathLike[str]) -> str:
        """Write all states into a file.

        Parameters
        ----------
        pattern : path
            Where; ``{seq}``, such as in ``"state_{seq:04d}.json"``, is replaced by the next number
            that is free.

        Returns
        -------
        str
            The file.
        """
        found = _files(pattern)
        path = _numbered(os.fspath(pattern), max(found, default=-1) + 1)
        write_whole(Path(path), self.serialize().encode())
        return path

    def load(self, pattern: str | os.PathLike[str]) -> str:
        """Read the file of the highest number that `save` wrote, and return its path."""
        found = _files(pattern)
        if not found:
            raise FileNotFoundError(f"Checkpoint.load: there is no file {os.fspath(pattern)!r}.")
        path = found[max(found)]
        if os.path.getsize(path) > _MAX_BYTES:
            raise StateMismatchError(f"Checkpoint.load: file {path!r} is too large for states.")
        self.deserialize(Path(path).read_text("utf-8", errors="replace"))
        return path

    def _apply(self, name: str, op: Any) -> None:
        if name not in self._states:
            raise ArgumentKeyError(
                f"Checkpoint: there is no state {name!r:.60} (there are "
                f"{', '.join(self._states) or 'none'})."
            )
        text, kind = self._states[name]
        if kind and kind != type(op).__name__:
            raise ArgumentTypeError(
                f"Checkpoint: the state {name!r:.60} must be of a {type(op).__name__} (got one of "
                f"a {kind:.60})."
            )
        op.set_state(text)


def _text(state: Any) -> str:
    return state if isinstance(state, str) else str(state)


def _is_entry(entry: Any) -> bool:
    return (
        isinstance(entry, Mapping)
        and isinstance(entry.get("state"), str)
        and isinstance(entry.get("type"), str)
    )


def _numbered(pattern: str, number: int) -> str:
    return _NUMBER.sub(lambda found: format(number, (found[1] or ":")[1:]), pattern)


def _files(pattern: str | os.PathLike[str]) -> dict[int, str]:
    """Find the files of a pattern by their numbers."""
    text = os.fspath(pattern)
    found = _NUMBER.search(text)
    if found is None:
        raise ArgumentValueError(
            f"Checkpoint at {user_location()}: the pattern must have {{seq}} (got {text!r:.80}). "
            "Use 'state_{seq:04d}.json', say."
        )
    before, after = text[: found.start()], text[found.end() :]
    if found[1] and not re.fullmatch(r":0?\d{0,3}d?", found[1]):
        raise ArgumentValueError(
            f"Checkpoint at {user_location()}: the number must have a form such as {{seq:04d}} "
            f"(got {found[0]!r:.40})."
        )
    files = {}
    for path in glob.glob(f"{glob.escape(before)}*{glob.escape(after)}"):
        number = path[len(before) : len(path) - len(after)]
        if number.isdecimal() and len(number) < 19:
            files[int(number)] = path
    return files
