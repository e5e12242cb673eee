"""A step of a plan: a batch of one process, and what all processes have at that time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class PlannedStep(NamedTuple):
    """A batch, as the plan of its epoch describes it in every process.

    Attributes
    ----------
    epoch, step : int
        Numbers of the epoch, and of the batch in it.
    num_samples : int
        Samples in the batch of this process, before they are packed.
    num_tokens : int
        Sum of their lengths, without padding; 0 for a batch of weight 0.
    global_tokens : int
        The same of all processes together: what a sum of losses is divided by.
    weight : int
        1, or 0 for a batch that only takes the place of a missing one at the end of an epoch.
    """

    epoch: int
    step: int
    num_samples: int
    num_tokens: int
    global_tokens: int
    weight: int


def joined(steps: Sequence[PlannedStep | None]) -> PlannedStep | None:
    """Describe the batches of several processes at one step as one."""
    known = [step for step in steps if step is not None]
    if not known:
        return None
    return known[0]._replace(
        num_samples=sum(step.num_samples for step in known),
        num_tokens=sum(step.num_tokens for step in known),
        weight=max(step.weight for step in known),
    )
