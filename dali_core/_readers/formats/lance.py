"""The format of `fn.readers.lance`: rows of one version of a Lance data set."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dali_core._extras import install_command
from dali_core._readers.fingerprints import fingerprint_of
from dali_core._readers.protocol import DataSource, FetchedSource
from dali_core._readers.python_reader import Format
from dali_core._spec import Arg, Range
from dali_core._storage import Storage, is_url
from dali_core.arrow import ArrowSource, Field, find_field, find_length_field, read_lengths
from dali_core.errors import ArgumentTypeError, ArgumentValueError, MissingModuleError

T = TypeVar("T")

_SCHEMES = ("s3", "gs", "az", "abfss", "oss", "file")
_PLACE_IN_RUST = re.compile(r",? \S*\.rs:\d+(?::\d+)?")
_used_in: list[int] = []
"""The process that has begun to use pylance; its threads do not survive a fork."""


class Lance(Format):
    """Rows of a version of a Lance data set, read by pylance."""

    name = "readers.lance"
    doc = """Read columns of a Lance data set; a sample is a row of one version of it.

The rows of a batch are read by pylance (the extra is `lance`) in one request. Numbers and booleans
are scalars, lists of fixed sizes have their shape, and binary values, strings, images and blobs are
1-D arrays of uint8. Columns of bfloat16 are refused.

Without `version`, the newest one is read, as it is when the pipeline is built. States have the
version: those of another one are refused, since deleted and changed rows move the others. Deleted
rows are no samples. A null is a bad sample.

pylance has threads, so processes must be spawned, not forked: `py_start_method="spawn"`.

Returns
-------
DataNode or list of DataNode
    The columns in the order of `columns`; a list if there are several."""
    args = (
        Arg(
            "uri",
            str,
            "Folder of the data set, or its URL: ``s3://``, ``gs://``, ``az://``, ``abfss://`` or "
            "``oss://``, which pylance reads.",
        ),
        Arg(
            "columns",
            list[str],
            'Names of the columns to read; there is an output for each. ``"a.b"`` is the field '
            "``b`` of structs in the column ``a``.",
            length=Range(1, 4096),
        ),
        Arg(
            "lengths",
            list[str],
            "Names of the columns that give the length of each row, for batches by tokens: "
            "integers, or lists, binary values and strings, whose numbers of entries and bytes "
            "count. Several columns give several kinds of lengths. They are read once, when a "
            "plan needs them, and need not be among `columns`.",
            None,
            length=Range(1, 16),
        ),
        Arg(
            "version",
            int,
            "Number of the version; the newest one by default.",
            None,
            range=Range(1),
        ),
        Arg(
            "filter",
            str,
            "Condition in SQL of the rows to read, such as ``\"split = 'train'\"``. It is applied "
            "once, when the pipeline is built.",
            None,
        ),
        Arg(
            "store_options",
            object,
            "A dict of texts that pylance takes for the storage of `uri`, such as ``region``.",
            None,
        ),
    )

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Check that pylance is installed."""
        import_lance()

    def open(self, arguments: Mapping[str, Any], storage: Storage) -> DataSource:
        """Open the version, and find the rows of the filter."""
        return Rows(
            _checked_uri(arguments["uri"]),
            arguments["columns"],
            arguments.get("version"),
            arguments.get("filter"),
            _checked_options(arguments.get("store_options")),
            arguments.get("lengths") or (),
        )

    def num_outputs(self, arguments: Mapping[str, Any]) -> int:
        """Return the number of columns."""
        return len(arguments["columns"])


