"""Stub of what `pipeline_def` takes and returns, from the arguments of `Pipeline`."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from dali_core import types
from dali_core._stubs.text import definition, first_line, stub
from dali_core.pipeline import Pipeline, _factory

_SOURCES = {
    "ArrayLike": "numpy.typing",
    **dict.fromkeys(("Bucket", "Budget", "Fixed", "Pack", "Planned"), "dali_core.batching"),
    "ParamSpec": "typing",
    "Pipeline": "dali_core.pipeline._pipeline",
    "Protocol": "typing",
    "TypedDict": "typing_extensions",
    "types": types.__name__.rpartition(".")[0],
}
_ALSO_OF_CALLS = {"enable_conditionals": "bool", "debug": "bool"}


def factory_stub() -> str:
    """Write the stub of the module.

    A type cannot say "the arguments of this function, and some more by name". So the first overload
    takes what the function takes; each other one requires an argument of `Pipeline`, and leaves the
    function's own arguments unchecked.
    """
    parameters = inspect.signature(Pipeline.__init__).parameters
    arguments = {name: str(entry.annotation) for name, entry in parameters.items()}
    del arguments["self"]
    calls = {**arguments, **_ALSO_OF_CALLS}
    body = [
        "",
        'P = ParamSpec("P")',
        "",
        "class PipelineArguments(TypedDict, total=False):",
        '    """Arguments of `Pipeline`."""',
        "",
        *(f"    {name}: {kind}" for name, kind in arguments.items()),
        "",
        "class PipelineFactory(Protocol[P]):",
        f'    """{first_line(_factory.PipelineFactory.__doc__ or "")}"""',
        "",
        "    __name__: str",
        # Of a definition that is a method, whose first argument is bound.
        *definition(
            "__get__",
            ["self", "instance: object", "owner: type | None = None"],
            "Callable[..., Pipeline]",
            indent="    ",
        ),
        "    @overload",
        *_call(["self", "*args: P.args", "**keywords: P.kwargs"]),
    ]
    for name in calls:
        body += ["    @overload", *_call(["self", "*args: Any", *_with(name, calls)])]
    return stub(
        first_line(_factory.__doc__ or ""),
        "\n".join(body),
        own=["P", "PipelineArguments", "PipelineFactory"],
        found=_SOURCES,
    )


def _call(parameters: list[str]) -> list[str]:
    return definition("__call__", parameters, "Pipeline", indent="    ")


def _with(required: str, arguments: Mapping[str, str]) -> list[str]:
    optional = [f"{name}: {kind} = ..." for name, kind in arguments.items() if name != required]
    return [f"{required}: {arguments[required]}", *optional, "**keywords: Any"]
