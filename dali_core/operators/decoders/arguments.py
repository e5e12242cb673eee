"""Arguments that all image decoders share."""

from __future__ import annotations

from typing import Any

from dali_core import _types as types
from dali_core._spec import Arg, Range


def _without_effect(name: str, kind: Any, default: object, deprecated: str = "") -> Arg:
    doc = "Accepted for compatibility; without effect on a CPU."
    return Arg(name, kind, doc, default=default, deprecated=deprecated)


def _on_device(name: str, doc: str, default: float, limits: Range) -> Arg:
    doc += " For JPEG that is decoded on a GPU; without effect on a CPU."
    return Arg(name, type(default), doc, default=default, range=limits)


_NUMBER = Range(0, 2**63 - 1)
DEVICE_ARGS = (
    _on_device(
        "hw_decoder_load",
        "Share of a batch for the GPU's engines for JPEG, where it has such; 0 for none.",
        0.65,
        Range(0, 1),
    ),
    _on_device(
        "hybrid_huffman_threshold",
        "Images with more pixels than this have their Huffman codes decoded by the GPU as well, "
        "others by the CPU.",
        1000000,
        _NUMBER,
    ),
    _on_device(
        "device_memory_padding",
        "Bytes on the GPU that a thread's buffer has at least, so that it need not grow.",
        16777216,
        _NUMBER,
    ),
    _on_device(
        "host_memory_padding",
        "Bytes of pinned memory that a thread's buffer has at least, so that it need not grow.",
        8388608,
        _NUMBER,
    ),
    _on_device(
        "preallocate_width_hint",
        "Width of the largest image that the GPU's engines have memory for from the start; 0 if "
        "they allocate it as they need it.",
        0,
        _NUMBER,
    ),
    _on_device(
        "preallocate_height_hint",
        "Height of the largest image that the GPU's engines have memory for from the start; 0 if "
        "they allocate it as they need it.",
        0,
        _NUMBER,
    ),
)
"""Of decoders on a GPU."""

_LEAVE_OUT = "nothing: it never had an effect here"

DECODER_ARGS = (
    Arg(
        "output_type",
        types.DALIImageType,
        "Colour model of the output: ``RGB``, ``BGR``, ``GRAY``, ``YCbCr`` (ITU-R BT.601 with "
        "headroom: 16 to 235, and 16 to 240), or ``ANY_DATA``, which keeps the channels of the "
        "file (but for JPEG of four components, which gives RGB). Otherwise, alpha is dropped.",
        default=types.RGB,
    ),
    Arg(
        "dtype",
        types.DALIDataType,
        "Type of the output: integers of up to 32 bits, ``FLOAT16`` or ``FLOAT``. The full range "
        "of the file's samples becomes the full range of the type: 0 to 1 for floats, 0 to the "
        "largest value for integers.",
        default=types.UINT8,
        choices=(
            types.UINT8,
            types.INT8,
            types.UINT16,
            types.INT16,
            types.UINT32,
            types.INT32,
            types.FLOAT16,
            types.FLOAT,
        ),
    ),
    Arg(
        "adjust_orientation",
        bool,
        "Turn the image as its Exif orientation demands.",
        default=True,
    ),
    Arg(
        "use_fast_idct",
        bool,
        "Use a faster and less accurate inverse transform for JPEG. Images that get turned are "
        "decoded with the accurate one.",
        default=False,
    ),
    Arg(
        "jpeg_fancy_upsampling",
        bool,
        "Accepted for compatibility; on a CPU, chroma is always interpolated.",
        default=False,
    ),
    Arg(
        "chroma",
        str,
        "What is done to the chroma of JPEG before an image is resized: ``upsample`` makes pixels "
        "of the whole part first, as NVIDIA DALI does. ``resample`` resizes luma and chroma by "
        "themselves, each from its own size, and makes pixels of the result. Pixels change a "
        "little. It applies where an operator of the resize family reads the image, directly or by "
        "way of crops, on the host and without a change of type, and nothing else reads it. "
        "Otherwise the pixels are those of ``upsample``, and so are those of files other than JPEG "
        "in YCbCr, of unusual and damaged ones, of turned images, and of outputs that are not RGB "
        "or BGR in ``uint8``.",
        default="upsample",
        choices=("upsample", "resample"),
    ),
    Arg(
        "jpeg_index_size",
        int,
        "Memory in MiB for places inside of JPEG files where decoding may start; 0 for none. The "
        "first decode of a file keeps one for every 64 columns of each row of blocks, 12 bytes "
        "each, about 5 % of a photo's file. Parts of the file are decoded faster after that, with "
        "the same pixels. Files are recognized by their contents. When the memory is full, later "
        "files have no places.",
        default=64,
        range=Range(0, 1 << 20),
    ),
    _without_effect("affine", bool, True),
    *DEVICE_ARGS,
    _without_effect("device_memory_padding_jpeg2k", int, 0),
    _without_effect("host_memory_padding_jpeg2k", int, 0),
    _without_effect("memory_stats", bool, False, _LEAVE_OUT),
    _without_effect("split_stages", bool, False, _LEAVE_OUT),
    _without_effect("use_chunk_allocator", bool, False, _LEAVE_OUT),
)

INPUT_DOCS = (
    "Bytes of one image file a sample, ``uint8`` in one dimension: JPEG, PNG, BMP, TIFF, WebP, PNM "
    "or JPEG 2000.",
)

LIMITS_DOC = """The output has layout ``HWC``. A file that is damaged beyond repair, cut off before
its last pixel, larger than 2**30 pixels, or too short to hold its pixels is an error of that
sample. Damage that leaves a JPEG decodable is let pass, with wrong pixels. Samples of a PNM file
are not scaled by the largest value that its header states, as in NVIDIA DALI.

So is a file that is made to cost time. The scans of a JPEG may visit its blocks of 8 x 8 pixels
2**20 times, besides 20 times for each block and 8 times for each byte of the file, and may be 500;
encoders write about ten. The texts in a PNG may inflate to 256 MB. All other formats may take 10 s
of processor time, and one more for each 2**20 pixels and for each 2**20 bytes; the environment
variable ``DALI_CORE_CODEC_SECONDS`` sets the 10.

All formats but JPEG are decoded in processes of their own, one for each thread, so that a file
that breaks its codec is an error of that sample, too. They end with the pipeline; the process that
starts them stays until the program ends. For files that you trust, the environment variable
``DALI_CORE_CODEC_PROCESS=0`` saves them.
"""
