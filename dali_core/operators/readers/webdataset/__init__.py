"""Read samples from tar archives in the layout of WebDataset."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import REQUIRED, Arg, OpSpec, Range
from dali_core._storage import STORAGE_ARGS, stored
from dali_core.operators.readers.webdataset.listing import open_webdataset

SPEC = OpSpec(
    name="readers.webdataset",
    doc="""Read samples from tar archives in the layout of WebDataset.

Files in a row whose paths agree up to the first dot of the name are one sample; what follows that
dot is the extension. Files whose names begin with a dot, links and folders are left out. Members
are read from the archives, which may be of the formats v7, ustar, pax or GNU, but not compressed;
nothing is ever extracted. A damaged member is a bad sample; where a header is damaged, the samples
before and after it are.

Returns
-------
DataNode or list of DataNode
    For each entry of `ext`, the bytes of a file, as one-dimensional tensors of its type; a list if
    there are several.""",
    args=(
        Arg("paths", list[str], "Paths of the archives.", REQUIRED, length=Range(1)),
        Arg(
            "ext",
            list[str],
            "Extensions of the file for each output; alternatives are divided by semicolons "
            '(``"jpg;png"``). Of several files that match, the first in the archive is read.',
            REQUIRED,
            length=Range(1),
        ),
        Arg(
            "index_paths",
            list[str],
            "Paths of index files, one for each archive, as ``python -m dali_core index wds`` "
            "writes them. Without them, headers of the archives are read once; what was found is "
            "kept in a cache (environment variable ``DALI_CORE_INDEX_CACHE``).",
            None,
        ),
        Arg(
            "missing_component_behavior",
            str,
            'What to do with a sample without a file for some output: ``"empty"``, the default, '
            'gives an empty tensor, ``"skip"`` leaves out the sample, and with ``"error"`` it is a '
            "bad sample. Upper and lower case are the same.",
            "",
        ),
        Arg(
            "dtypes",
            list[types.DALIDataType],
            "Type of each output, as which the bytes of the files are read: little endian, not "
            "``BOOL``. By default all are ``UINT8``.",
            None,
        ),
        Arg(
            "case_sensitive_extensions",
            bool,
            "Whether extensions tell 'a' from 'A'.",
            True,
        ),
        *STORAGE_ARGS,
    ),
    inputs=0,
    outputs=lambda arguments: len(arguments["ext"]),
    reader=stored(open_webdataset),
)
