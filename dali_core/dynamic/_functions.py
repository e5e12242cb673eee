"""The functions of operators, and classes of readers, made from the operators' descriptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from dali_core._call.location import user_location
from dali_core._graph.namespaces import class_name, documentation, fill_namespace, signature
from dali_core._spec import OpSpec
from dali_core.dynamic._devices import check_host
from dali_core.dynamic._lazy import call_operator
from dali_core.dynamic._tensors import checked_size
from dali_core.errors import ArgumentKeyError

GONE = ("name", "seed", "preserve", "bytes_per_sample_hint")
"""Arguments of operators in graphs that single calls have not."""

_NOT_CALLED = ("constant", "readers.python")  # tensors, and `ExternalSource`, are for these


def fill(namespace: dict[str, Any], module: str) -> None:
    """Have a module make a function for each operator, and a class for each reader."""
    fill_namespace(namespace, module, path_of, _make, is_callable)


def path_of(name: str) -> str:
    """Return where an operator is, from its name."""
    group, _, own = name.rpartition(".")
    return f"{group}.{class_name(own)}" if group.endswith("readers") else name


def is_callable(spec: OpSpec) -> bool:
    """Return whether an operator can be called outside of a pipeline."""
    if spec.deprecated or ".inputs." in f".{spec.name}":
        return False
    is_reader = spec.reader is not None or spec.hands_to_reader
    if spec.python_step is not None and not is_reader:
        return False
    return is_reader == (".readers." in f".{spec.name}") and spec.name not in _NOT_CALLED


def _make(spec: OpSpec, module: str) -> Any:
    if spec.reader is not None or spec.hands_to_reader:
        from dali_core.dynamic._readers import make_reader

        return make_reader(spec, module)
    return _function(spec, module)


def _function(spec: OpSpec, module: str) -> Callable[..., Any]:
    title = spec.name

    def operator(
        *inputs: Any, batch_size: int | None = None, device: Any = None, **arguments: Any
    ) -> Any:
        if device is not None:
            check_host(device, title)
        rng = arguments.pop("rng", None) if spec.random else None
        for name in GONE:
            if name in arguments:
                raise ArgumentKeyError(
                    f"{title} at {user_location()}: unknown argument {name!r}. "
                    + ("Pass rng." if name == "seed" and spec.random else "Leave it out.")
                )
        size = None if batch_size is None else checked_size(batch_size, title)
        return call_operator(spec, inputs, arguments, size, rng)

    operator.__name__ = operator.__qualname__ = spec.name.rpartition(".")[2]
    operator.__module__ = module
    operator.__doc__ = operator_documentation(spec)
    operator.__signature__ = operator_signature(spec)  # type: ignore[attr-defined]
    return operator


def operator_documentation(spec: OpSpec) -> str:
    """Write the docstring of an operator's function."""
    text = re.sub(
        r"^(device|name|seed|preserve|bytes_per_sample_hint) : .*\n(    .*\n?)+",
        "",
        documentation(spec) + "\n",
        flags=re.MULTILINE,
    )
    rng = (
        "rng : RNG\n    Where random numbers come from; by default the generator of the thread.\n"
        if spec.random
        else ""
    )
    own = (
        "batch_size : int\n    Number of samples of the result; by default that of the batches "
        "among the values,\n    and the result is a tensor if there is none.\n"
        'device : str\n    ``"cpu"``, where the operator runs.\n'
    )
    text = f"{text.rstrip()}\n{own}{rng}"
    return text.replace(" or DataNode", ", Tensor or Batch").replace("DataNode", "Tensor or Batch")


def operator_signature(spec: OpSpec) -> inspect.Signature:
    """Return the signature of an operator's function."""
    own = signature(spec)
    kept = [p for p in own.parameters.values() if p.name not in (*GONE, "device")]
    more = ["batch_size", "device", *(["rng"] if spec.random else [])]
    return own.replace(
        parameters=[
            *kept,
            *(
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
                for name in more
            ),
        ]
    )
