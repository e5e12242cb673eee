"""uv takes packages from where pip is told to take them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from urllib import parse

ROOT = Path(__file__).parents[2]


def variables(tmp_path: Path, configuration: str = "", **given: str) -> dict[str, str]:
    """Return the variables for uv after tox has read `toxfile.py`."""
    file = tmp_path / "pip.conf"
    file.write_text(configuration)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PIP_", "UV_")) and name != "SSL_CERT_FILE"
    }
    # A folder of settings for all users cannot be left out: only what is given is compared.
    kept |= {"PIP_CONFIG_FILE": str(file), "XDG_CONFIG_HOME": str(tmp_path), **given}
    program = "import json, os, toxfile; print(json.dumps(dict(os.environ)))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=kept, capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found


def test_settings_of_pip_are_translated(tmp_path: Path) -> None:
    found = variables(
        tmp_path,
        "[global]\nindex-url = https://one.invalid/simple\nfind-links = /first\n    /second\n",
        PIP_EXTRA_INDEX_URL="https://two.invalid/simple file:///three",
        PIP_CERT="/certificates.pem",
        PIP_DEFAULT_TIMEOUT="180",
    )
    assert found["UV_DEFAULT_INDEX"] == "https://one.invalid/simple"
    assert "UV_INDEX" not in found
    assert found["UV_FIND_LINKS"] == "/first,/second"
    assert found["SSL_CERT_FILE"] == "/certificates.pem"
    assert found["UV_HTTP_TIMEOUT"] == "180"
    assert found["UV_CONSTRAINT"] == (ROOT / "constraints.txt").as_uri()


def test_environment_variables_override_files(tmp_path: Path) -> None:
    configuration = "[global]\nindex-url = https://one.invalid/simple\n"
    other = "https://other.invalid/simple"
    for name in ("PIP_INDEX_URL", "UV_DEFAULT_INDEX"):
        assert variables(tmp_path, configuration, **{name: other})["UV_DEFAULT_INDEX"] == other


def test_constraints_are_found_in_folders_with_spaces(tmp_path: Path) -> None:
    folder = tmp_path / "with.dot and späces"
    folder.mkdir()
    for name in ("Makefile", "constraints.txt", "toxfile.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "constraints.txt").write_text("six<2\n")
    command = ["make", "--no-print-directory", f"PYTHON={sys.executable}"]
    show = ["--eval", "show: ; @echo $$PIP_CONSTRAINT", "show"]
    made = subprocess.run([*command, *show], cwd=folder, capture_output=True, text=True, check=True)
    program = "import os, toxfile; print(os.environ['CONSTRAINTS_URL'])"
    environment = {name: value for name, value in os.environ.items() if name[:4] != "UV_C"}
    environment.pop("CONSTRAINTS_URL", None)
    listed = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    for found in (made, listed):
        (url,) = found.stdout.split()
        parsed = parse.urlparse(url)
        assert Path(parse.unquote(parsed.path)) == folder / "constraints.txt"
