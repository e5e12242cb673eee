"""Arguments and documentation that readers of texts share."""

from __future__ import annotations

from dali_core._spec import Arg, Range

LINES_DOC = """Where lines are is found out once, and kept in a cache (environment variable
``DALI_CORE_INDEX_CACHE``). Files may be compressed by gzip or Zstandard (the extra is `text`), as
their first bytes say: they are decompressed once, into a folder of that cache, since what is in the
middle cannot be read otherwise. `Tensor.source_info` is the index of the sample in all files."""

PATHS = Arg(
    "paths",
    list[str],
    "Paths or URLs of the files, whose samples come in this order.",
    length=Range(1),
)

MAX_SAMPLE_BYTES = Arg(
    "max_sample_bytes",
    int,
    "How many bytes a sample may have in its file; one that has more is a bad sample, and is not "
    "read.",
    64 << 20,
    range=Range(1, 2**31 - 1),
)
