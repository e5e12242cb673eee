"""Division of samples into batches: of one size, or by the lengths of samples.

`Fixed` has batches of one size. `Budget`, `Bucket` and `Pack` divide samples by their lengths, and
their `plan` can be used by itself. `measure_lengths` finds lengths that no reader declares,
and `LengthsAhead` those of a window when it is planned.
"""

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
