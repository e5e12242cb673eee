"""Images whose labels are in a table."""

from __future__ import annotations

import keyword
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from dali_core.loaders.recipes.image_folder import NAME, decoded, normalized
from dali_core.loaders.recipes.program import call, literal, options
from dali_core.loaders.recipes.settings import Settings
from dali_core.loaders.recipes.tables import Table


def program(
    settings: Settings,
    table: Any,
    found: Table,
    root: Any,
    path: str,
    size: list[int],
    mean: Sequence[float],
    std: Sequence[float],
) -> str:
    """Return the program of a loader for the images of a table.

    `found` is the table as it is now: types of columns are taken from it.
    """
    columns = found.columns
    before = call(
        "TABLE = read_table",
        [
            literal(table, "table"),
            ("path", literal(path, "path")),
            ("columns", literal(columns, "columns")),
        ],
        depth=0,
    )
    is_class = len(columns) == 1 and found.rows.dtype == np.int32
    names = ["labels"] if len(columns) == 1 else variable_names(columns)
    files = [
        ("files", "TABLE.paths"),
        ("file_root", literal(root, "root")),
        ("labels", "TABLE.rows"),
        *options(settings.reader),
        NAME,
    ]
    if len(columns) == 1 and columns[0] in found.classes:
        files.insert(3, ("class_names", f"TABLE.classes[{literal(columns[0], 'columns')}]"))
    steps = [
        call(f"files, {'labels' if len(columns) == 1 else 'rows'} = fn.readers.file", files),
        *decoded(settings, size),
        normalized(settings, "images", mean, std, None if settings.train else size),
    ]
    if len(columns) == 1 and not is_class:
        steps.append("    labels = labels[0]")
    for number, name in enumerate(names if len(columns) > 1 else ()):
        steps.append(
            f"    {name} = fn.cast(rows[{number}], dtype=types.INT64)"
            if found.is_integer[number]
            else f"    {name} = rows[{number}]"
        )
    title = f"Images of a table, for {'training' if settings.train else 'validation'}."
    return settings.text(title, steps, ["images", *names], before=before, helpers=["read_table"])


def variable_names(columns: Sequence[str]) -> list[str]:
    """Return a name of a variable for each column, like the column's where that is possible."""
    names: list[str] = []
    for number, column in enumerate(columns):
        name = re.sub(r"\W", "_", column, flags=re.ASCII).lower().strip("_")
        if not name.isidentifier() or name in _TAKEN or name in names:
            name = f"column_{number}"
        names.append(name)
    return names


_TAKEN = frozenset(
    (
        "images",
        "files",
        "rows",
        "fn",
        "types",
        "define",
        "print",
        "batch",
        "table",
        "labels",
        "file_names",
    )
) | frozenset(keyword.kwlist)
"""Names that the program uses otherwise."""
