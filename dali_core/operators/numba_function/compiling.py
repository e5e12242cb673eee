"""Compiles functions of the user with Numba, to functions of C that native code calls.

A wrapper is written for the types and numbers of dimensions of a call. It makes arrays of addresses
and extents, calls the function, and turns an exception, which must not leave it, into a number.
"""

from __future__ import annotations

import ctypes
import importlib
import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from dali_core._extras import install_command
from dali_core._types import DALIDataType, to_numpy_type
from dali_core.errors import ArgumentTypeError, ArgumentValueError

# ANSI escape sequences of colours.
_COLORS = re.compile(r"\x1b\[[0-9;]*m")

_RUN = """
def run(data, extents):
    try:
        function({arrays})
    except Exception:
        return 1
    return 0
"""

_RUN_BATCH = """
def run(data, extents, size):
    try:
        function({arrays})
    except Exception:
        return 1
    return 0
"""

_SETUP = """
def run(outputs, inputs, size):
    try:
        function(({outputs},), ({inputs},))
    except Exception:
        return 1
    return 0
"""


class Compiled:
    """A function of C and, as an integer, its address.

    Parameters
    ----------
    function : object, optional
        What `numba.cfunc` has made; None stands for no function, with the address 0.
    """

    def __init__(self, function: Any = None) -> None:
        self._function = function
        self.value: int = 0 if function is None else function.address

    def __bool__(self) -> bool:
        return self._function is not None

    def __int__(self) -> int:
        return self.value

    def __repr__(self) -> str:
        return f"<compiled function {self._function.__name__!r}>"

    @property
    def from_python(self) -> Any:
        """The same function for Python, which releases the GIL while it runs."""
        return self._function.ctypes


# A program that makes its pipeline again, such as for validation, need not compile again. Entries
# are released with the last pipeline that uses them.
_known: dict[tuple[Any, ...], ref[Compiled]] = {}


class Signature:
    """The types and numbers of dimensions of outputs and inputs.

    Parameters
    ----------
    out_types, in_types : sequence of DALIDataType
        Types of elements.
    outs_ndim, ins_ndim : sequence of int
        Numbers of dimensions.
    """

    def __init__(
        self,
        out_types: Sequence[DALIDataType],
        in_types: Sequence[DALIDataType],
        outs_ndim: Sequence[int],
        ins_ndim: Sequence[int],
    ) -> None:
        self.dtypes = [to_numpy_type(kind) for kind in (*out_types, *in_types)]
        self.ndims = [*outs_ndim, *ins_ndim]
        self.num_outputs = len(out_types)

    def compile_run(self, function: Any) -> Compiled:
        """Compile a function of arrays."""
        numba = _numba()
        kinds = numba.types
        signature = kinds.int32(kinds.CPointer(kinds.voidptr), kinds.CPointer(kinds.int64))
        text = _RUN.format(arrays=", ".join(self._arrays()))
        return self._compile(function, "run_fn", text, signature)

    def compile_run_batch(self, function: Any) -> Compiled:
        """Compile a function of lists of arrays, with an array for each sample."""
        numba = _numba()
        kinds = numba.types
        signature = kinds.int32(
            kinds.CPointer(kinds.voidptr), kinds.CPointer(kinds.int64), kinds.int64
        )
        lists = []
        first = "0"
        for number, ndim in enumerate(self.ndims):
            shape = "".join(f"extents[{first} + i * {ndim} + {d}], " for d in range(ndim))
            array = f"carray(data[{number} * size + i], ({shape}), dtype{number})"
            lists.append(f"[{array} for i in range(size)]")
            first += f" + size * {ndim}"
        text = _RUN_BATCH.format(arrays=", ".join(lists))
        return self._compile(function, "run_fn", text, signature)

    def compile_setup(self, function: Any) -> Compiled:
        """Compile a function of the shapes of all samples."""
        numba = _numba()
        kinds = numba.types
        extents = kinds.CPointer(kinds.int64)
        signature = kinds.int32(extents, extents, kinds.int64)
        arrays = []
        for name, ndims in (
            ("outputs", self.ndims[: self.num_outputs]),
            ("inputs", self.ndims[self.num_outputs :]),
        ):
            whole = f"carray({name}, ({sum(ndims)} * size,))"
            starts = [sum(ndims[:i]) for i in range(len(ndims))]
            arrays.append(
                ", ".join(
                    f"{whole}[{start} * size:{start + ndim} * size].reshape(size, {ndim})"
                    for start, ndim in zip(starts, ndims, strict=True)
                )
            )
        text = _SETUP.format(outputs=arrays[0], inputs=arrays[1])
        return self._compile(function, "setup_fn", text, signature)

    def _arrays(self) -> list[str]:
        arrays, first = [], 0
        for number, ndim in enumerate(self.ndims):
            shape = "".join(f"extents[{d}], " for d in range(first, first + ndim))
            arrays.append(f"carray(data[{number}], ({shape}), dtype{number})")
            first += ndim
        return arrays

    def _compile(self, function: Any, what: str, text: str, signature: Any) -> Compiled:
        key = (function, text, str(signature), *map(str, self.dtypes))
        if key in _known and (known := _known[key]()) is not None:
            return known
        for old in [old for old, entry in _known.items() if entry() is None]:
            _known.pop(old, None)
        numba = _numba()
        compiled = _jitted(function, what, numba)
        names: dict[str, Any] = {"carray": numba.carray, "function": compiled}
        names |= {f"dtype{number}": dtype for number, dtype in enumerate(self.dtypes)}
        exec(text, names)  # noqa: S102 - written above, of numbers only
        try:
            made = Compiled(numba.cfunc(signature, nopython=True)(names["run"]))
            _known[key] = ref(made)
            return made
        except (numba.core.errors.NumbaError, NotImplementedError) as error:
            message = _COLORS.sub("", str(error))
            raise ArgumentValueError(
                f"argument {what!r} must be a function that Numba compiles in nopython mode, for "
                f"these types (got {_place(compiled.py_func)}, of which Numba says: {message}). "
                "Change it, or use fn.python_function."
            ) from error


def call(function: Any, *arguments: Any) -> None:
    """Call a compiled function of a whole batch, without the GIL.

    Raises
    ------
    ValueError
        If it has raised an exception.
    """
    if function.from_python(*arguments):
        raise ValueError(
            "the function must not raise an exception (got one, whose text compiled code does not "
            "keep). Call the function on this batch in Python to see it."
        )


def as_pointer(array: Any) -> Any:
    """Return where the 64-bit integers of an array are, for a compiled function."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_int64))


def as_addresses(array: Any) -> Any:
    """Return where the addresses in an array are, for a compiled function."""
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_void_p))


def _jitted(function: Any, what: str, numba: Any) -> Any:
    if hasattr(function, "py_func"):
        return function
    if not inspect.isfunction(function):
        raise ArgumentTypeError(
            f"argument {what!r} must be a function in Python, which Numba compiles (got "
            f"{function!r}). Pass a function."
        )
    return numba.njit(function)


def _place(function: Callable[..., Any]) -> str:
    code = function.__code__
    return f"{function.__name__!r}, defined at {code.co_filename}:{code.co_firstlineno}"


def _numba() -> Any:
    try:
        return importlib.import_module("numba")
    except ModuleNotFoundError as error:
        raise ImportError(
            f"dali_core.plugin.numba: Numba must be installed (got: {error}). "
            f"Run {install_command('numba')}."
        ) from error
