"""The former name of `fn.random.coin_flip`."""

from __future__ import annotations

from dali_core.operators.random.coin_flip import SPEC as _SPEC

SPEC = _SPEC.formerly("coin_flip")
