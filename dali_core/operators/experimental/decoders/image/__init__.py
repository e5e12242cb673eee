"""The former name of `fn.decoders.image`."""

from __future__ import annotations

from dali_core.operators.decoders.image import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.decoders.image")
