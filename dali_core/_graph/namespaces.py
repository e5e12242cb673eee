"""Makes the functions of `fn` and the classes of `ops` from the operators' descriptions."""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import Any

from dali_core._call.arguments import (
    all_args,
    check_arguments,
    given_arguments,
    is_array_argument,
)
from dali_core._call.location import user_location
from dali_core._graph.graph import add_operator
from dali_core._graph.node import DataNode
from dali_core._registry.specs import find_own, packages, public_paths
from dali_core._spec import REQUIRED, UNSET, OpSpec
from dali_core.errors import ArgumentTypeError, OperatorPackageError
from dali_core.operators.acronyms import ACRONYMS


class OperatorClass:
    """An operator with constant arguments; called on inputs, it joins a pipeline's graph."""

    _arguments: dict[str, Any]

    @property
    def device(self) -> str:
        """Where it was told to run; ``"cpu"`` if it was not told."""
        return self._arguments.get("device") or "cpu"

    @property
    def preserve(self) -> bool:
        """Whether the graph keeps it even if nothing uses its results."""
        return bool(self._arguments.get("preserve"))


def class_name(name: str) -> str:
    """Return the class name of an operator: ``coin_flip`` becomes ``CoinFlip``."""
    parts = name.rpartition(".")[2].split("_")
    return "".join(ACRONYMS.get(part, part.capitalize()) for part in parts)


def signature(spec: OpSpec) -> inspect.Signature:
    """Return the signature of an operator's function: inputs by position, all else by name."""
    least, most = spec.input_range
    parameters = []
    if spec.bind is not None or most > 8:
        parameters.append(inspect.Parameter("inputs", inspect.Parameter.VAR_POSITIONAL))
    else:
        for number in range(most):
            parameters.append(
                inspect.Parameter(
                    "input" if most == 1 else f"input_{number}",
                    inspect.Parameter.POSITIONAL_ONLY,
                    default=inspect.Parameter.empty if number < least else None,
                )
            )
    for arg in all_args(spec):
        default = arg.default
        if default is REQUIRED:
            default = inspect.Parameter.empty
        elif default is UNSET:
            default = None
        parameters.append(
            inspect.Parameter(arg.name, inspect.Parameter.KEYWORD_ONLY, default=default)
        )
    return inspect.Signature(parameters)


def documentation(spec: OpSpec) -> str:
    """Write an operator's docstring in the style of NumPy."""
    lines = [spec.doc.strip(), ""]
    if spec.input_docs:
        lines += ["Inputs", "------", *spec.input_docs, ""]
    lines += ["Parameters", "----------"]
    for arg in all_args(spec):
        kind = inspect.formatannotation(arg.type).replace("dali_core.", "")
        if arg.tensor:
            kind += " or DataNode"
        if arg.range is not None:
            kind += f", {arg.range}"
        if arg.default is not REQUIRED:
            shown = "not set" if arg.default in (UNSET, None) else repr(arg.default)
            kind += f", default {shown}"
        lines += [f"{arg.name} : {kind}", f"    {arg.doc}"]
    return "\n".join(lines)


def fill_functions(
    namespace: dict[str, Any], module: str, meant: Mapping[str, str] | None = None
) -> None:
    """Have a module make a function for each operator, and modules for the groups.

    Parameters
    ----------
    namespace : dict
        Names of the module.
    module : str
        Its name.
    meant : mapping of str to str, optional
        Operators that errors suggest for names of other libraries.
    """
    fill_namespace(namespace, module, lambda name: name, _function, meant=meant)


def fill_classes(namespace: dict[str, Any], module: str) -> None:
    """Have a module make a class for each operator, and modules for the groups."""

    def path_of(name: str) -> str:
        group, _, _ = name.rpartition(".")
        return f"{group}.{class_name(name)}" if group else class_name(name)

    fill_namespace(namespace, module, path_of, _class)


