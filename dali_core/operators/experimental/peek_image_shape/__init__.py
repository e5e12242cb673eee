"""The former name of `fn.peek_image_shape`."""

from __future__ import annotations

from dali_core.operators.peek_image_shape import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.peek_image_shape")
