"""Read sequences of images from folders."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import REQUIRED, Arg, Native, OpSpec, Range
from dali_core._storage import STORAGE_ARGS, stored
from dali_core.operators.decoders.backends import backend_arguments
from dali_core.operators.readers.sequence.listing import open_sequences

SPEC = OpSpec(
    name="readers.sequence",
    doc="""Read sequences of images from folders.

Each folder below `file_root` is a video, and each file in it is a frame, an image that
`fn.decoders.image` can decode; both are taken in the order of their names. A sequence starts at
every `step` frames of a folder, as long as there are ``1 + (sequence_length - 1) * stride`` of
them. Its images must have one size.

Returns
-------
DataNode
    The frames, uint8 of layout ``FHWC``.""",
    args=(
        Arg("file_root", str, "Folder with a folder for each video.", REQUIRED),
        Arg("sequence_length", int, "Frames of a sequence.", REQUIRED, range=Range(1, 2**20)),
        Arg(
            "step",
            int,
            "Distance between the first frames of two sequences.",
            1,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "stride",
            int,
            "Distance between two frames of a sequence.",
            1,
            range=Range(1, 2**31 - 1),
        ),
        Arg(
            "image_type",
            types.DALIImageType,
            "Colours of the frames: ``RGB``, ``BGR``, ``GRAY`` or ``YCbCr``.",
            types.RGB,
            choices=(types.RGB, types.BGR, types.GRAY, types.YCbCr),
        ),
        *STORAGE_ARGS,
    ),
    inputs=0,
    reader=stored(open_sequences),
    lower=Native(at_build=backend_arguments),
)
