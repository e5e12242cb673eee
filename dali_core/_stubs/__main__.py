"""The command ``python -m dali_core._stubs``."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from dali_core._stubs.packages import package_stubs
from dali_core._stubs.text import HEADER
from dali_core._stubs.tree import all_stubs


def main(arguments: list[str] | None = None) -> int:
    """Write the stubs, or with ``--check`` list those that differ. Return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m dali_core._stubs", description="Write the type stubs into the source tree."
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a stub is not up to date"
    )
    parser.add_argument(
        "--root", type=Path, default=Path(), metavar="FOLDER", help="the source tree; default: here"
    )
    parser.add_argument(
        "--package", metavar="MODULE", help="write the stub of operators of another package instead"
    )
    options = parser.parse_args(arguments)
    if options.package:
        for path, text in package_stubs(options.package).items():
            path.write_text(text, "utf-8")
            print(f"changed: {path}")
        return 0
    package = options.root / "dali_core"
    if not list(package.glob("_runtime/*.pyx")):
        parser.error(f"--root must be the source tree of dali_core (got {str(options.root)!r}).")
    stubs = all_stubs(package)
    old = {path for path in package.rglob("*.pyi") if path.read_text("utf-8").startswith(HEADER)}
    superfluous = sorted(old - set(stubs))
    differing = [
        path for path, text in stubs.items() if not path.exists() or path.read_text("utf-8") != text
    ]
    for path in (*differing, *superfluous):
        print(
            ("outdated: " if options.check else "changed: ") + str(path.relative_to(options.root))
        )
    if options.check:
        return 1 if differing or superfluous else 0
    for path in differing:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(stubs[path], "utf-8")
    for path in superfluous:
        path.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main())