def fill_namespace(
    namespace: dict[str, Any],
    module: str,
    path_of: Callable[[str], str],
    make: Callable[[OpSpec, str], Any],
    accepts: Callable[[OpSpec], bool] = lambda _: True,
    meant: Mapping[str, str] | None = None,
) -> None:
    """Have a module make something for each operator, and modules for the groups.

    Parameters
    ----------
    namespace : dict
        The module's names.
    module : str
        Name of the module.
    path_of : callable
        Returns where an operator is, from its name.
    make : callable
        Makes what stands for an operator in a module.
    accepts : callable
        Returns whether an operator is there.
    meant : mapping of str to str, optional
        Operators that errors suggest for names of other libraries.
    """
    _Namespace(namespace, module, path_of, make, accepts, meant or {}).fill()


def _suggestion(name: str, names: Iterable[str], meant: Mapping[str, str]) -> str:
    """Return the name that may be meant, however its words are joined: `RandomResizedCrop`, too."""
    known = {_letters(other): other for other in names if not other.startswith("_")}
    if meant.get(name) in known.values():
        return f". Did you mean {meant[name]!r}?"
    found = difflib.get_close_matches(_letters(name), known, n=1)
    return f". Did you mean {known[found[0]]!r}?" if found else ""


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


class _Namespace:
    """A module with something for each operator, and with modules for the groups.

    Each is imported and made when it is first looked up, since a program uses few of them.
    """

    def __init__(
        self,
        top: dict[str, Any],
        module: str,
        path_of: Callable[[str], str],
        make: Callable[[OpSpec, str], Any],
        accepts: Callable[[OpSpec], bool],
        meant: Mapping[str, str],
    ) -> None:
        self._accepts = accepts
        self._top = top
        self._module = module
        self._path_of = path_of
        self._make = make
        self._meant = meant
        # Names of operators that are not made yet, by the module that each will be in.
        self._waiting: dict[str, dict[str, str]] = {}
        self._packaged: set[str] = set()

    def fill(self) -> None:
        """Have the operators of this library, and those of others, looked up by their names."""
        self._prepare(self._top, self._module)
        for operator in public_paths():
            self._put(operator)

    def _prepare(self, namespace: dict[str, Any], module: str) -> None:
        waiting: dict[str, str] = {}

        def names() -> list[str]:
            return sorted({*namespace, *filter(find, waiting)})

        def find(name: str) -> OpSpec | None:
            operator = waiting.get(name, "")
            spec = find_own(operator) or packages().specs.get(operator)
            is_here = spec is not None and not spec.is_internal and self._accepts(spec)
            return spec if is_here else None

        def look_up(name: str) -> Any:
            broken = None
            if not name.startswith("_") and name not in waiting:
                self._add_packaged()
                if name not in waiting and name not in namespace:
                    try:
                        packages().load_installed()
                    except OperatorPackageError as error:
                        broken = error
                    self._add_packaged()
            spec = find(name)
            if spec is not None:
                # Of threads that come at the same time, all get the first one's.
                return namespace.setdefault(name, self._make(spec, module))
            if name in namespace:
                return namespace[name]
            if broken is not None:
                # `hasattr` and `getattr` with a default expect this error.
                raise AttributeError(
                    f"module {module!r} has no attribute {name!r}, and a package that may have "
                    f"it cannot be loaded: {broken}"
                ) from broken
            if name == "__all__":  # for `import *`
                return [name for name in names() if not name.startswith("_")]
            # With a name, and no object, Python adds no suggestion of its own.
            hint = ""
            if not name.startswith("_"):
                hint = _suggestion(name, (*namespace, *waiting), self._meant)
            raise AttributeError(f"module {module!r} has no attribute {name!r}{hint}", name=name)

        namespace["__getattr__"] = look_up
        namespace["__dir__"] = names
        self._waiting[module] = waiting

    def _add_packaged(self) -> None:
        for operator, spec in packages().specs.items():
            if operator not in self._packaged and not spec.is_internal:
                self._packaged.add(operator)
                self._put(operator)

    def _put(self, operator: str) -> None:
        group, _, name = self._path_of(operator).rpartition(".")
        namespace, module = self._top, self._module
        for part in filter(None, group.split(".")):
            module = f"{module}.{part}"
            if part not in namespace:
                namespace[part] = sys.modules[module] = ModuleType(
                    module, f"Operators of {part!r}."
                )
            namespace = vars(namespace[part])
            if module not in self._waiting:
                self._prepare(namespace, module)
        self._waiting[module][name] = operator


