"""Translates Cython modules to C++: ``python -m building.run_cython --into FOLDER SOURCE...``.

Cython takes longer to start than for most modules, so it gets several at a time. A target is only
written if its content changes, so that it is not compiled again for nothing, and the dependency
file names the project's own files only: those of packages are elsewhere in each isolated build, and
may be in a folder of the project, as tox has them.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_CIMPORT = re.compile(r"^from (\S+) cimport (\w+)", re.MULTILINE)
OPTIONS = ("-3", "--cplus", "-X", "embedsignature=True", "-X", "binding=True")


def target_of(source: Path, folder: Path) -> Path:
    """Return what a source is translated to: its name is below the folder where it was."""
    return (folder / source).with_suffix(".cpp")


def _modules(names: Iterable[str]) -> list[str]:
    """Find the declarations that files cimport as modules, which Cython does not report."""
    found = dict.fromkeys(names)
    waiting = list(found)
    while waiting:
        for package, name in _CIMPORT.findall(Path(waiting.pop()).read_text(encoding="utf-8")):
            declared = Path(*package.split("."), f"{name}.pxd")
            if declared.is_file() and str(declared) not in found:
                found[str(declared)] = None
                waiting.append(str(declared))
    return list(found)


def _reported(made: Path) -> list[str]:
    """Return the project's own files that Cython reports for a translated module."""
    dependencies = Path(f"{made}.dep").read_text(encoding="utf-8").partition(":")[2]
    # One a line, and spaces in them as they are.
    names = [name.strip() for name in dependencies.split("\\\n")]
    return [name for name in names if name and not {"..", "site-packages"} & set(Path(name).parts)]


def main(sources: list[Path], into: Path) -> int:
    """Translate modules of one folder.

    Beside the first target is a file with the suffix ``.d``, which names what all were made from.
    """
    targets = [target_of(source, into) for source in sources]
    folder = targets[0].parent
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as place:
        command = [sys.executable, "-m", "cython", *OPTIONS, "--depfile", "-o", f"{place}/"]
        done = subprocess.run([*command, *map(str, sources)], check=False)
        if done.returncode != 0:
            return done.returncode
        reported: list[str] = []
        for target in targets:
            made = Path(place, target.name)
            reported += _reported(made)
            if not target.is_file() or target.read_bytes() != made.read_bytes():
                made.replace(target)
    made_from = " ".join(_modules(reported))
    Path(f"{targets[0]}.d").write_text(f"{targets[0]}: {made_from}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m building.run_cython")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("sources", type=Path, nargs="+")
    given = parser.parse_args()
    sys.exit(main(given.sources, given.into))
