"""Measure how long expressions take: ``python -m benchmarks.expressions``.

One thread computes with batches of images. Creating the images takes almost no time, which is
measured separately, too.
"""

from __future__ import annotations

from .batch_times import compare
from .peers.photo_settings import EXPRESSION_PIPELINES


def main() -> None:
    """Measure and report."""
    description = __doc__.split("\n", 1)[0]
    compare("expressions", description, EXPRESSION_PIPELINES, batches=30, warm_up=5, unit="ms")


if __name__ == "__main__":
    main()
