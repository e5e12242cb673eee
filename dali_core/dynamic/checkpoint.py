"""Checkpoints: the states of readers and random generators by names."""

from __future__ import annotations

from dali_core.dynamic._checkpoint import Checkpoint as Checkpoint
from dali_core.dynamic._context import EvalContext


def current() -> Checkpoint:
    """Return the checkpoint of the evaluation context of this thread."""
    return EvalContext.current().checkpoint