class Rows(FetchedSource):
    """The rows of a version.

    Parameters
    ----------
    uri : str
        Folder or URL.
    columns : sequence of str
        Which columns.
    version : int or None
        Which version; None for the newest.
    condition : str or None
        The filter.
    options : dict or None
        Of the storage.
    lengths : sequence of str
        The columns that give lengths.
    """

    def __init__(
        self,
        uri: str,
        columns: Sequence[str],
        version: int | None,
        condition: str | None,
        options: dict[str, str] | None,
        lengths: Sequence[str] = (),
    ) -> None:
        self._where = repr(uri)
        lance = import_lance()
        try:
            opened = _without_panic(lambda: _opened(lance, uri, version, options))
            self._data, self._version, num_rows, schema = opened
        except Exception as error:
            which, removed = "", ""
            if version is not None:
                which = f" with version {version}"
                removed = ", also whether cleaning up has removed the version"
            raise ArgumentValueError(
                f"uri must be a Lance data set{which} (got {uri!r}: {said(error)}). Check "
                f"it{removed}."
            ) from error
        self._where += f", version {self._version}"
        self._columns = list(columns)
        self._blobs = {name for name in columns if _is_blob(schema, name)}
        plain = _plain_schema(schema)
        self._has_extensions = plain.types != schema.types
        self._fields = {
            name: find_field(plain, name, self._where)
            for name in columns
            if name not in self._blobs
        }
        if blobs := [name for name in lengths if _is_blob(schema, name)]:
            raise ArgumentTypeError(
                f"lengths must be columns without blobs, which would all be read (got {blobs[0]!r} "
                f"in {self._where}). Keep their sizes in a column of integers."
            )
        self._length_fields = [find_length_field(plain, name, self._where) for name in lengths]
        self._tops = list(dict.fromkeys(field.path[0] for field in self._fields.values()))
        self._positions: NDArray[np.int64] | None = None
        self._num_rows = num_rows
        if condition is not None:
            self._positions = self._filtered(condition)
            self._num_rows = len(self._positions)
        if not self._num_rows:
            raise ArgumentValueError(
                f"uri must have at least one row that is read (got {self._where} without any). "
                "Check it, and the filter."
            )
        kinds = [(name, str(plain.field(name).type)) for name in plain.names]
        found = fingerprint_of(kinds, num_rows, self._num_rows, condition)
        self._fingerprint = f"version {self._version}, {found}"

    def __len__(self) -> int:
        return self._num_rows

    @property
    def fingerprint(self) -> str:
        """The version, and a hash of schema, filter and number of rows."""
        return self._fingerprint

    @cached_property
    def lengths(self) -> NDArray[np.int64] | None:
        """The lengths in the columns that have them, which are read for that; None without.

        Raises
        ------
        ArgumentValueError
            If they cannot be read, or a row has none.
        """
        fields = self._length_fields
        if not fields:
            return None
        import_lance()
        try:
            parts = _without_panic(lambda: self._length_parts(fields))
        except ArgumentValueError:
            raise
        except Exception as error:
            raise ArgumentValueError(
                f"{self._where}: the columns with lengths must be readable (got {said(error)}). "
                "Check the data set."
            ) from error
        found = np.concatenate(parts)
        return found if self._positions is None else found[self._positions]

    def _length_parts(self, fields: Sequence[Field]) -> list[NDArray[np.int64]]:
        import pyarrow as pa

        tops = list(dict.fromkeys(field.path[0] for field in fields))
        parts = []
        for batch in self._data.scanner(columns=tops, scan_in_order=True).to_batches():
            table = pa.Table.from_batches([batch])
            table = _plain_table(table) if self._has_extensions else table
            parts.append(read_lengths(table, fields, self._where))
        return parts

    def _filtered(self, condition: str) -> NDArray[np.int64]:
        """Return the positions of rows among those that are not deleted."""
        all_rows = self._addresses(None)
        chosen = self._addresses(condition)
        order = np.argsort(all_rows, kind="stable")
        places = np.searchsorted(all_rows, chosen, sorter=order)
        return np.asarray(order[places], np.int64)

    def _addresses(self, condition: str | None) -> NDArray[np.uint64]:
        try:
            table = _without_panic(
                lambda: self._data.scanner(
                    columns=[], filter=condition, with_row_address=True
                ).to_table()
            )
        except Exception as error:
            raise ArgumentValueError(
                f"filter must be a condition in SQL of the columns of the data set (got "
                f"{condition!r} for {self._where}: {said(error)}). Correct it."
            ) from error
        return np.asarray(table.column("_rowaddr").to_numpy(), np.uint64)

    def fetch_many(self, indices: Sequence[int]) -> list[tuple[Any, ...]]:
        """Return rows, all in one request.

        Raises
        ------
        ValueError
            If one cannot be read.
        """
        if not all(0 <= index < self._num_rows for index in indices):
            raise ValueError(f"{self._where}: rows must be below {self._num_rows}")
        chosen = np.asarray(indices, np.int64)
        positions = chosen if self._positions is None else self._positions[chosen]
        rows: list[int] = positions.tolist()
        import_lance()
        try:
            found = _without_panic(lambda: self._taken(rows))
        except Exception as error:
            which = f"row {rows[0]}" if len(rows) == 1 else f"{len(rows)} rows"
            raise ValueError(
                f"{self._where}, {which}: the columns must be readable (got {said(error)}). Check "
                "the data set."
            ) from error
        return list(zip(*(found[name] for name in self._columns), strict=True))

    def _taken(self, rows: list[int]) -> dict[str, Sequence[Any]]:
        found: dict[str, Sequence[Any]] = {}
        if self._tops:
            table = self._data.take(rows, columns=self._tops)
            if self._has_extensions:
                table = _plain_table(table)
            if table.num_rows != len(rows):
                raise ValueError(f"there are {table.num_rows} of {len(rows)} rows")
            names = list(self._fields)
            values = ArrowSource(table, names).fetch_many(range(len(rows)))
            found.update(zip(names, zip(*values, strict=True), strict=True))
        for name in self._blobs:
            blobs = self._data.read_blobs(name, indices=rows, preserve_order=True)
            found[name] = [_bytes_of(blob, name) for _, blob in blobs]
        return found


