"""Formats of files, also in packages of their own: how a data set is listed and fetched.

A format is a class derived from `Format`. It lists the samples of a place, as a `DataSource` with
their number and perhaps their labels, lengths and blocks, and a `Fetcher` returns samples by their
indices. Order, shards, samplers, mixtures, states and bad samples are those of all readers::

    # my_format.py
    class MyFormat(Format):
        name = "readers.my_format"
        doc = "Read samples of my format."
        args = (Arg("paths", list[str], "Paths or URLs of the files."), *STORAGE_ARGS)

        def open(self, arguments, storage):
            return MySamples(ByteRanges(arguments["paths"], storage))

    # pyproject.toml of its package
    [project.entry-points."dali_core.readers"]
    my_format = "my_format:MyFormat"

Then `fn.readers.my_format` and `ops.readers.MyFormat` are there wherever the package is installed.
``python -m dali_core.scaffold reader my_format`` writes such a package, and
`dali_core.testing.ReaderSuite` tests it.
"""

from __future__ import annotations

from dali_core._readers.block_cache import Block as Block
from dali_core._readers.block_cache import BlockCache as BlockCache
from dali_core._readers.block_cache import BlockSource as BlockSource
from dali_core._readers.byte_ranges import ByteRanges as ByteRanges
from dali_core._readers.fingerprints import fingerprint_of as fingerprint_of
from dali_core._readers.protocol import DataSource as DataSource
from dali_core._readers.protocol import FetchedSource as FetchedSource
from dali_core._readers.protocol import Fetcher as Fetcher
from dali_core._readers.protocol import Upcoming as Upcoming
from dali_core._readers.python_reader import Format as Format
from dali_core._registry.specs import packages as _packages
from dali_core._spec import REQUIRED as REQUIRED
from dali_core._spec import UNSET as UNSET
from dali_core._spec import Arg as Arg
from dali_core._spec import Range as Range
from dali_core._storage import STORAGE_ARGS as STORAGE_ARGS
from dali_core._storage import Storage as Storage

__all__ = [
    "REQUIRED",
    "STORAGE_ARGS",
    "UNSET",
    "Arg",
    "Block",
    "BlockCache",
    "BlockSource",
    "ByteRanges",
    "DataSource",
    "FetchedSource",
    "Fetcher",
    "Format",
    "Range",
    "Storage",
    "Upcoming",
    "fingerprint_of",
    "register",
]


def register(form: Format | type[Format]) -> None:
    """Add a format to `fn.readers` and `ops.readers` of this process, without a package.

    Parameters
    ----------
    form : Format, or a class derived from it
        The format; a class is called without arguments.

    Raises
    ------
    OperatorPackageError
        If it is no format, or if its name is none for a reader, or taken.
    """
    kind = form if isinstance(form, type) else type(form)
    _packages().add_reader(f"{kind.__module__}.{kind.__qualname__}", form)
