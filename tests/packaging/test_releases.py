"""Checks of a release, and the licences of what wheels bundle, on small generated files."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import re
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from building import bundled_licenses, release_check
from building.bundled_licenses import LicenseError, add_licenses
from building.release_check import ReleaseError

FOLDER = "dali_core-1.2.3.dist-info"
METADATA = (
    b"Metadata-Version: 2.4\nName: dali_core\nLicense-File: LICENSE\n\nWhat it is.\n\nMore.\n"
)
LIBRARY = "dali_core.libs/libjpeg-1.so.62"


def sbom(*packages: str) -> bytes:
    return json.dumps({"components": [{"purl": purl} for purl in packages]}).encode()


def make_wheel(path: Path, **changes: bytes | None) -> Path:
    """Write a wheel, with some of its files changed or left out."""
    files: dict[str, bytes | None] = {
        "dali_core/__init__.py": b"",
        "dali_core/py.typed": b"",
        "dali_core_jax/__init__.py": b"",
        "dali_core_jax/py.typed": b"",
        "dali_core/_cuda/cubins/copy.sm_80.gz": bytes(2000),
        f"{FOLDER}/METADATA": METADATA,
        f"{FOLDER}/licenses/LICENSE": b"Apache",
        f"{FOLDER}/sboms/auditwheel.cdx.json": sbom(
            "pkg:pypi/dali_core@1.2.3", "pkg:deb/debian/libjpeg62-turbo@1%3A2.1.5-2"
        ),
        LIBRARY: b"library",
        f"{FOLDER}/RECORD": f"{FOLDER}/METADATA,sha256=old,1\n{FOLDER}/RECORD,,\n".encode(),
        **changes,
    }
    with zipfile.ZipFile(path, "w") as wheel:
        for name, content in files.items():
            if content is not None:
                wheel.writestr(name, content)
    return path


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a folder with the licences of a system."""
    folder = tmp_path / "root" / "usr" / "share" / "doc" / "libjpeg62-turbo"
    folder.mkdir(parents=True)
    (folder / "copyright").write_bytes(b"BSD and IJG")
    (folder / "changelog.gz").write_bytes(b"no licence")
    return tmp_path / "root"


def test_licenses_of_bundled_libraries_are_added(root: Path, tmp_path: Path) -> None:
    path = make_wheel(tmp_path / "a.whl")
    for _ in range(2):  # the second time changes nothing
        assert add_licenses(path, root) == ["libjpeg62-turbo"]
    with zipfile.ZipFile(path) as wheel:
        assert len(wheel.namelist()) == len(set(wheel.namelist())) == 11
        added = f"{FOLDER}/licenses/libjpeg62-turbo/copyright"
        assert wheel.read(added) == b"BSD and IJG"
        assert wheel.read(LIBRARY) == b"library"
        metadata = wheel.read(f"{FOLDER}/METADATA")
        rows = list(csv.reader(io.StringIO(wheel.read(f"{FOLDER}/RECORD").decode())))
    assert metadata == METADATA.replace(
        b"LICENSE\n", b"LICENSE\nLicense-File: libjpeg62-turbo/copyright\n"
    )
    assert [row[0] for row in rows] == [f"{FOLDER}/RECORD", added, f"{FOLDER}/METADATA"]
    for name, checksum, size in rows[1:]:
        content = {added: b"BSD and IJG", f"{FOLDER}/METADATA": metadata}[name]
        value = base64.urlsafe_b64decode(checksum.removeprefix("sha256=") + "=")
        assert value == hashlib.sha256(content).digest()
        assert int(size) == len(content)


def test_licenses_that_are_not_found(root: Path, tmp_path: Path) -> None:
    (root / "usr/share/doc/libjpeg62-turbo/copyright").unlink()
    path = make_wheel(tmp_path / "a.whl")
    before = path.read_bytes()
    with pytest.raises(LicenseError, match=r"the licence of libjpeg62-turbo, .* must be in"):
        add_licenses(path, root)
    assert path.read_bytes() == before
    listed = {f"{FOLDER}/sboms/auditwheel.cdx.json": None}
    with pytest.raises(LicenseError, match=r"libjpeg-1\.so\.62.*auditwheel"):
        add_licenses(make_wheel(tmp_path / "b.whl", **listed), root)


def test_license_of_a_package_of_fedora(tmp_path: Path) -> None:
    folder = tmp_path / "usr" / "share" / "licenses" / "libjpeg-turbo"
    folder.mkdir(parents=True)
    (folder / "LICENSE.md").touch()
    found = bundled_licenses.find_licenses("libjpeg-turbo", "rpm", tmp_path)
    assert found == [folder / "LICENSE.md"]


