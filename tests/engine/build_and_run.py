"""Compiles the engine with its own tests, and runs them: ``python tests/engine/build_and_run.py``.

``--sanitize thread`` or ``--sanitize address,undefined`` looks for races and for misuse of memory.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
ENGINE = ROOT / "dali_core" / "_runtime" / "engine"
ENVIRONMENT = {
    "ASAN_OPTIONS": "allocator_may_return_null=1",
    "TSAN_OPTIONS": "allocator_may_return_null=1 halt_on_error=1",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def compiler() -> list[str]:
    """Give the command of the C++ compiler."""
    return shlex.split(os.environ.get("CXX", "g++"))


def build(folder: Path, sanitize: str = "") -> Path:
    """Compile the test program.

    Parameters
    ----------
    folder : path
        Where to put it.
    sanitize : str
        What to pass to ``-fsanitize``; empty for nothing.

    Returns
    -------
    path
        The program.
    """
    flags = ["-std=c++17", "-g1", "-Wall", "-Wextra", "-Werror", "-pthread"]
    # Optimising what UBSan inserts takes longer than all tests.
    flags.append("-O0" if "undefined" in sanitize else "-O1")
    if sanitize:
        flags += [f"-fsanitize={sanitize}", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
    includes = [f"-I{ROOT / 'dali_core' / 'include'}", f"-I{ENGINE}"]
    sources = sorted([*HERE.glob("*.cpp"), *ENGINE.glob("*.cpp")])
    objects = [folder / f"{source.stem}.o" for source in sources]

    def compile_one(source: Path, target: Path) -> None:
        command = [*compiler(), *flags, *includes, "-c", str(source), "-o", str(target)]
        subprocess.run(command, check=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, sources, objects))
    program = folder / "engine_tests"
    link = [*compiler(), *flags, *map(str, objects), "-o", str(program)]
    subprocess.run(link, check=True)
    return program


def command_for(program: Path, sanitize: str = "") -> list[str]:
    """Give the command that runs the program: ThreadSanitizer needs fixed addresses."""
    setarch = shutil.which("setarch")
    if "thread" in sanitize and setarch:
        return [setarch, "--addr-no-randomize", str(program)]
    return [str(program)]


def run(
    sanitize: str = "", only: str = "", timeout: float = 120
) -> subprocess.CompletedProcess[str]:
    """Compile and run the tests whose names contain `only`."""
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder), sanitize)
        return subprocess.run(
            [*command_for(program, sanitize), only],
            env=os.environ | ENVIRONMENT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=timeout,
        )


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sanitize", default="", help="thread, or address,undefined")
    parser.add_argument("only", nargs="?", default="", help="part of the names of the tests to run")
    arguments = parser.parse_args()
    result = run(arguments.sanitize, arguments.only)
    print(result.stdout, end="")
    return result.returncode


if __name__ == "__main__":
    sys.exit(main())
