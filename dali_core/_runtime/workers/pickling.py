"""Pickling of the user's functions, for processes that did not inherit them."""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from dali_core.errors import ArgumentTypeError, ArgumentValueError


@dataclass(frozen=True)
class CallbackPickler:
    """What a pipeline's `py_callback_pickler` says.

    Attributes
    ----------
    module : object or None
        Has ``dumps`` and ``loads``. None for `pickle`, or cloudpickle for what `pickle` cannot do.
    dump_arguments, load_arguments : dict
        Keyword arguments of both.
    """

    module: Any = None
    dump_arguments: Mapping[str, Any] = field(default_factory=dict)
    load_arguments: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def from_argument(cls, value: object) -> CallbackPickler:
        """Check the argument of `Pipeline`."""
        parts = value if isinstance(value, tuple) else (value,)
        keywords = [{} if part is None else part for part in parts[1:]]
        if parts and len(parts) <= 3 and all(isinstance(part, Mapping) for part in keywords):
            if value is None:
                return cls()
            if all(callable(getattr(parts[0], name, None)) for name in ("dumps", "loads")):
                return cls(parts[0], *keywords)
        raise ArgumentValueError(
            "Pipeline: py_callback_pickler must be None, an object with the functions dumps and "
            "loads, or a tuple of one, and of the keyword arguments of dumps and loads (got "
            f"{value!r}). The modules pickle, cloudpickle and dill are such objects."
        )

    def pack(self, function: object) -> PackedFunction:
        """Turn a function into bytes.

        Raises
        ------
        ArgumentTypeError
            If that is not possible.
        """
        causes = []
        for module in self._candidates():
            try:
                return self._packed_by(module, function)
            except Exception as error:  # picklers raise what they like
                causes.append(error)
        raise ArgumentTypeError(
            "source must be something that can be sent to other processes, as py_start_method is "
            f"not 'fork' or 'thread' (got {function!r}: {causes[0]}). Use a function or class at "
            "the top of a module, install cloudpickle, pass py_callback_pickler, or another "
            "py_start_method."
        ) from causes[0]

    def _candidates(self) -> list[Any]:
        if self.module is not None:
            return [self.module]
        by_value = [] if (module := _cloudpickle()) is None else [module]
        return [pickle, *by_value] if _is_importable_main() else [*by_value, pickle]

    def _packed_by(self, module: Any, function: object) -> PackedFunction:
        data = module.dumps(function, **self.dump_arguments)
        loader = module.__name__ if isinstance(module, types.ModuleType) else module
        return PackedFunction(data, loader, dict(self.load_arguments))


@dataclass(frozen=True)
class PackedFunction:
    """A function as bytes, and who can read them: a module's name, or an object with ``loads``."""

    data: bytes
    loader: Any
    arguments: Mapping[str, Any] = field(default_factory=dict)

    def unpack(self) -> Any:
        """Make the function again."""
        loader = self.loader
        if isinstance(loader, str):
            __import__(loader)
            loader = sys.modules[loader]
        loads: Callable[..., Any] = loader.loads
        return loads(self.data, **self.arguments)


def _cloudpickle() -> Any:
    """Return cloudpickle, if it is installed."""
    try:
        import cloudpickle  # type: ignore[import-untyped,unused-ignore]
    except ImportError:
        return None
    return cloudpickle


def _is_importable_main() -> bool:
    """Return whether other processes can import what the program defines in `__main__`."""
    main = sys.modules.get("__main__")
    return getattr(main, "__spec__", None) is not None or hasattr(main, "__file__")