def _opened(
    lance: Any, uri: str, version: int | None, options: dict[str, str] | None
) -> tuple[Any, int, int, Any]:
    data = lance.dataset(uri, version=version, storage_options=options)
    return data, int(data.version), int(data.count_rows()), data.schema


def _bytes_of(blob: bytes | None, name: str) -> NDArray[np.uint8]:
    if blob is None:
        raise ValueError(f"the column {name!r} has a null")
    return np.frombuffer(blob, np.uint8)


def _is_blob(schema: Any, name: str) -> bool:
    if name not in schema.names:
        return False
    field = schema.field(name)
    kind = getattr(field.type, "extension_name", "")
    marked = (field.metadata or {}).get(b"lance-encoding:blob", b"") == b"true"
    return bool(kind.startswith("lance.blob") or marked)


def _plain_type(kind: Any) -> Any:
    """Return the type in which values of an extension are stored."""
    import pyarrow as pa

    is_known = isinstance(kind, pa.FixedShapeTensorType) or not isinstance(
        kind, pa.BaseExtensionType
    )
    # A bfloat16 is stored as two bytes, which would be taken for numbers.
    return kind if is_known or "bfloat16" in str(kind) else kind.storage_type


def _plain_schema(schema: Any) -> Any:
    import pyarrow as pa

    return pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])


def _plain_table(table: Any) -> Any:
    import pyarrow as pa

    columns = {}
    for name in table.column_names:
        column = table.column(name)
        if _plain_type(column.type) != column.type:
            chunks = [chunk.storage for chunk in column.chunks]
            column = pa.chunked_array(chunks, _plain_type(column.type))
        columns[name] = column
    return pa.table(columns)


def _checked_uri(uri: str) -> str:
    if is_url(uri):
        scheme = uri.partition("://")[0].lower()
        if scheme not in _SCHEMES:
            raise ArgumentValueError(
                f"uri must be a folder, or a URL of {', '.join(_SCHEMES)} (got {uri!r}). Copy the "
                "data set there."
            )
        return uri
    if not os.path.isdir(uri):
        raise ArgumentValueError(
            f"uri must be a folder with a Lance data set (got {uri!r}, where there is none). Check "
            "the path."
        )
    return uri


def _checked_options(options: Any) -> dict[str, str] | None:
    if options is None:
        return None
    is_right = isinstance(options, Mapping) and all(
        isinstance(text, str) for item in options.items() for text in item
    )
    if not is_right:
        raise ArgumentTypeError(
            f"store_options must be a dict of texts (got a {type(options).__name__}). Write "
            "numbers as texts, too."
        )
    return dict(options)


def import_lance() -> Any:
    """Import pylance, in a process that was not forked from one that uses it.

    Raises
    ------
    MissingModuleError
        If it is not installed.
    ArgumentValueError
        If its threads are those of the parent.
    """
    if _used_in and _used_in[0] != os.getpid():
        raise ArgumentValueError(
            "Lance data sets must be read in a process that is not a fork of one that reads them "
            f"(got process {os.getpid()}, whose parent {_used_in[0]} does). Start it by the method "
            '"spawn".'
        )
    try:
        import lance
    except ImportError as error:
        raise MissingModuleError(
            f"reading Lance data sets needs pylance (got none: {error}). Install it: "
            f"{install_command('lance')}."
        ) from error
    _used_in[:] = [os.getpid()]
    return lance


def _without_panic(call: Callable[[], T]) -> T:
    """Call pylance; what ends its own code is an error that can be caught.

    Raises
    ------
    Exception
        What pylance raises, and a RuntimeError for what is no `Exception`.
    """
    try:
        return call()
    except Exception:
        raise
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"pylance breaks down: {error}") from error


def said(error: BaseException) -> str:
    """Return what an error says, without places in the code of pylance."""
    return _PLACE_IN_RUST.sub("", str(error)).strip()[:500] or type(error).__name__
