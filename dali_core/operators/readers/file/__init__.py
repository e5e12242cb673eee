"""`fn.readers.file`: whole files and their labels."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec, Range
from dali_core._storage import STORAGE_ARGS, stored
from dali_core.operators.readers.file.listing import KNOWN_EXTENSIONS, open_files

SPEC = OpSpec(
    name="readers.file",
    doc="""Read files and their labels.

Which files: either all below `file_root`, where each folder is a class and classes are numbered
in the order of their names; or those listed in `file_list`; or those in `files`.
Paths may be URLs, such as ``s3://bucket/folder``.

Returns
-------
(DataNode, DataNode)
    The bytes of each file, one-dimensional uint8; and its label, int32 of shape (1,). Where files
    have several numbers, or floats, these are int32 or float32 of shape (numbers,).""",
    args=(
        Arg(
            "file_root", str, "Folder with a folder for each class, or to which paths relate.", None
        ),
        Arg(
            "file_list",
            str,
            "Text file with a path and a label on each line; paths relate to `file_root`, or to "
            "the folder of this file. A file with the extension .csv has a path and one number or "
            "more on each line, separated by commas, perhaps below a header.",
            None,
        ),
        Arg(
            "num_labels",
            int,
            "How many numbers follow the path on each line of `file_list`; by default one integer.",
            None,
            range=Range(1, 2**20),
        ),
        Arg("files", list[str], "Paths; relative ones relate to `file_root`.", None),
        Arg(
            "labels",
            object,
            "Labels of the entries of `files`, a sequence or array of shape (files,) or (files, "
            "numbers): integers, or floats for targets that are measured. By default the index of "
            "each entry.",
            None,
        ),
        Arg(
            "class_names",
            list[str],
            "Names of the labels of `files` or `file_list`, in their order, for "
            "`Pipeline.reader_meta` and loaders. Those of folders are the folders.",
            None,
        ),
        Arg(
            "file_filters",
            list[str],
            "Shell patterns of file names to use below `file_root`.",
            KNOWN_EXTENSIONS,
        ),
        Arg("dir_filters", list[str], "Shell patterns of class folders to use.", None),
        Arg("case_sensitive_filter", bool, "Whether the patterns tell 'a' from 'A'.", False),
        *STORAGE_ARGS,
    ),
    inputs=0,
    outputs=2,
    reader=stored(open_files),
)
