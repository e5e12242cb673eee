from __future__ import annotations

from pathlib import Path

import pytest

from tests.folders import make_folders


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    make_folders(root)
    return root
