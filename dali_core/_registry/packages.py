"""Operators of other packages: which are installed, and which of them are loaded.

A package registers an `OperatorPackage` in the entry-point group ``dali_core.operators``, or a
`Format` in the group ``dali_core.readers``. Entry points are looked up when a name is asked for
that this library does not have, so packages cost nothing before they are used.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dali_core._readers.python_reader import Format, python_reader
from dali_core._runtime.native_code import load_library, registered_names
from dali_core._spec import OpSpec
from dali_core.errors import ArgumentTypeError, OperatorPackageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dali_core.operators"
READERS_GROUP = "dali_core.readers"
_READER_NAME = re.compile(r"readers\.[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class OperatorPackage:
    """Operators of a package, and the shared library that they run in.

    Parameters
    ----------
    specs : sequence of OpSpec
        Descriptions of the operators.
    library : str or path, optional
        The shared library in which their native code registers itself. A stem such as
        ``folder / "native"`` stands for the file that setuptools calls
        ``native.cpython-311-x86_64-linux-gnu.so``.
    """

    specs: Sequence[OpSpec]
    library: str | os.PathLike[str] | None = None


class Packages:
    """What is loaded of other packages.

    Parameters
    ----------
    is_taken : callable
        Returns whether the library itself has an operator of a name.
    """

    def __init__(self, is_taken: Callable[[str], bool]) -> None:
        self._is_taken = is_taken
        self._specs: dict[str, OpSpec] = {}
        self._packages: dict[str, str] = {}  # that operators are from, by their names
        self._looked_up: dict[tuple[str, str], OperatorPackageError | None] = {}

    @property
    def specs(self) -> dict[str, OpSpec]:
        """Descriptions of the operators loaded so far, by name."""
        return dict(self._specs)

    def has(self, name: str) -> bool:
        """Return whether a package of this name is loaded."""
        return name in self._packages.values()

    def load_installed(self) -> None:
        """Load the packages of all entry points, unless that was done.

        Raises
        ------
        OperatorPackageError
            If one cannot be loaded; the others are there nevertheless.
        """
        from importlib.metadata import entry_points  # slow to import

        for group in (GROUP, READERS_GROUP):
            for point in sorted(entry_points(group=group)):
                if (group, point.name) not in self._looked_up:
                    self._looked_up[group, point.name] = self._load(point)
        for error in filter(None, self._looked_up.values()):
            raise OperatorPackageError(str(error)) from error.__cause__

    def add(self, name: str, package: OperatorPackage, *, share_symbols: bool = False) -> None:
        """Load a package: all of its operators, or none.

        Parameters
        ----------
        name : str
            What messages call it.
        package : OperatorPackage
            The package.
        share_symbols : bool
            Whether libraries that are loaded later may use symbols of its library.

        Raises
        ------
        OperatorPackageError
            If its library cannot be used, or a name is taken.
        """
        where = f"operators of {name!r}"
        for spec in package.specs:
            self._check(spec, where, name)
        native: set[str] = set()
        if package.library is not None:
            path = find_library(package.library, where)
            try:
                native = set(load_library(str(path), share_symbols=share_symbols))
            except RuntimeError as error:
                raise OperatorPackageError(f"{where}: {path} {error}") from error
        for spec in package.specs:
            own = spec.native.name
            if spec.python_step is None and own not in native and own not in registered_names():
                raise OperatorPackageError(
                    f"{where}: operator {spec.name!r} must have native code under the name {own!r} "
                    f"(got {', '.join(sorted(native)) or 'none'} from {package.library}). Register "
                    f"it with DALI_CORE_REGISTER_OPERATOR({own!r}, ...)."
                )
        for spec in package.specs:
            self._specs[spec.name] = spec
            self._packages[spec.name] = name

    def _check(self, spec: OpSpec, where: str, name: str) -> None:
        if not isinstance(spec, OpSpec):
            raise OperatorPackageError(
                f"{where}: specs must be descriptions, of class OpSpec (got {spec!r}). Pass SPECs."
            )
        loaded = self._packages.get(spec.name, name)
        is_taken = self._is_taken(spec.name)
        if is_taken or loaded != name:
            owner = "dali_core" if is_taken else repr(loaded)
            raise OperatorPackageError(
                f"{where}: operator {spec.name!r} must have a name of its own (got that of an "
                f"operator of {owner}). Choose another, such as 'my_group.{spec.name}'."
            )
        if not set(spec.devices) <= {"cpu"} or spec.role:
            raise OperatorPackageError(
                f"{where}: operator {spec.name!r} must run on the host and have no role (got "
                f"devices {tuple(spec.devices)} and role {spec.role!r}). Leave both out."
            )

    def add_reader(self, name: str, given: object) -> None:
        """Load a reader of files.

        Parameters
        ----------
        name : str
            The package, for messages.
        given : Format or subclass of it
            The format; a class is called without arguments.

        Raises
        ------
        OperatorPackageError
            If it is no format, or if its name is none for a reader, or taken.
        """
        form = given() if isinstance(given, type) else given
        if not isinstance(form, Format):
            raise OperatorPackageError(
                f"readers of {name!r}: a reader must be a class derived from "
                f"dali_core.readers.Format, or an object of one (got {given!r:.100}). Register "
                "that."
            )
        if not _READER_NAME.fullmatch(getattr(form, "name", "")):
            raise OperatorPackageError(
                f"readers of {name!r}: {type(form).__name__}.name must be 'readers.' and a word in "
                f"lower case (got {getattr(form, 'name', None)!r}). Choose one like "
                "'readers.my_format'."
            )
        self.add(name, OperatorPackage(python_reader(form)))

    def _load(self, point: EntryPoint) -> OperatorPackageError | None:
        name = point.dist.name if point.dist is not None else point.name
        try:
            package = point.load()
            if point.group == READERS_GROUP:
                self.add_reader(name, package)
                return None
            if not isinstance(package, OperatorPackage):
                raise ArgumentTypeError(
                    f"entry point {point.value!r} must be an OperatorPackage (got {package!r})."
                )
            self.add(name, package)
        except OperatorPackageError as error:
            return error
        except Exception as error:
            entry = f"{point.group}: {point.name} = {point.value!r}"
            failed = OperatorPackageError(
                f"operators of {name!r}: the package must be imported for its operators ({entry}; "
                f"got {type(error).__name__}: {error}). Repair or uninstall it."
            )
            failed.__cause__ = error
            return failed
        return None


def find_library(library: str | os.PathLike[str], where: str) -> Path:
    """Find the file of a library that may be named without the suffix of extension modules.

    Raises
    ------
    OperatorPackageError
        If there is none.
    """
    path = Path(library)
    for candidate in _candidates(path):
        if candidate.is_file():
            return candidate.absolute()
    raise OperatorPackageError(
        f"{where}: library must be an existing file (got {str(path)!r}). Build the package."
    )


def _candidates(path: Path) -> Iterator[Path]:
    from importlib.machinery import EXTENSION_SUFFIXES

    yield path
    for suffix in EXTENSION_SUFFIXES:
        yield path.with_name(path.name + suffix)
