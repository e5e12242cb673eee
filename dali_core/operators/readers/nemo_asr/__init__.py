"""Read speech and its transcripts, as manifests of NeMo list them."""

from __future__ import annotations

from typing import Any

from dali_core._spec import UNSET, Arg, Native, OpSpec
from dali_core._storage import STORAGE_ARGS, stored
from dali_core.operators.decoders.audio import DOWNMIX_DOC, SOUND_ARGS
from dali_core.operators.decoders.audio.library import library_arguments
from dali_core.operators.readers.nemo_asr.listing import open_manifests


def _num_outputs(arguments: dict[str, Any]) -> int | None:
    count = 1 + sum(arguments[name] for name in ("read_sample_rate", "read_text", "read_idxs"))
    return None if count == 1 else count


SPEC = OpSpec(
    name="readers.nemo_asr",
    doc="""Read speech and its transcripts, as manifests of NeMo list them.

A manifest has a JSON object on each line: ``audio_filepath``, and if wanted ``offset`` and
``duration``, the part of the file in seconds, and ``text``. Relative paths relate to the working
directory. Needs libsndfile, which the extra ``audio`` brings.

The lengths of samples, for batches by lengths, are the durations in whole milliseconds, if
all entries have one.

Returns
-------
DataNode or list of DataNode
    Samples, of shape ``(length,)``, or ``(length, channels)`` without `downmix`. With
    `read_sample_rate`, the sampling rate of the file in Hz follows, a float32 scalar; with
    `read_text`, the transcript in UTF-8, one-dimensional uint8; with `read_idxs`, the index of the
    entry among those of its manifest that are read, int64 of shape (1,).""",
    inputs=0,
    outputs=_num_outputs,
    reader=stored(open_manifests),
    lower=Native(at_build=library_arguments),
    args=(
        Arg("manifest_filepaths", list[str], "Manifests, which are read one after the other."),
        Arg(
            "sample_rate",
            float,
            "Rate in Hz that samples are resampled to; those of 0 and less leave them as they are.",
            default=-1.0,
        ),
        Arg("downmix", bool, DOWNMIX_DOC, default=True),
        *SOUND_ARGS,
        *STORAGE_ARGS,
        Arg(
            "min_duration",
            float,
            "Entries with a shorter ``duration`` in seconds, or with none, are left out; 0 to keep "
            "all.",
            default=0.0,
        ),
        Arg(
            "max_duration",
            float,
            "Entries with a longer ``duration`` in seconds are left out; 0 to keep all.",
            default=0.0,
        ),
        Arg("read_sample_rate", bool, "Give the sampling rate of each file.", default=True),
        Arg("read_text", bool, "Give transcripts.", default=True),
        Arg("read_idxs", bool, "Give the index of each entry.", default=False),
        Arg(
            "normalize_text",
            bool,
            "Accepted without effect.",
            default=UNSET,
            deprecated="nothing: it has no effect",
        ),
    ),
)
