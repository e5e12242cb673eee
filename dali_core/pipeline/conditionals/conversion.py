"""Makes functions whose conditions may be about data out of the user's functions."""

from __future__ import annotations

import functools
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path
from types import CellType, CodeType, FunctionType, MethodType, SimpleNamespace
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.context import current_definition
from dali_core.errors import GraphError
from dali_core.pipeline.conditionals import runtime
from dali_core.pipeline.conditionals.jumps import RUNTIME
from dali_core.pipeline.conditionals.marks import is_unconverted
from dali_core.pipeline.conditionals.source import SourceMissing, compile_function, find_function
from dali_core.pipeline.conditionals.transformation import transform

_PACKAGE = str(Path(__file__).parents[2])


def convert_definition(function: Callable[..., Any]) -> Callable[..., Any]:
    """Convert the function that defines a pipeline.

    Parameters
    ----------
    function : callable
        The function.

    Returns
    -------
    callable
        The converted one.

    Raises
    ------
    GraphError
        If its source is not available.
    """
    target = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(target, FunctionType) and not is_unconverted(target):
        problem = _problem(target)
        if problem:
            raise GraphError(
                f"pipeline_def at {user_location()}: with enable_conditionals=True the source of "
                f"{function.__qualname__!r} must be available, to find its conditions ({problem}). "
                "Define it in a file, with no other function on its lines."
            )
        converted = _converted(target)
        if isinstance(function, MethodType):
            return MethodType(converted, function.__self__)
        return converted
    result: Callable[..., Any] = convert(function)
    return result


def convert(function: Any) -> Any:
    """Convert what is about to be called, if it is a function of the user.

    Parameters
    ----------
    function : object
        What is called. Functions, methods, objects and classes of the user are converted; what
        belongs to Python, to an installed package that does not use this library, or to this
        library is not.

    Returns
    -------
    object
        Something that does the same.
    """
    if isinstance(function, FunctionType):
        is_converted = _is_wanted(function) and not _problem(function)
        return _converted(function) if is_converted else function
    if isinstance(function, MethodType):
        inner = convert(function.__func__)
        is_same = inner is function.__func__
        return function if is_same else MethodType(inner, function.__self__)
    if isinstance(function, functools.partial):
        inner = convert(function.func)
        if inner is function.func:
            return function
        return functools.partial(inner, *function.args, **function.keywords)
    if function is map:
        return lambda first, *others, **options: map(convert(first), *others, **options)
    if isinstance(function, type):
        return _convert_class(function)
    call = type(function).__call__ if callable(function) else None
    if isinstance(call, FunctionType) and (inner := convert(call)) is not call:
        return MethodType(inner, function)
    return function


def _convert_class(cls: type) -> Any:
    """Make objects as the class does, with a converted `__init__`."""
    init = cls.__init__  # type: ignore[misc]
    makers: tuple[object, object] = (type(cls).__call__, cls.__new__)
    is_usual = makers == (type.__call__, object.__new__)
    if not is_usual or not isinstance(init, FunctionType):
        return cls
    inner = convert(init)
    if inner is init:
        return cls

    def make(*arguments: Any, **keywords: Any) -> Any:
        result: Any = object.__new__(cls)
        inner(result, *arguments, **keywords)
        return result

    return make


def _is_wanted(function: FunctionType) -> bool:
    if is_unconverted(function) or RUNTIME in function.__code__.co_freevars:
        return False
    filename = function.__code__.co_filename
    if filename.startswith(_PACKAGE):
        return False
    if not filename.startswith(_installed_folders()):
        return True
    if not {"site-packages", "dist-packages"} & set(Path(filename).parts):
        return False  # a module of Python itself
    # Of installed packages, what uses this library.
    return any(
        getattr(value, "__module__", getattr(value, "__name__", "")) in _own_modules()
        for value in list(function.__globals__.values())
    )


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    return (*{sysconfig.get_path(name) for name in names}, str(Path(functools.__file__).parent))


def _own_modules() -> set[str]:
    return {name for name in sys.modules if name.partition(".")[0] == "dali_core"}


def _problem(function: FunctionType) -> str:
    """Return why a function cannot be converted; empty if it can."""
    return "" if isinstance(found := _code_of(function), CodeType) else found


def _converted(function: FunctionType) -> FunctionType:
    code = _code_of(function)
    assert isinstance(code, CodeType)
    if RUNTIME not in code.co_freevars:
        return function  # it has no conditions, and calls nothing
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(_RUNTIME)
    closure = tuple(cells[name] for name in code.co_freevars)
    result = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, closure
    )
    result.__kwdefaults__ = function.__kwdefaults__
    result.__qualname__ = function.__qualname__
    result.__module__ = function.__module__
    result.__doc__ = function.__doc__
    result.__annotations__ = function.__annotations__
    result.__dict__.update(function.__dict__)
    return result


_CODES: dict[tuple[str, str, CodeType], CodeType | str] = {}
"""Of each function that was asked for, the converted code, or why there is none."""


def _code_of(function: FunctionType) -> CodeType | str:
    key = (function.__code__.co_filename, function.__qualname__, function.__code__)
    if key not in _CODES:
        try:
            node = transform(find_function(function))
            _CODES[key] = compile_function(node, function, RUNTIME)
        except SourceMissing as problem:
            _CODES[key] = str(problem)
    return _CODES[key]


def convert_called(function: Any) -> Any:
    """Convert what is about to be called, if a pipeline is being defined.

    Sources and the like that were defined there run as they are later on.
    """
    pipeline, _ = current_definition()
    return function if pipeline is None else convert(function)


_RUNTIME = SimpleNamespace(
    convert=convert_called, **{name: getattr(runtime, name) for name in runtime.__all__}
)
"""What transformed programs call."""
