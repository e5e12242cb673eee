"""Prints ``PATH`` with the folders of further versions of Python, which it fetches from Debian.

``export PATH="$(python -m tests.interpreters 3.14 3.15)"`` leaves out those that are there.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from tests.interpreters.debian_python import NotAvailableError, find_or_fetch


def is_installed(version: str) -> bool:
    """Return whether the machine has a version of Python, and not a mere placeholder of pyenv."""
    python = shutil.which(f"python{version}")
    if python is None:
        return False
    return subprocess.run([python, "-V"], capture_output=True, check=False).returncode == 0


def main(versions: list[str]) -> None:
    """Print the folders, and to the error output what is not available."""
    folders = [os.environ.get("PATH", os.defpath)]
    for version in versions:
        if is_installed(version):
            continue
        try:
            folders.append(str(find_or_fetch(version).parent))
        except (NotAvailableError, OSError) as error:
            print(f"not available: Python {version} of Debian: {error}", file=sys.stderr)
    print(os.pathsep.join(folders))


if __name__ == "__main__":
    main(sys.argv[1:])
