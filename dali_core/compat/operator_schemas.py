"""Descriptions of operators in the form of NVIDIA DALI's registry."""

from __future__ import annotations

from dali_core._call.arguments import all_args
from dali_core._graph.namespaces import class_name
from dali_core._registry.specs import all_specs
from dali_core._spec import REQUIRED, Arg, OpSpec
from dali_core.errors import ArgumentKeyError


class OpSchema:
    """Schema of an operator that programs query: its name, its inputs and its arguments."""

    def __init__(self, spec: OpSpec) -> None:
        self._spec = spec
        self._args: dict[str, Arg] = {
            arg.name: arg for arg in all_args(spec) if arg.name not in ("device", "name")
        }

    def Name(self) -> str:  # noqa: N802
        """Return the name of the registry: modules and the class, with two underscores between."""
        return "__".join([*self.ModulePath(), self.OperatorName()])

    def OperatorName(self) -> str:  # noqa: N802
        """Return the name of the class in `ops`."""
        return class_name(self._spec.name)

    def ModulePath(self) -> list[str]:  # noqa: N802
        """Return the modules below `ops` that the class is in."""
        return self._spec.name.split(".")[:-1]

    def Dox(self) -> str:  # noqa: N802
        """Return the documentation, without that of arguments."""
        return self._spec.doc

    def MinNumInput(self) -> int:  # noqa: N802
        """Return the least number of positional inputs."""
        return self._spec.input_range[0]

    def MaxNumInput(self) -> int:  # noqa: N802
        """Return the largest number of positional inputs."""
        return self._spec.input_range[1]

    def IsDeprecated(self) -> bool:  # noqa: N802
        """Return whether another operator should be used."""
        return bool(self._spec.deprecated)

    def GetArgumentNames(self) -> list[str]:  # noqa: N802
        """Return the names of the keyword arguments, sorted."""
        return sorted(self._args)

    def HasArgument(self, name: str) -> bool:  # noqa: N802
        """Return whether there is a keyword argument."""
        return name in self._args

    def IsArgumentOptional(self, name: str) -> bool:  # noqa: N802
        """Return whether a keyword argument may be left out."""
        return self._args[name].default is not REQUIRED

    def IsTensorArgument(self, name: str) -> bool:  # noqa: N802
        """Return whether a keyword argument may come with each sample."""
        return self._args[name].tensor


def GetSchema(name: str) -> OpSchema:  # noqa: N802
    """Return the description of an operator.

    Parameters
    ----------
    name : str
        Its name in the registry, such as ``"readers__File"``.

    Raises
    ------
    ArgumentKeyError
        If there is none.
    """
    for spec in all_specs().values():
        schema = OpSchema(spec)
        if schema.Name() == name:
            return schema
    raise ArgumentKeyError(
        f"GetSchema: name must be that of an operator (got {name!r}). Join the modules and the "
        "class below ops by two underscores, such as 'readers__File'."
    )
