"""Model of a multiprocessor: the largest share of a device-to-device copy that a loop can reach.

Every limit is a quotient of two rates, that of the loop and that of a copy:

- issue: a multiprocessor issues four instructions of a warp per clock;
- units: instructions that few lanes carry out, those of "Throughput of Native Arithmetic
  Instructions" of the CUDA C++ Programming Guide. Integers have 64 lanes, conversions and
  reciprocals 16, loads and stores 32, floats 64 (8.0) or 128, doubles half as many;
- occupancy: what all threads that fit load in one turn, in the time that a load takes (Little's
  law). Loads of one turn are counted as if all were on their way together.

Nothing is said about caches, banks, and how many pieces of memory the threads of a warp touch.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .sass import Instruction

LANES_ISSUED = 128
REGISTERS = 65536
WARPS = 64
# A load from memory while the memory is busy; idle, it takes about 0.3.
LOAD_SECONDS = 0.6e-6
# The share of the peak that a copy reaches.
COPY_SHARE = 0.92


@dataclass(frozen=True)
class Gpu:
    """Numbers of NVIDIA's white papers on Ampere, Hopper and Blackwell.

    The clock is what makes the peak of float operations that they give: 19.5, 66.9 and 74 TFLOPS.
    """

    name: str
    architecture: int
    multiprocessors: int
    clock: float
    bytes_per_second: float
    float_lanes: int

    @property
    def copied(self) -> float:
        """Bytes that a copy moves per clock and multiprocessor, reads and writes together."""
        return self.bytes_per_second * COPY_SHARE / (self.multiprocessors * self.clock)


GPUS = (
    Gpu("A100", 80, 108, 1.41e9, 2.039e12, 64),
    Gpu("H100", 90, 132, 1.98e9, 3.35e12, 128),
    Gpu("H200", 90, 132, 1.98e9, 4.8e12, 128),
    Gpu("B200", 100, 148, 1.965e9, 8.0e12, 128),
)

_FLOAT = {"FADD", "FMUL", "FFMA", "IMAD"}
_HALF_OF_FLOAT = {"IMAD"}
_DOUBLE = {"DADD", "DMUL", "DFMA", "DSETP"}
_SPECIAL = {"I2F", "F2I", "F2F", "MUFU", "FRND", "I2I", "POPC", "FLO"}
_MEMORY = {"LDG", "STG", "LD", "ST", "LDS", "STS", "LDL", "STL", "LDC", "SHFL", "ATOMG", "ATOMS"}
_CONTROL = {"BRA", "BRX", "BSSY", "BSYNC", "CALL", "RET", "EXIT", "NOP", "BAR", "BREAK", "WARPSYNC"}


def unit_of(instruction: Instruction) -> str:
    """Name the unit that carries out an instruction."""
    name = instruction.name
    if name in _SPECIAL:
        return "special"
    if name in _MEMORY:
        return "memory"
    if name in _HALF_OF_FLOAT:
        return "multiply"
    if name in _FLOAT:
        return "float"
    if name in _DOUBLE:
        return "double"
    if name in _CONTROL or name.startswith("U"):
        return "other"
    return "integer"


@dataclass(frozen=True)
class Ceiling:
    """Shares of a copy that the limits allow."""

    issue: float
    units: float
    occupancy: float
    unit: str  # the busiest

    @property
    def share(self) -> float:
        """The lowest of them."""
        return min(self.issue, self.units, self.occupancy)


def ceiling(
    turn: Iterable[Instruction], gpu: Gpu, registers: int, threads: int, read: int, written: int
) -> Ceiling:
    """Return the ceiling of a loop whose turn moves some bytes.

    Parameters
    ----------
    turn : iterable of Instruction
        The instructions of one thread.
    gpu : Gpu
        The device.
    registers : int
        Registers of a thread.
    threads : int
        Threads of a block.
    read, written : int
        Bytes that the turn reads from and writes to memory.
    """
    units = Counter(unit_of(instruction) for instruction in turn)
    lanes = {
        "special": 16,
        "memory": 32,
        "integer": 64,
        "multiply": 64,
        "float": gpu.float_lanes,
        "double": gpu.float_lanes // 2,
    }
    clocks = {unit: units[unit] / lanes[unit] for unit in lanes}
    busiest = max(clocks, key=lambda unit: clocks[unit])
    moved = read + written
    turns = gpu.copied / moved  # per clock, at the speed of a copy
    blocks = REGISTERS // ((registers + 7) // 8 * 8 * threads)
    warps = min(WARPS, blocks * threads // 32)
    on_their_way = warps * 32 * read
    needed = gpu.copied * gpu.clock * LOAD_SECONDS * read / moved
    return Ceiling(
        issue=LANES_ISSUED / (units.total() * turns),
        units=1 / (clocks[busiest] * turns),
        occupancy=on_their_way / needed if read else math.inf,
        unit=busiest,
    )
