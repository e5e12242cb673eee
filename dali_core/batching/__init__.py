"""Division of samples into batches: of one size, or by the lengths of samples.

`Fixed` has batches of one size. `Budget`, `Bucket` and `Pack` divide samples by their lengths, and
their `plan` can be used by itself. `measure_lengths` finds lengths that no reader declares,
and `LengthsAhead` those of a window when it is planned.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dali_core.batching.bucket import Bucket
    from dali_core.batching.budget import Budget
    from dali_core.batching.epoch_batches import EpochBatches
    from dali_core.batching.fixed import Fixed
    from dali_core.batching.lengths_ahead import LengthsAhead
    from dali_core.batching.measured_lengths import measure_lengths
    from dali_core.batching.pack import Pack
    from dali_core.batching.plan_report import PlanReport
    from dali_core.batching.planned import Planned
    from dali_core.batching.rank_batches import RankBatches
else:
    _MODULES = {
        "Bucket": "bucket",
        "Budget": "budget",
        "EpochBatches": "epoch_batches",
        "Fixed": "fixed",
        "LengthsAhead": "lengths_ahead",
        "Pack": "pack",
        "PlanReport": "plan_report",
        "Planned": "planned",
        "RankBatches": "rank_batches",
        "measure_lengths": "measured_lengths",
    }

    def __getattr__(name: str) -> object:
        """Import what is asked for: pipelines with batches of one size need little of it."""
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
        globals()[name] = found
        return found


__all__ = [
    "Bucket",
    "Budget",
    "EpochBatches",
    "Fixed",
    "LengthsAhead",
    "Pack",
    "PlanReport",
    "Planned",
    "RankBatches",
    "measure_lengths",
]
