"""Settings of pip hold for uv, too: it makes the environments of tox, and does not read them.

tox runs this file first. Variables that are set already are kept.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent
# Other indices are left out: of those that have a version, uv takes the files of one only, which
# may lack the file for this platform. The packages of the tests need no other index.
VARIABLES = {
    "index-url": "UV_DEFAULT_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "retries": "UV_HTTP_RETRIES",
}
# From the weakest to the strongest.
SECTIONS = ("global", "install", ":env:")


def translated(listing: str) -> dict[str, str]:
    """Translate what ``pip config list`` prints to variables of uv."""
    found: dict[str, dict[str, str]] = {section: {} for section in SECTIONS}
    for line in listing.splitlines():
        name, is_setting, value = line.partition("=")
        section, _, option = name.partition(".")
        if is_setting and section in found and option in VARIABLES:
            values = str(ast.literal_eval(value)).split()
            separator = "," if option == "find-links" else " "
            found[section][VARIABLES[option]] = separator.join(values)
    return {name: value for section in SECTIONS for name, value in found[section].items()}


def settings() -> dict[str, str]:
    """Return variables of uv."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    listed = subprocess.run(command, capture_output=True, text=True, check=False)
    # Spaces in a path would end it: both take lists.
    constraints = (ROOT / "constraints.txt").as_uri()
    return {
        **(translated(listed.stdout) if listed.returncode == 0 else {}),
        "UV_CONSTRAINT": constraints,
        # For tox.ini.
        "CONSTRAINTS_URL": constraints,
        "OLDEST_CONSTRAINTS_URL": (ROOT / "constraints_oldest.txt").as_uri(),
        # On the disk of the environments, which share its files.
        "UV_CACHE_DIR": str(ROOT / ".tox" / "uv"),
    }


for _name, _value in settings().items():
    os.environ.setdefault(_name, _value)
