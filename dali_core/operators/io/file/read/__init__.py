"""Read the files whose paths are data."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec
from dali_core._storage import STORAGE_ARGS

SPEC = OpSpec(
    name="io.file.read",
    doc="""Read the files whose paths are data.

Paths relate to the working directory; they may be URLs, such as ``s3://bucket/name``. Such a path
is made by ``np.frombuffer(path.encode(), np.uint8)``.

Returns
-------
DataNode
    The bytes of each file, one-dimensional uint8.""",
    input_docs=(
        "The bytes of each path, one-dimensional and of a type of one byte; NUL characters at the "
        "end do not count.",
    ),
    args=(
        Arg("dont_use_mmap", bool, "Accepted without effect: files are never mapped.", False),
        Arg(
            "use_o_direct",
            bool,
            "Accepted without effect: files are read through the cache of the system.",
            False,
        ),
        *STORAGE_ARGS,
    ),
)
