"""References anywhere in a batch: in lists, tuples, dicts and attributes of objects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping, MutableSequence
from types import ModuleType
from typing import Any

from dali_core_pytorch.proxy.references import BatchReference, SampleReference

Reference = SampleReference | BatchReference


def references_in(item: Any) -> list[Reference]:
    """Return all references, each once, in the order of their places."""
    found: dict[int, Reference] = {}
    seen: dict[int, Any] = {}
    waiting = [item]
    while waiting:
        item = waiting.pop()
        if isinstance(item, Reference):
            found[id(item)] = item
        elif id(item) not in seen:
            seen[id(item)] = item
            waiting += [part for _, part in _parts(item)][::-1]
    return [*found.values()]


def replaced(item: Any, data: Callable[[Reference], Any]) -> Any:
    """Replace all references: in place, but for tuples, which are made anew.

    Parameters
    ----------
    item : object
        Where to look. What has no reference is left as it is.
    data : callable
        Returns what takes the place of a reference.

    Returns
    -------
    object
        The item, or what takes its place.
    """
    return _replaced(item, data, {})


def _replaced(item: Any, data: Callable[[Reference], Any], seen: dict[int, Any]) -> Any:
    if isinstance(item, Reference):
        return data(item)
    if id(item) in seen:
        return seen[id(item)]
    seen[id(item)] = item
    changed = {}
    for key, part in [*_parts(item)]:
        new = _replaced(part, data, seen)
        if new is not part:
            changed[key] = new
    if changed and isinstance(item, tuple):
        parts = [changed.get(key, part) for key, part in enumerate(item)]
        seen[id(item)] = type(item)(*parts) if hasattr(item, "_fields") else type(item)(parts)
    elif changed:
        is_collection = isinstance(item, MutableSequence | MutableMapping)
        target: Any = item if is_collection else vars(item)
        for key, new in changed.items():
            target[key] = new
    return seen[id(item)]


def _parts(item: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(item, MutableMapping):
        yield from item.items()
    elif isinstance(item, tuple | MutableSequence) and not isinstance(item, bytearray):
        yield from enumerate(item)
    elif not isinstance(item, type | ModuleType) and hasattr(item, "__dict__"):
        yield from vars(item).items()
