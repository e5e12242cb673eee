"""Equalize the histograms of images, under a former name."""

from __future__ import annotations

from dali_core.operators.equalize import SPEC as _SPEC

SPEC = _SPEC.formerly("experimental.equalize")
