"""Checks what a release uploads: ``python -m building.release_check dist``, in a checkout.

The versions agree, `CHANGELOG.md` has the version with a date, the sdist builds, the wheels are
complete, small and described well, and the one for this Python trains without a compiler.
"""

from __future__ import annotations

import argparse
import ast
import collections
import hashlib
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

from building.bundled_licenses import bundled_packages, is_bundled

ROOT = Path(__file__).parents[1]
MAX_WHEEL_BYTES = 15 << 20
# Smaller files, such as markers of packages and licences, may be equal.
MIN_EQUAL_BYTES = 1024
# The short form of `make demo`.
PROGRAMS = (
    ("examples.photos", "--classes", "dunes", "marbles", "--per-class", "25", "photos"),
    ("examples.train_classifier", "--epochs", "1", "--data", "photos"),
)
TRAINING_SECONDS = 600


class ReleaseError(Exception):
    """Something of a release is wrong."""


def read_version(root: Path) -> str:
    """Return the version of the sources.

    Raises
    ------
    ReleaseError
        If two places say different versions, or the tag that is built says another.
    """
    project = (root / "pyproject.toml").read_text(encoding="utf-8")
    package = (root / "dali_core" / "__init__.py").read_text(encoding="utf-8")
    said = {
        "pyproject.toml": _find(r'^version = ("[^"]+")$', project),
        "dali_core/__init__.py": _find(r'^__version__ = ("[^"]+")$', package),
    }
    if os.environ.get("GITHUB_REF_TYPE") == "tag":
        said["the tag"] = os.environ["GITHUB_REF_NAME"].removeprefix("v")
    if len(set(said.values())) > 1:
        raise ReleaseError(f"all must say the same version (got {said}). Set it in all of them.")
    return said["pyproject.toml"]


def _find(pattern: str, text: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return str(ast.literal_eval(found[1])) if found else "none"


def check_changelog(root: Path, version: str) -> None:
    """Check that the newest section is that of the version, with its date.

    Raises
    ------
    ReleaseError
        If it is not.
    """
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = next((line for line in text.splitlines() if line.startswith("## ")), "none")
    if not re.fullmatch(rf"## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)", heading):
        raise ReleaseError(
            f"CHANGELOG.md must begin with a section '## {version} (YYYY-MM-DD)' (got {heading!r})."
        )


def check_sdist(path: Path, version: str) -> None:
    """Check that an sdist is one of the version, and complete.

    Raises
    ------
    ReleaseError
        If it is not.
    """
    folder = f"dali_core-{version}"
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
    needed = ("PKG-INFO", "LICENSE", "pyproject.toml", "building/backend.py", "dali_core/py.typed")
    missing = [name for name in needed if f"{folder}/{name}" not in names]
    if path.name != f"{folder}.tar.gz" or missing:
        raise ReleaseError(f"{path}: an sdist of {version} must have {needed} (lacks {missing}).")


def check_wheel(path: Path, version: str) -> None:
    """Check the contents and the size of a wheel.

    Raises
    ------
    ReleaseError
        If something is missing, there twice or too large.
    """
    size = path.stat().st_size
    if size > MAX_WHEEL_BYTES:
        raise ReleaseError(f"{path}: a wheel must have at most {MAX_WHEEL_BYTES} B (got {size} B).")
    with zipfile.ZipFile(path) as wheel:
        if (damaged := wheel.testzip()) is not None:
            raise ReleaseError(f"{path}: {damaged} must be readable (it is damaged).")
        names = set(wheel.namelist())
        folder = f"dali_core-{version}.dist-info"
        packages = [
            name for name in names if name.endswith("/__init__.py") and name.count("/") == 1
        ]
        needed = [f"{package.partition('/')[0]}/py.typed" for package in sorted(packages)]
        needed += [f"{folder}/{name}" for name in ("METADATA", "licenses/LICENSE")]
        bundled = bundled_packages(wheel)
        licenses = {
            package
            for package in bundled
            if any(name.startswith(f"{folder}/licenses/{package}/") for name in names)
        }
        if any(map(is_bundled, names)):
            needed.append(f"{folder}/sboms/auditwheel.cdx.json")
        missing = [name for name in needed if name not in names]
        missing += [f"the licence of {package}" for package in sorted(set(bundled) - licenses)]
        if missing:
            raise ReleaseError(f"{path}: a wheel of {version} must have {', '.join(missing)}.")
        _check_equal_files(path, wheel)


def _check_equal_files(path: Path, wheel: zipfile.ZipFile) -> None:
    """Check that no native or device code is in a wheel twice."""
    same = collections.defaultdict(list)
    for member in wheel.infolist():
        is_code = ".so" in member.filename or "/cubins/" in member.filename
        if is_code and member.file_size >= MIN_EQUAL_BYTES:
            same[hashlib.sha256(wheel.read(member)).digest()].append(member.filename)
    twice = [names for names in same.values() if len(names) > 1]
    if twice:
        raise ReleaseError(f"{path}: code must not be there twice (got {twice}).")


def check_metadata(files: list[Path]) -> None:
    """Check that an index would take files, and show their descriptions.

    Raises
    ------
    ReleaseError
        If it would not.
    """
    _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, files)])


