"""One use of a kernel whose instructions are counted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class KernelCase:
    """One use of a kernel.

    Attributes
    ----------
    name : str
        What it does.
    module, kernel : str
        The stem of its source, and its name.
    accesses : mapping
        The accesses to global memory of one turn of the loop, see ``sass.cheapest_turn``.
    read, written : int
        The bytes of data that they are; parameters and what caches give do not count. Where a turn
        reads none, it does not wait for memory.
    floor : float
        The share of a copy that the instructions must leave possible on an H100.
    floor_with_more_bandwidth : float
        The same on an H200, whose processors are those of an H100.
    threads : int
        Threads of a block.
    then : KernelCase, optional
        The second of two passes. What both read and write is what the operator as a whole does,
        for as many pixels as a turn of the pass makes or prepares.
    """

    name: str
    module: str
    kernel: str
    accesses: Mapping[str, int]
    read: int
    written: int
    floor: float = 0.9
    floor_with_more_bandwidth: float = 0.9
    threads: int = 256
    then: KernelCase | None = None
