"""The format of `fn.readers.jsonl`: fields of JSON objects, one object a line."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dali_core import _types as types
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._readers.texts.json_fields import (
    JsonField,
    find_field,
    parse_object,
    shown_names,
)
from dali_core._readers.texts.line_index import TextFiles
from dali_core._readers.texts.lines import LineFetcher, TextLines
from dali_core._readers.texts.text_args import LINES_DOC, MAX_SAMPLE_BYTES, PATHS
from dali_core._spec import UNSET, Arg, Range
from dali_core._storage import STORAGE_ARGS, Storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError

_NUM_LOOKED_AT = 1000
"""Samples in which fields are looked for, to find out what they have."""


class JsonLines(Format):
    """Fields of the objects in files of JSON Lines."""

    name = "readers.jsonl"
    doc = f"""Read fields of JSON objects; a sample is a line with one object (JSON Lines).

Texts are 1-D arrays of uint8, their bytes in UTF-8. Numbers and booleans are scalars. Lists of
numbers are 1-D, and lists of equally long lists have a dimension more. What a field has is decided
by the first sample that has it: integers are int64, other numbers float64, unless `dtypes` says
otherwise. Lists of texts and objects are errors; name a field inside of an object as ``"a.b"``.

Blank lines are left out. A line that is no JSON object or not in UTF-8, in which a field is
missing, null or of another kind, in which a number is not finite or does not fit its type, or which
is longer than `max_sample_bytes` is a bad sample. Errors name file and line.

{LINES_DOC}

Returns
-------
DataNode or list of DataNode
    The fields in the order of `fields`; a list if there are several."""
    args = (
        PATHS,
        Arg(
            "fields",
            list[str],
            'Names of the fields to read; there is an output for each. ``"a.b"`` is the field '
            "``b`` of objects in the field ``a``.",
            length=Range(1, 4096),
        ),
        Arg(
            "dtypes",
            list[types.DALIDataType],
            "Types of the numbers, one for each of `fields` (UINT8 for texts). A number that its "
            "type does not have is an error.",
            UNSET,
        ),
        MAX_SAMPLE_BYTES,
        *STORAGE_ARGS,
    )

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check that there are as many dtypes as fields."""
        fields, dtypes = arguments["fields"], arguments.get("dtypes")
        if dtypes is not None and len(dtypes) != len(fields):
            raise ArgumentValueError(
                f"dtypes must have an entry for each of the {len(fields)} fields (got "
                f"{len(dtypes)}). Pass as many."
            )

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """List the lines, and find out what the fields have."""
        self.check(arguments)
        files = TextFiles(arguments["paths"], storage)
        source = _Objects(files, files.find_lines(skips_blank=True), storage)
        if not len(source):
            raise ArgumentValueError(
                f"paths must be files with at least one JSON object (got {len(files.paths)} "
                "without any). Check them."
            )
        source.fields = _find_fields(source, arguments)
        return source

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of fields."""
        return len(arguments["fields"])

    def fetcher(self, source: DataSource, arguments: Mapping[str, Any]) -> Fetcher:
        """Read lines, and parse them."""
        assert isinstance(source, _Objects)
        return LineFetcher(source, source.parse, arguments["max_sample_bytes"])


class _Objects(TextLines):
    fields: list[JsonField]

    def parse(self, line: bytes) -> tuple[Any, ...]:
        document = parse_object(line)
        return tuple([field.array(document) for field in self.fields])


def _find_fields(source: TextLines, arguments: Mapping[str, Any]) -> list[JsonField]:
    names, dtypes = arguments["fields"], arguments.get("dtypes")
    found: dict[int, JsonField] = {}
    first: dict[str, Any] | None = None
    for document in _first_objects(source, arguments["max_sample_bytes"]):
        first = first or document
        for number, name in enumerate(names):
            if number in found:
                continue
            dtype = None if dtypes is None else np.dtype(types.to_numpy_type(dtypes[number]))
            try:
                field = find_field(document, name, dtype)
            except ValueError as error:
                raise ArgumentTypeError(
                    f"fields must be those of which arrays can be made (got {name!r} in "
                    f"{source.files.paths[0]!r}: {error}). Name another, or a field in it."
                ) from error
            if field is not None:
                found[number] = field
        if len(found) == len(names):
            return [found[number] for number in range(len(names))]
    missing = next(name for number, name in enumerate(names) if number not in found)
    there = "none of which is a JSON object" if first is None else f"there are {shown_names(first)}"
    raise ArgumentValueError(
        f"fields must be those of the objects (got {missing!r}, which none of the first "
        f"{min(len(source), _NUM_LOOKED_AT)} samples has, {there}; the first file is "
        f"{source.files.paths[0]!r}). Change the name."
    )


def _first_objects(source: TextLines, max_bytes: int) -> Iterator[dict[str, Any]]:
    """Return the objects in the first lines, without those that are none."""
    fetcher = LineFetcher(source, lambda line: (parse_object(line),), max_bytes)
    most = min(len(source), _NUM_LOOKED_AT)
    start, count = 0, 1
    while start < most:
        indices = range(start, min(start + count, most))
        try:
            yield from (sample[0] for sample in fetcher.fetch_many(indices))
        except ValueError:
            for index in indices:
                with contextlib.suppress(ValueError):
                    yield fetcher.fetch(index)[0]
        start, count = indices.stop, 4 * count
