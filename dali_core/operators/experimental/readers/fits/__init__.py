"""Read images from FITS files."""

from __future__ import annotations

from typing import Any

from dali_core import types
from dali_core._spec import UNSET, Arg, Moving, OpSpec, PythonStep, Range
from dali_core._storage import stored
from dali_core.operators.readers.indices import hand_to_indices
from dali_core.operators.readers.listed_files import file_args, list_files

_FILE_ARGS = file_args("*.fits")


FITS_INDICES = OpSpec(
    name="experimental.readers.fits.indices",
    doc="""Give the indices of the files of a list.

Returns
-------
DataNode
    The index of each file, a scalar int64.""",
    args=_FILE_ARGS,
    inputs=0,
    reader=stored(list_files),
    title="experimental.readers.fits",
)


def _make_step(arguments: dict[str, Any]) -> Any:
    from dali_core.operators.experimental.readers.fits.images import make_step

    return make_step(arguments)


SPEC: OpSpec = OpSpec(
    name="experimental.readers.fits",
    doc="""Read images from FITS files.

Files are read by Astropy (the extra is `fits`), one after the other, by a thread that runs Python.
Images may be compressed. Those that are scaled (``BSCALE``, ``BZERO``) have the values that are
meant. Errors name the file.

Returns
-------
DataNode or list of DataNode
    The images, in C order; a list if there are several for each file.""",
    args=(
        *_FILE_ARGS,
        Arg(
            "hdu_indices",
            list[int],
            "Which parts of a file have the images, counted from 1, the primary one. By default "
            "the first after it.",
            default=[2],
            range=Range(1),
            length=Range(1, 4096),
        ),
        Arg(
            "dtypes",
            list[types.DALIDataType],
            "Type that the data must have: one for each of `hdu_indices`. By default any.",
            default=UNSET,
        ),
    ),
    inputs=(0, 1),
    outputs=lambda arguments: (
        None if len(arguments["hdu_indices"]) == 1 else len(arguments["hdu_indices"])
    ),
    lower=PythonStep(_make_step, reads_batch=lambda _: False),
    moving=Moving("gpu"),
    input_docs=("Indices of files, which the operator makes itself.",),
    hands_to_reader=True,
    bind=hand_to_indices(lambda: SPEC, FITS_INDICES, {arg.name for arg in _FILE_ARGS}),
)