def _call(
    spec: OpSpec, inputs: tuple[Any, ...], arguments: dict[str, Any]
) -> DataNode | list[DataNode] | dict[str, DataNode] | None:
    """Call an operator; outputs that have names are in a dict."""
    result = add_operator(spec, inputs, arguments)
    if spec.output_names is None:
        return result
    assert result is not None
    values = result if isinstance(result, list) else [result]
    return dict(zip(spec.output_names(arguments), values, strict=True))


def _function(spec: OpSpec, module: str) -> Callable[..., Any]:
    def operator(
        *inputs: Any, **arguments: Any
    ) -> DataNode | list[DataNode] | dict[str, DataNode] | None:
        return _call(spec, inputs, arguments)

    operator.__name__ = operator.__qualname__ = spec.name.rpartition(".")[2]
    operator.__module__ = module
    operator.__doc__ = documentation(spec)
    operator.__signature__ = signature(spec)  # type: ignore[attr-defined]
    return operator


def _class(spec: OpSpec, module: str) -> type:
    def __init__(self: Any, *values: Any, **arguments: Any) -> None:  # noqa: N807
        where = f"ops.{spec.name} at {user_location()}"
        arguments = given_arguments(spec, _named(spec, values, arguments, where), where)
        known = {arg.name for arg in all_args(spec)}
        required = {arg.name for arg in all_args(spec) if arg.default is REQUIRED}
        alternatives = [{arg.name, *arg.alternatives} for arg in spec.args if arg.alternatives]
        # What is missing may come with the call, and so may inputs that `bind` looks at.
        is_complete = spec.bind is None and required <= set(arguments)
        is_complete = is_complete and not any(map(set(arguments).isdisjoint, alternatives))
        # Arrays become values of the graph that the call is for.
        is_complete = is_complete and not any(
            is_array_argument(spec, name, value) for name, value in arguments.items()
        )
        if is_complete or not set(arguments) <= known:
            check_arguments(spec, arguments, where)
        self._arguments = arguments

    def __call__(self: Any, *inputs: Any, **arguments: Any) -> Any:  # noqa: N807
        where = f"ops.{spec.name} at {user_location()}"
        arguments = given_arguments(spec, arguments, where)
        twice = set(arguments) & set(self._arguments)
        if twice:
            raise ArgumentTypeError(
                f"{where}: {', '.join(sorted(twice))} must be given "
                "either to the constructor or to the call (got both). Remove one."
            )
        return _call(spec, inputs, {**self._arguments, **arguments})

    name = class_name(spec.name)
    return type(
        name,
        (OperatorClass,),
        {
            "__init__": __init__,
            "__call__": __call__,
            "__doc__": documentation(spec),
            "__module__": module,
            "__qualname__": name,
        },
    )


def _named(
    spec: OpSpec, values: tuple[Any, ...], arguments: dict[str, Any], where: str
) -> dict[str, Any]:
    """Name the values that a constructor got by position."""
    positional = spec.constructor
    if len(values) > len(positional):
        takes = ", ".join(positional) or "none"
        raise ArgumentTypeError(
            f"{where}: at most {len(positional)} arguments may be passed to the constructor "
            f"by position: {takes} (got {len(values)}). Pass inputs to the call, and everything "
            "else by name."
        )
    named = dict(zip(positional, values, strict=False))
    twice = set(named) & set(arguments)
    if twice:
        raise ArgumentTypeError(
            f"{where}: {', '.join(sorted(twice))} must be given once (got it twice). Remove one."
        )
    return {**named, **arguments}
