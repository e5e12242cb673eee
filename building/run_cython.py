"""Translates a Cython module to C++: ``python -m building.run_cython SOURCE TARGET``.

The target is only written if its content changes, so that it is not compiled again for nothing,
and the dependency file names the project's own files only: those of packages are elsewhere in
each isolated build, and may be in a folder of the project, as tox has them.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

_CIMPORT = re.compile(r"^from (\S+) cimport (\w+)", re.MULTILINE)
OPTIONS = ("-3", "--cplus", "-X", "embedsignature=True", "-X", "binding=True")


def _modules(names: list[str]) -> list[str]:
    """Find the declarations that files cimport as modules, which Cython does not report."""
    found = dict.fromkeys(names)
    waiting = list(names)
    while waiting:
        for package, name in _CIMPORT.findall(Path(waiting.pop()).read_text(encoding="utf-8")):
            declared = Path(*package.split("."), f"{name}.pxd")
            if declared.is_file() and str(declared) not in found:
                found[str(declared)] = None
                waiting.append(str(declared))
    return list(found)


def main(source: Path, target: Path) -> int:
    """Translate `source`; write `target` and, with the suffix ``.d``, what it was made from."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        made = Path(folder, target.name)
        command = [sys.executable, "-m", "cython", *OPTIONS, "--depfile", str(source)]
        done = subprocess.run([*command, "-o", str(made)], check=False)
        if done.returncode != 0:
            return done.returncode
        dependencies = Path(f"{made}.dep").read_text(encoding="utf-8").partition(":")[2]
        names = dependencies.replace("\\\n", " ").split()
        own = [name for name in names if not {"..", "site-packages"} & set(Path(name).parts)]
        if not target.is_file() or target.read_bytes() != made.read_bytes():
            made.replace(target)
    Path(f"{target}.d").write_text(f"{target}: {' '.join(_modules(own))}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
