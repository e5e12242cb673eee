"""List the clips of `fn.readers.video`, for what decodes them on a device."""

from __future__ import annotations

from dali_core.operators.video.clip_reader import VIDEO_READER_ARGS, open_videos
from dali_core.operators.video.listed_sequences import listing

SPEC = listing("video.listed_clips", "readers.video", VIDEO_READER_ARGS, open_videos)