def check_training(wheel: Path) -> None:
    """Install a wheel in an environment of its own, and train without a compiler.

    Raises
    ------
    ReleaseError
        If that fails.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "environment", with_pip=False)
        python = folder / "environment" / "bin" / "python"
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
        constraints = str(ROOT / "constraints.txt")
        # Wheels only: nothing is compiled.
        _run([*pip, "--only-binary", ":all:", "-c", constraints, f"{wheel.resolve()}[demo]"])
        (folder / "examples").symlink_to(ROOT / "examples")
        variables = {"PATH": "", "MPLCONFIGDIR": name, "PYTHONDONTWRITEBYTECODE": "1"}
        for program in PROGRAMS:
            printed = _run([str(python), "-m", *program], folder, variables)
        if "accuracy: " not in printed:
            raise ReleaseError(f"{wheel}: the demo must print an accuracy (got {printed!r}).")


def _run(command: list[str], folder: Path = ROOT, variables: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
        timeout=TRAINING_SECONDS,
    )
    if done.returncode != 0:
        raise ReleaseError(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def runs_here(wheel: Path) -> bool:
    """Return whether a wheel is for this version of Python and this processor."""
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    _, _, tag, _, platforms = wheel.stem.split("-")
    machine = sysconfig.get_platform().rpartition("-")[2].replace("-", "_")
    return tag == version and platforms.endswith(machine)


def main() -> None:
    """Check a folder of distributions, and end with status 1 if something is wrong."""
    parser = argparse.ArgumentParser(prog="release_check", description=__doc__)
    parser.add_argument("folder", type=Path, help="has the sdist and the wheels")
    folder = parser.parse_args().folder
    wheels, sdists = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    here = [wheel for wheel in wheels if runs_here(wheel)]
    try:
        if not here or len(sdists) != 1:
            raise ReleaseError(
                f"{folder} must have one sdist, and a wheel for this Python (got "
                f"{[path.name for path in (*sdists, *wheels)]}). Run `make wheel` and `make sdist`."
            )
        version = read_version(ROOT)
        steps: list[tuple[str, Callable[[], None]]] = [
            ("CHANGELOG.md", lambda: check_changelog(ROOT, version)),
            (sdists[0].name, lambda: check_sdist(sdists[0], version)),
            *((wheel.name, lambda wheel=wheel: check_wheel(wheel, version)) for wheel in wheels),
            ("metadata", lambda: check_metadata([*sdists, *wheels])),
            *(
                (f"training with {wheel.name}", lambda wheel=wheel: check_training(wheel))
                for wheel in here
            ),
        ]
        failures = 0
        for name, check in steps:
            try:
                check()
                print(f"right: {name}", flush=True)
            except ReleaseError as error:
                failures += 1
                print(f"WRONG: {name}: {error}", flush=True)
    except ReleaseError as error:
        raise SystemExit(f"WRONG: {error}") from None
    if failures:
        raise SystemExit(f"{failures} of {len(steps)} checks of {version} failed.")
    print(f"{version} can be released.")


if __name__ == "__main__":
    main()
