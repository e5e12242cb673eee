"""Decode audio files."""

from __future__ import annotations

from dali_core import _types as types
from dali_core._spec import Arg, Native, OpSpec, Range
from dali_core.operators.decoders.audio.library import library_arguments

SOUND_ARGS = (
    Arg(
        "dtype",
        types.DALIDataType,
        "Type of the samples: ``FLOAT``, from -1 to 1, or ``INT16`` or ``INT32``, over the range "
        "of the type.",
        default=types.FLOAT,
        choices=(types.INT16, types.INT32, types.FLOAT),
    ),
    Arg(
        "quality",
        float,
        "Quality of resampling: 3 lobes of a windowed sinc at 0, 16 at 50, and 64 at 100.",
        default=50.0,
        range=Range(0, 100),
    ),
)
"""Arguments of operators that decode audio."""

DOWNMIX_DOC = (
    "Whether the output is the mean of all channels, with one dimension; otherwise there is a "
    "second one, of channels."
)

SPEC = OpSpec(
    name="decoders.audio",
    doc="""Decode audio files.

Takes WAV, FLAC, Ogg (Vorbis and Opus) and MP3, further AIFF, AU, CAF and W64. Needs libsndfile,
which the extra ``audio`` brings. The length is what decoding gives, whatever a header says; of
chained Ogg files, all links are decoded, which must have the same channels and rate.

Returns
-------
(DataNode, DataNode)
    Samples of shape ``(length, channels)``, or ``(length,)`` with `downmix`; and their rate in Hz,
    a float32 scalar.""",
    input_docs=("The bytes of each file, one-dimensional uint8.",),
    outputs=2,
    lower=Native(at_build=library_arguments),
    args=(
        Arg(
            "sample_rate",
            float,
            "Rate in Hz that samples are resampled to; 0 to leave them as they are.",
            default=0.0,
            tensor=True,
            range=Range(0),
        ),
        Arg("downmix", bool, DOWNMIX_DOC, default=False),
        *SOUND_ARGS,
    ),
)