def test_names_of_packages_do_not_leave_their_folder(root: Path, tmp_path: Path) -> None:
    listed = {f"{FOLDER}/sboms/auditwheel.cdx.json": sbom("pkg:deb/debian/..%2F..%2Fetc@1")}
    with pytest.raises(LicenseError, match="must be the name of a package"):
        add_licenses(make_wheel(tmp_path / "a.whl", **listed), root)


def complete_wheel(tmp_path: Path, root: Path, **changes: bytes | None) -> Path:
    path = make_wheel(tmp_path / "dali_core-1.2.3-cp311-cp311-any.whl", **changes)
    add_licenses(path, root)
    return path


def test_complete_wheel(root: Path, tmp_path: Path) -> None:
    release_check.check_wheel(complete_wheel(tmp_path, root), "1.2.3")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dali_core_jax/py.typed": None}, r"must have dali_core_jax/py\.typed"),
        ({f"{FOLDER}/licenses/LICENSE": None}, "licenses/LICENSE"),
        ({"dali_core/_cuda/cubins/again.sm_80.gz": bytes(2000)}, "twice.*copy.sm_80.*again.sm_80"),
    ],
)
def test_wheels_that_lack_something(
    changes: dict[str, bytes | None], message: str, root: Path, tmp_path: Path
) -> None:
    path = complete_wheel(tmp_path, root, **changes)
    with pytest.raises(ReleaseError, match=message):
        release_check.check_wheel(path, "1.2.3")


def test_wheels_without_licenses_of_other_versions_and_large_ones(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_wheel(tmp_path / "dali_core-1.2.3-cp311-cp311-any.whl")
    with pytest.raises(ReleaseError, match="the licence of libjpeg62-turbo"):
        release_check.check_wheel(path, "1.2.3")
    with pytest.raises(ReleaseError, match=r"a wheel of 1\.2\.4 must have"):
        release_check.check_wheel(path, "1.2.4")
    monkeypatch.setattr(release_check, "MAX_WHEEL_BYTES", 1000)
    with pytest.raises(ReleaseError, match="at most 1000 B"):
        release_check.check_wheel(path, "1.2.3")


def make_checkout(folder: Path, package: str, heading: str) -> Path:
    (folder / "dali_core").mkdir(parents=True)
    (folder / "pyproject.toml").write_text('[project]\nversion = "1.2.3"\n', encoding="utf-8")
    (folder / "dali_core" / "__init__.py").write_text(f'__version__ = "{package}"\n')
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n## {heading}\n\n## 1.2.2 (2026-01-01)\n")
    return folder


def test_versions_agree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REF_TYPE", raising=False)
    right = make_checkout(tmp_path / "right", "1.2.3", "1.2.3 (2026-02-03)")
    assert release_check.read_version(right) == "1.2.3"
    release_check.check_changelog(right, "1.2.3")
    wrong = make_checkout(tmp_path / "wrong", "1.2.4", "1.2.3 (unreleased)")
    with pytest.raises(ReleaseError, match=r"same version .*1\.2\.3.*1\.2\.4"):
        release_check.read_version(wrong)
    with pytest.raises(ReleaseError, match=r"'## 1\.2\.3 \(YYYY-MM-DD\)' \(got .*unreleased"):
        release_check.check_changelog(wrong, "1.2.3")
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.3.0")
    with pytest.raises(ReleaseError, match=r"the tag.*1\.3\.0"):
        release_check.read_version(right)


def test_versions_of_this_checkout_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_REF_TYPE", raising=False)
    assert release_check.read_version(release_check.ROOT).count(".") == 2


def test_sdists(tmp_path: Path) -> None:
    path = tmp_path / "dali_core-1.2.3.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        archive.addfile(tarfile.TarInfo("dali_core-1.2.3/PKG-INFO"))
    with pytest.raises(ReleaseError, match=r"lacks \['LICENSE', 'pyproject\.toml'"):
        release_check.check_sdist(path, "1.2.3")


def test_empty_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["release_check", str(tmp_path)])
    with pytest.raises(SystemExit, match="must have one sdist, and a wheel for this Python"):
        release_check.main()
    assert capsys.readouterr().out == ""


def test_oldest_versions_are_the_lower_bounds() -> None:
    text = (release_check.ROOT / "pyproject.toml").read_text(encoding="utf-8")
    lines = (release_check.ROOT / "constraints_oldest.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert set(pins) >= {"numpy", "av", "pyarrow", "cuda-bindings", "obstore"}
    for name, version in pins.items():
        # The demo runs with an older PyAV, too.
        bounds = {bound for bound in re.findall(rf'"{name}>=([\d.]+)', text) if name != "av"}
        bounds |= set(re.findall(r'video = \["av>=([\d.]+)', text)) if name == "av" else set()
        assert {version.removesuffix(".0").removesuffix(".0")} == {
            bound.removesuffix(".0") for bound in bounds
        }, name
