"""The former name of `fn.random.normal`."""

from __future__ import annotations

from dali_core.operators.random.normal import SPEC as _SPEC

SPEC = _SPEC.formerly("normal_distribution")
