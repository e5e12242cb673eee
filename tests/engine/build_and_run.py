"""Compiles the engine with its own tests, and runs them: ``python -m tests.engine.build_and_run``.

``--sanitize thread`` or ``--sanitize address,undefined`` detects data races and memory errors.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.compiled_programs import (
    INCLUDES,
    SANITIZERS,
    WHOLE_ENGINE,
    Source,
    build_program,
    can_compile,
    operator_flags,
    require_compiler,
)
from tests.hanging import HANG_SECONDS

HERE = Path(__file__).resolve().parent
ENVIRONMENT = {
    "ASAN_OPTIONS": "allocator_may_return_null=1",
    "TSAN_OPTIONS": "allocator_may_return_null=1 halt_on_error=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def build(sanitize: str = "") -> Path:
    """Compile the test program.

    Parameters
    ----------
    sanitize : str
        The value of ``-fsanitize``; empty for none.

    Returns
    -------
    path
        The program.
    """
    if sanitize == SANITIZERS:
        flags = operator_flags(sanitize=True)
    else:
        flags = ["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-pthread", *INCLUDES]
        # Compiling takes longer than the tests.
        flags.append("-O0")
        if sanitize:
            flags += [f"-fsanitize={sanitize}", "-fno-sanitize-recover=all"]
            flags.append("-fno-omit-frame-pointer")
    sources = [tuple(sorted(HERE.glob("*.cpp"))), *WHOLE_ENGINE]
    return build_program("engine_tests", sources, flags)


def build_operators(name: str, sources: Iterable[Source]) -> Path:
    """Compile a test program of operators, with sanitizers if the compiler supports them."""
    require_compiler()
    flags = operator_flags(sanitize=can_compile(f"-fsanitize={SANITIZERS}"))
    return build_program(name, sources, flags)


def command_for(program: Path, sanitize: str = "") -> list[str]:
    """Return the command that runs the program: ThreadSanitizer needs fixed addresses."""
    setarch = shutil.which("setarch")
    if "thread" in sanitize and setarch:
        return [setarch, "--addr-no-randomize", str(program)]
    return [str(program)]


def run_program(
    command: list[str], *, timeout: float = HANG_SECONDS, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a test program, with everything that it prints in `stdout`."""
    return subprocess.run(
        command,
        env=os.environ | ENVIRONMENT | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=timeout,
    )


def run_operators(name: str, sources: Iterable[Source], **variables: str) -> str:
    """Compile and run a test program of operators. Return its output; it must pass."""
    result = run_program([str(build_operators(name, sources))], **variables)
    __tracebackhide__ = True
    assert result.returncode == 0, f"{variables}: {result.stdout}"
    return result.stdout


def run(sanitize: str = "", only: str = "") -> subprocess.CompletedProcess[str]:
    """Compile and run the tests whose names contain `only`."""
    return run_program([*command_for(build(sanitize), sanitize), only])


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sanitize", default="", help=f"thread, or {SANITIZERS}")
    parser.add_argument("only", nargs="?", default="", help="part of the names of the tests to run")
    arguments = parser.parse_args()
    result = run(arguments.sanitize, arguments.only)
    print(result.stdout, end="")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
