"""Measures loaders, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core.plugin.pytorch.loader_evaluator.loader import LoaderEvaluator as LoaderEvaluator
