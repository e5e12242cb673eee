"""Measure the overhead per batch, with almost no computation.

``python -m benchmarks.batch_overhead``. This is the time to schedule a batch on the thread pool, to
wait for it, and to wrap the outputs; with external sources also to call Python and to convert its
arrays.
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
