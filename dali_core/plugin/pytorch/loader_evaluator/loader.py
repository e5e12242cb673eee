"""Measures loaders, under the module name of NVIDIA DALI."""

from __future__ import annotations

from dali_core_pytorch.loader_evaluator import LoaderEvaluator as LoaderEvaluator
