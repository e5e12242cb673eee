"""Measure the time from one batch to the next when there is next to nothing to compute.

``python -m benchmarks.batch_overhead``. What remains is the cost of the machinery: handing a batch
to the threads, collecting it, and wrapping the outputs; with external sources also calling Python
and taking its arrays.
"""

from __future__ import annotations

from .batch_times import compare
from .peers.photo_settings import OVERHEAD_PIPELINES


def main() -> None:
    """Measure and report."""
    description = __doc__.split("\n", 1)[0]
    compare("batch_overhead", description, OVERHEAD_PIPELINES, batches=2000, warm_up=200)


if __name__ == "__main__":
    main()
