"""Pipelines of a user's script, for commands that run them."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from dali_core.commands._media import MediaFile
from dali_core.commands._options import positive
from dali_core.errors import ArgumentTypeError, ArgumentValueError, DaliCoreError
from dali_core.loaders import BaseLoader
from dali_core.pipeline import Pipeline, is_definition

_BATCH_SIZE = 4


def add_script_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that `load_pipeline` needs."""
    parser.add_argument(
        "target",
        metavar="SCRIPT:NAME",
        help="pipeline or loader, or function that makes one; or MODULE:NAME",
    )
    add_pipeline_options(parser)


def add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `load_pipeline` but for the target."""
    parser.add_argument(
        "--batch-size",
        type=positive,
        metavar="N",
        help=f"by default that of the function, or {_BATCH_SIZE}",
    )
    parser.add_argument(
        "--num-threads", type=positive, metavar="N", help="by default that of the function"
    )
    add_function_options(parser)


def add_function_options(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of a command that are passed to a function."""
    parser.add_argument(
        "--arg",
        action="append",
        default=[],
        type=_argument,
        metavar="NAME=VALUE",
        help="pass an argument to the function; a literal of Python, or else text",
    )


def load_pipeline(options: argparse.Namespace) -> Pipeline:
    """Import a script, and return a pipeline of it, or one that a function of it makes.

    Loaders stand for their pipelines.

    Parameters
    ----------
    options : argparse.Namespace
        The arguments that `add_script_options` added.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If there is no such script or function, or it makes no pipeline.
    DaliCoreError
        If the script, or the function, raises an exception, which is the cause.
    """
    found = _loaded(options)
    if isinstance(found, Pipeline):
        return _without_arguments(found, options)
    return found()


def load_function(options: argparse.Namespace) -> Callable[..., Pipeline]:
    """Import a script, and return what makes pipelines with other options, such as `num_threads`.

    Parameters
    ----------
    options : argparse.Namespace
        As for `load_pipeline`.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError, DaliCoreError
        As `load_pipeline`; and if the script has a pipeline of that name, not a function.
    """
    found = _loaded(options)
    if isinstance(found, Pipeline):
        raise ArgumentTypeError(
            f"{options.target} must be a function that makes a pipeline (got a pipeline, whose "
            "number of threads is fixed). Name a function with pipeline_def."
        )
    return found


def _pipeline_of(found: Any) -> Any:
    """Return the pipeline of a loader, of several the first; anything else as it is."""
    return found.pipelines[0] if isinstance(found, BaseLoader) else found


def _without_arguments(pipeline: Pipeline, options: argparse.Namespace) -> Pipeline:
    if options.arg or options.batch_size or options.num_threads:
        raise ArgumentValueError(
            f"{options.target} is a pipeline, which takes no arguments (got --arg, "
            "--batch-size or --num-threads). Leave them out, or name a function that makes it."
        )
    return pipeline


def _loaded(options: argparse.Namespace) -> Pipeline | Callable[..., Pipeline]:
    script, _, name = options.target.rpartition(":")
    if not script or not name:
        raise ArgumentValueError(
            f"the target must be SCRIPT:NAME or MODULE:NAME (got {options.target!r}). "
            "Name the pipeline, or the function that makes it."
        )
    with _errors_of(script):
        module = _imported(script)
    function = _pipeline_of(getattr(module, name, None))
    if isinstance(function, Pipeline):
        return function
    if not callable(function):
        raise ArgumentValueError(
            f"{script} must have a function, a pipeline or a loader {name!r} (got "
            f"{_candidates(module)}). Name one of them."
        )
    keywords: dict[str, Any] = dict(options.arg)
    for option in ("batch_size", "num_threads"):
        if (value := getattr(options, option)) is not None:
            keywords.setdefault(option, value)

    def make(**others: Any) -> Pipeline:
        pipeline = _called(script, name, function, {**keywords, **others})
        if is_definition(function) and not pipeline.max_batch_size:
            others.setdefault("batch_size", _BATCH_SIZE)
            pipeline = _called(script, name, function, {**keywords, **others})
        return pipeline

    return make


def _argument(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"must be NAME=VALUE (got {text!r})")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value


def _imported(script: str) -> ModuleType:
    path = Path(script)
    if path.suffix != ".py":
        if path.is_file():
            content = MediaFile(script, script, "", None).content()
            raise ArgumentValueError(
                f"the script must be Python, in a file with the suffix .py (got {script!r}, "
                f"{content}). Name a script, or a module without its suffix."
            )
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(script)
    if not path.is_file():
        raise ArgumentValueError(f"the script must be a file (got {script!r}). Check the path.")
    sys.path.insert(0, str(path.resolve().parent))
    name = path.stem if path.stem not in sys.modules else f"script_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ArgumentValueError(f"the script must be Python (got {script!r}). Check the path.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _called(
    script: str, name: str, function: Callable[..., Any], keywords: dict[str, Any]
) -> Pipeline:
    if missing := _missing_arguments(function, keywords):
        given = " ".join(f"--arg {argument}=VALUE" for argument in missing)
        raise ArgumentTypeError(
            f"{name} must be given its arguments {', '.join(missing)} (got none). Add {given}."
        )
    if not is_definition(function):
        try:
            inspect.signature(function).bind(**keywords)
        except TypeError as error:
            raise ArgumentTypeError(
                f"{name} must take the arguments {sorted(keywords)} ({error}). Leave out "
                "--batch-size, --num-threads or --arg, or let the function take it."
            ) from error
    with _errors_of(script):
        pipeline = _pipeline_of(function(**keywords))
    if not isinstance(pipeline, Pipeline):
        raise ArgumentTypeError(
            f"{name} must return a Pipeline or a Loader (got {type(pipeline).__name__}). Decorate "
            "it with pipeline_def, or let it return one."
        )
    return pipeline


def _missing_arguments(function: Callable[..., Any], keywords: dict[str, Any]) -> list[str]:
    """Return the parameters without a default, of a function of the user, that have no value."""
    return [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)
        and parameter.name not in keywords
    ]


def _candidates(module: ModuleType) -> str:
    names = [
        name
        for name, value in vars(module).items()
        if is_definition(value) or isinstance(value, (Pipeline, BaseLoader))
    ]
    return ", ".join(names) or "no function with pipeline_def"


@contextmanager
def _errors_of(script: str) -> Iterator[None]:
    """Turn what the user's code raises into an error that says where."""
    try:
        yield
    except DaliCoreError:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [frame for frame in frames if Path(frame.filename).name == Path(script).name]
        where = f"{script}:{own[-1].lineno}" if own else script
        raise DaliCoreError(
            f"{where}: the script must not raise an exception (got {type(error).__name__}: "
            f"{error}). Run it with --traceback to see where it comes from."
        ) from error
