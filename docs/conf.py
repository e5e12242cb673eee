"""Settings of the documentation. ``tox -e docs`` builds it into ``build/docs``."""

from __future__ import annotations

import sys
from pathlib import Path

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))

import dali_core  # noqa: E402
from docs.generator.operators import write_pages  # noqa: E402

project = "dali_core"
author = "the authors of dali_core"
release = dali_core.__version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["generator", "_build"]
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = f"dali_core {release}"
html_copy_source = False


def setup(app: object) -> None:
    """Generate the pages of the operators from their descriptions."""
    app.connect("builder-inited", lambda app: write_pages(FOLDER / "operators"))  # type: ignore[attr-defined]
