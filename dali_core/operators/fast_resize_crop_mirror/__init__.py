"""The former name of `fn.resize_crop_mirror` without antialiasing."""

from __future__ import annotations

from dataclasses import replace

from dali_core.operators.resize_crop_mirror import SPEC as _SPEC

SPEC = replace(
    _SPEC.formerly("fast_resize_crop_mirror"),
    doc=f"""{_SPEC.doc.rstrip()}

Former name of `resize_crop_mirror`, which does the same, but for the default of `antialias`.
""",
    args=tuple(
        replace(arg, default=False) if arg.name == "antialias" else arg for arg in _SPEC.args
    ),
)
