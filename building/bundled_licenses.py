"""Puts the licences of bundled libraries into a wheel.

``auditwheel repair`` copies libraries into a wheel, and lists the packages of the system that they
come from in an SBOM (PEP 770). Their licences are where these packages put them. It is called by
``python -m building.bundled_licenses WHEEL``.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import sys
import urllib.parse
import zipfile
from collections.abc import Iterable
from pathlib import Path

# Folders of licences, by the kind of package.
FOLDERS = {
    "deb": ("/usr/share/doc/{name}",),
    "rpm": ("/usr/share/licenses/{name}", "/usr/share/doc/{name}"),
}
PATTERNS = ("copyright*", "COPYING*", "LICEN[CS]E*", "README.ijg")


class LicenseError(Exception):
    """A wheel bundles a library whose licence cannot be found."""


def bundled_packages(wheel: zipfile.ZipFile) -> dict[str, str]:
    """Return the names of the packages of the system that the SBOMs list, and their kinds."""
    found = {}
    for name in wheel.namelist():
        if ".dist-info/sboms/" not in name or not name.endswith(".json"):
            continue
        for component in json.loads(wheel.read(name))["components"]:
            # pkg:deb/debian/libjpeg62-turbo@1%3A2.1.5-2
            kind, _, rest = component.get("purl", "").removeprefix("pkg:").partition("/")
            if kind in FOLDERS:
                package = rest.partition("@")[0].rpartition("/")[2]
                found[urllib.parse.unquote(package)] = kind
    return found


def find_licenses(package: str, kind: str, root: Path = Path("/")) -> list[Path]:
    """Return the files with the licence of a package of the system.

    Raises
    ------
    LicenseError
        If there is none.
    """
    if not re.fullmatch(r"[\w+-][\w.+-]*", package):
        raise LicenseError(f"what an SBOM lists must be the name of a package (got {package!r}).")
    folders = [root / folder.format(name=package).lstrip("/") for folder in FOLDERS[kind]]
    for folder in folders:
        files = {path for pattern in PATTERNS for path in folder.glob(pattern) if path.is_file()}
        if files:
            return sorted(files)
    places = " or ".join(map(str, folders))
    raise LicenseError(
        f"the licence of {package}, which the wheel bundles, must be in {places} (it is not). "
        "Install the package with its documentation."
    )


def add_licenses(path: Path, root: Path = Path("/")) -> list[str]:
    """Add the licences of what a wheel bundles to it, and return the names of the packages.

    Raises
    ------
    LicenseError
        If a licence is not found, or a library belongs to no package. The wheel is left as it was.
    """
    with zipfile.ZipFile(path) as wheel:
        packages = bundled_packages(wheel)
        libraries = [name for name in wheel.namelist() if is_bundled(name)]
        if libraries and not packages:
            raise LicenseError(
                f"{path}: an SBOM must list the packages of the bundled libraries (got none for "
                f"{', '.join(libraries)}). Repair the wheel with auditwheel 6.5 or newer."
            )
        (record,) = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        folder = record.removesuffix("RECORD")
        licenses = {
            f"{package}/{file.name}": file.read_bytes()
            for package, kind in sorted(packages.items())
            for file in find_licenses(package, kind, root)
        }
        changed = {f"{folder}licenses/{name}": text for name, text in licenses.items()}
        changed[f"{folder}METADATA"] = with_license_files(wheel.read(f"{folder}METADATA"), licenses)
        lines = wheel.read(record).decode().splitlines()
        kept = [line for line in lines if line.rsplit(",", 2)[0] not in changed]
        added = [f"{name},{digest(content)},{len(content)}" for name, content in changed.items()]
        changed[record] = "\n".join([*kept, *added, ""]).encode()
        made = path.with_suffix(".part")
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
            for member in wheel.infolist():
                if member.filename not in changed:
                    target.writestr(member, wheel.read(member), zipfile.ZIP_DEFLATED)
            for name, content in changed.items():
                target.writestr(name, content)
    made.replace(path)
    return sorted(packages)


def is_bundled(name: str) -> bool:
    """Return whether a file of a wheel is a library that was copied into it."""
    return ".libs/" in name and ".so" in name


def with_license_files(metadata: bytes, names: Iterable[str]) -> bytes:
    """Return metadata that names further files with licences."""
    head, separator, description = metadata.partition(b"\n\n")
    lines = head.split(b"\n")
    wanted = [f"License-File: {name}".encode() for name in names]
    lines += [line for line in wanted if line not in lines]
    return b"\n".join(lines) + separator + description


def digest(content: bytes) -> str:
    """Return the checksum of a file, as the list of a wheel's files has it."""
    value = base64.urlsafe_b64encode(hashlib.sha256(content).digest())
    return f"sha256={value.decode().rstrip('=')}"


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        try:
            found = add_licenses(Path(argument))
        except LicenseError as error:
            raise SystemExit(f"{argument}: {error}") from None
        print(f"{argument} has the licences of: {', '.join(found) or 'no other libraries'}")
