"""`pipeline_def`: pipelines from functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, overload

from dali_core._call.location import warn_user
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.pipeline._drawn_constants import DrawnConstants
from dali_core.pipeline._pipeline import Pipeline
from dali_core.pipeline.conditionals.marks import is_unconverted, mark_definition

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from dali_core.pipeline._factory import PipelineArguments, PipelineFactory

P = ParamSpec("P")

_PIPELINE_ARGUMENTS = frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}


@overload
def pipeline_def(function: Callable[P, Any], /) -> PipelineFactory[P]: ...


@overload
def pipeline_def(
    function: None = None,
    /,
    *,
    enable_conditionals: bool = False,
    **pipeline_arguments: Unpack[PipelineArguments],
) -> Callable[[Callable[P, Any]], PipelineFactory[P]]: ...


def pipeline_def(
    function: Callable[..., Any] | None = None,
    /,
    *,
    enable_conditionals: bool = False,
    **pipeline_arguments: Any,
) -> Any:
    """Turn a function that calls operators into one that makes pipelines.

    Parameters
    ----------
    function : callable, optional
        Returns the outputs. It is called once for each pipeline, to define the graph.
    enable_conditionals : bool
        Let the function decide on data: `if`, ``a if condition else b``, `and`, `or` and `not` may
        be about results of operators. Each sample then takes its own branch.
    **pipeline_arguments
        Arguments of `Pipeline`. Calls may override them, and `enable_conditionals`, by name; all
        other arguments of a call go to the function, and so do those that it has parameters for.
        `debug` is accepted by calls, without effect but for a warning.

    Returns
    -------
    callable
        Makes a `Pipeline`.
    """
    unknown = set(pipeline_arguments) - _PIPELINE_ARGUMENTS
    if unknown:
        raise ArgumentTypeError(
            f"pipeline_def: unknown arguments {', '.join(sorted(unknown))}. It takes those of "
            f"Pipeline: {', '.join(sorted(_PIPELINE_ARGUMENTS))}."
        )
    if function is None:
        return functools.partial(_decorate, pipeline_arguments, enable_conditionals)
    return _decorate(pipeline_arguments, enable_conditionals, function)


def _decorate(
    defaults: dict[str, Any], enable_conditionals: bool, function: Callable[..., Any]
) -> Callable[..., Pipeline]:
    if is_unconverted(function):
        raise ArgumentValueError(
            "pipeline_def: the function must not be marked with do_not_convert (got "
            f"{function.__name__!r}). Leave out enable_conditionals, or the mark."
        )
    own = inspect.signature(function).parameters

    @functools.wraps(function)
    def make(*args: Any, **keywords: Any) -> Pipeline:
        # The function's own parameters come first, even if the pipeline has one of the same name.
        for_pipeline = {
            name: value
            for name, value in keywords.items()
            if name in _PIPELINE_ARGUMENTS and name not in own
        }
        for_function = {name: value for name, value in keywords.items() if name not in for_pipeline}
        decides = enable_conditionals
        if "enable_conditionals" not in own:
            decides = for_function.pop("enable_conditionals", enable_conditionals)
        if "debug" not in own and for_function.pop("debug", False):
            warn_of_debug()
        pipeline = Pipeline(**{**defaults, **for_pipeline})
        define = function
        if decides:
            from dali_core.pipeline.conditionals.conversion import convert_definition

            define = convert_definition(function)
        with pipeline:
            drawn = DrawnConstants(f"pipeline_def: {function.__name__}()")
            result = define(*args, **for_function)
            drawn.warn()
        pipeline.set_outputs(*(result if isinstance(result, tuple) else (result,)))
        return pipeline

    return mark_definition(make)


def warn_of_debug() -> None:
    """Warn that pipelines have no debug mode."""
    warn_user(
        "pipeline_def: debug=True has no effect. Look at values with fn.python_function, or give "
        "them out.",
        UserWarning,
    )
