"""Commands that install optional dependencies."""

from __future__ import annotations

import re
from importlib import metadata
from pathlib import Path

import pytest

from dali_core._extras import install_command

_SOURCES = Path(__file__).parents[1] / "dali_core"


class _Installed:
    """A distribution with some text in ``direct_url.json``, or without that file."""

    def __init__(self, origin: str | None) -> None:
        self._origin = origin

    def read_text(self, name: str) -> str | None:
        return self._origin if name == "direct_url.json" else None


@pytest.mark.parametrize(
    ("origin", "target"),
    [
        ('{"url": "file:///home/me/dali-core", "dir_info": {"editable": true}}', "."),
        ('{"url": "file:///tmp/dali_core.whl", "archive_info": {}}', "dali_core"),
        (None, "dali_core"),
    ],
)
def test_command_by_origin(
    origin: str | None, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metadata, "distribution", lambda name: _Installed(origin))
    assert install_command("audio") == f'pip install "{target}[audio]"'
    assert install_command("audio", "other") == 'pip install "other[audio]"'


def test_command_of_sources_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", missing)
    assert install_command("video") == 'pip install ".[video]"'


def test_no_other_source_names_an_extra() -> None:
    sources = [path for path in _SOURCES.rglob("*") if path.suffix in (".py", ".pyx", ".cpp")]
    naming = [path.name for path in sources if re.search(r"dali_core\[[a-z]", path.read_text())]
    assert len(sources) > 100
    assert naming == []
