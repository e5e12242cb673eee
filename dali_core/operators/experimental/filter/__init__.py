"""Filter images with windows of numbers, under a former name."""

from __future__ import annotations

from dali_core.operators.filter import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.filter")
