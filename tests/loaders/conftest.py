"""Folders that the tests of loaders read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.folders import make_folders


@pytest.fixture(scope="module")
def numbered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_folders(folder, (12, 12))
    return folder
