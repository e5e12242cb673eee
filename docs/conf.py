"""Settings of the documentation. ``tox -e docs`` builds it into ``build/docs``."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.errors import ExtensionError

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
# For the processes of the notebooks.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(FOLDER.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
)

import dali_core  # noqa: E402
from docs.generator import operators, reference  # noqa: E402
from docs.generator.accessibility import accessible  # noqa: E402

project = "dali_core"
author = "the authors of dali_core"
release = dali_core.__version__

extensions = ["myst_nb"]
# Tutorials are notebooks, and run whenever the documentation is built. Warnings in them are errors.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_output_stderr = "error"
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
exclude_patterns = ["generator", "_build", "operators/examples.md"]
python_maximum_signature_line_length = 88
add_module_names = False

html_theme = "furo"
html_title = f"dali_core {release}"
html_copy_source = False
html_static_path = ["_static"]
html_css_files = ["pictures.css"]


def setup(app: object) -> None:
    """Generate the pages of the operators and of the reference."""
    app.connect("builder-inited", lambda app: _write_pages())  # type: ignore[attr-defined]
    app.connect("build-finished", _finish_pages)  # type: ignore[attr-defined]


def _finish_pages(app: Any, error: Exception | None) -> None:
    """Make pages accessible, and reject those that would load anything from another host."""
    loads = re.compile(r'<(?:script|img|iframe|link)\b[^>]*\b(?:src|href)="(?:https?:)?//[^"]*')
    for page in Path(app.outdir).rglob("*.html") if error is None else ():
        text = page.read_text("utf-8")
        found = loads.search(text)
        if found:
            raise ExtensionError(f"{page}: a page must not need other hosts (got {found[0]}).")
        page.write_text(accessible(text), "utf-8")


def _write_pages() -> None:
    operators.write_pages(FOLDER / "operators")
    reference.write_pages(FOLDER / "reference")
