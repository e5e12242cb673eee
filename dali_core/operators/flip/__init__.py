"""Mirror images, volumes and sequences."""

from __future__ import annotations

from dali_core._spec import Arg, OpSpec

SPEC = OpSpec(
    name="flip",
    keeps_type=True,
    doc="""Mirror each image left to right, top to bottom, or front to back.

Layouts are any arrangement of F, D, H, W and C with H and W; frames of a sequence keep their
order. Data without a layout is taken as ``HW``, ``HWC``, ``FHWC`` or ``FDHWC``. Nothing is copied
where nothing is flipped.
""",
    input_docs=("Images, volumes or sequences of any type.",),
    devices=("cpu", "gpu"),
    args=(
        Arg("horizontal", int, "Mirror left to right if nonzero.", default=1, tensor=True),
        Arg("vertical", int, "Mirror top to bottom if nonzero.", default=0, tensor=True),
        Arg(
            "depthwise",
            int,
            "Mirror front to back if nonzero. Without depth it has no effect.",
            default=0,
            tensor=True,
        ),
    ),
)
