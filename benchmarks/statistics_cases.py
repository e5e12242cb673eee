"""The loops of reductions, and of what normalises by them: more of `kernel_cases`."""

from __future__ import annotations

from .kernel_case import KernelCase

_NORMALIZED_BYTES = KernelCase(
    "normalize uint8 to float, elements",
    "normalize_elements",
    "normalize_elements",
    {"load 4": 1, "load 8": 4, "store 16": 1},
    4,
    16,
    0,
)

STATISTICS_CASES = (
    # Sums along the last axes, or along H and W of HWC images: the loop is the same.
    KernelCase(
        "sums of float, four rows of four lanes",
        "fold_doubles",
        "fold_doubles",
        {"load 16": 4, "DADD": 16},
        64,
        0,
        1.0,
        1.0,
    ),
    KernelCase(
        "deviations of float, four rows of four lanes",
        "fold_doubles",
        "fold_doubles",
        {"load 16": 4, "DMUL": 16},
        64,
        0,
        1.0,
        1.0,
    ),
    # Bytes come in words of a thread: more of them on their way would need more registers.
    KernelCase(
        "sums of uint8, four rows of four lanes",
        "fold_integers",
        "fold_integers",
        {"load 4": 4},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "moments of uint8, four rows of four lanes",
        "fold_integers",
        "fold_integers",
        {"load 4": 4, "IMAD": 16},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "greatest of uint8, four rows of four lanes",
        "fold_extremes",
        "fold_extremes",
        {"load 4": 4},
        16,
        0,
        1.0,
        0.8,
    ),
    KernelCase(
        "greatest of float, four rows of four lanes",
        "fold_extremes",
        "fold_extremes",
        {"load 16": 4},
        64,
        0,
        1.0,
        1.0,
    ),
    KernelCase(
        "sums of short runs of uint8",
        "fold_integers",
        "fold_integers",
        {"load 1": 4},
        4,
        0,
        0.28,
        0.2,
    ),
    # The partial results of chunks are a thousandth of their elements.
    KernelCase("what chunks left", "join_chunks", "join_chunks", {"load 8": 1}, 8, 0, 0.55, 0.4),
    KernelCase(
        "normalize uint8 to float, moments",
        "fold_integers",
        "fold_integers",
        {"load 4": 4, "IMAD": 16},
        16,
        64,
        0.9,
        0.6,
        then=_NORMALIZED_BYTES,
    ),
    KernelCase(
        "factors of normalize",
        "normalize_elements",
        "find_factors",
        {"load 8": 2, "store 8": 1},
        16,
        8,
        0.4,
        0.3,
    ),
    KernelCase(
        "statistics of a batch",
        "normalize_elements",
        "join_statistics",
        {"load 8": 2},
        16,
        0,
        0.4,
        0.3,
    ),
)
