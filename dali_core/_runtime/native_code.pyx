# cython: annotation_typing=False
"""Registered native operators, their libraries, and features of the build."""

from dali_core._runtime.executor cimport (
    load_operators, native_abi, native_names, native_role, native_simd, with_libjpeg,
)


def registered_names() -> list[str]:
    """List the names of all operators that have native code."""
    return sorted(name.decode() for name in native_names(False))


def registered_device_names() -> list[str]:
    """List the names of all operators that have code for devices."""
    return sorted(name.decode() for name in native_names(True))


def simd_level() -> str:
    """Return which instructions kernels on the host use: "baseline", "avx2" or "avx512".

    The environment variable ``DALI_CORE_SIMD`` may lower it.

    Raises
    ------
    RuntimeError
        If that variable is none of these.
    """
    return _SIMD_LEVELS[native_simd()]


_SIMD_LEVELS = ("baseline", "avx2", "avx512")


def has_libjpeg() -> bool:
    """Return whether this build has libjpeg-turbo."""
    return with_libjpeg()


def operator_abi() -> str:
    """Return what libraries of operators must have in common with this one, in words."""
    return native_abi().decode()


def load_library(path: str, *, share_symbols: bool = False) -> list[str]:
    """Register the operators of a shared library, unless they are, and return their names.

    Parameters
    ----------
    path : str
        The library, which includes ``dali_core/operator_library.hpp``.
    share_symbols : bool
        Whether libraries that are loaded later may use its symbols.

    Raises
    ------
    RuntimeError
        If it cannot be loaded, or is for another version of this library or of a compiler.
    """
    return [name.decode() for name in load_operators(path.encode(), share_symbols)]


def chain_role(name: str) -> str:
    """Return what native code can be in a chain that runs as one; "" for nothing.

    The roles are "source", "window", "resample", "pixels", "finish" and "elementwise".
    """
    return _CHAIN_ROLES[native_role(name.encode())]


_CHAIN_ROLES = ("", "source", "window", "resample", "pixels", "finish", "elementwise")
