"""The former name of `fn.decoders.image_slice`."""

from __future__ import annotations

from dali_core.operators.decoders.image_slice import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.decoders.image_slice")
