"""The former name of `fn.random.uniform`."""

from __future__ import annotations

from dali_core.operators.random.uniform import SPEC as _SPEC

SPEC = _SPEC.formerly("uniform")
