"""The former name of `fn.decoders.image_crop`."""

from __future__ import annotations

from dali_core.operators.decoders.image_crop import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.decoders.image_crop")
