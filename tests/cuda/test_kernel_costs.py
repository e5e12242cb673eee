"""The instructions of kernels leave them the speed that is asked for, on the GPUs of the model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.gpu_model import GPUS, ceiling
from benchmarks.kernel_case import KernelCase
from benchmarks.kernel_cases import CASES
from benchmarks.kernel_costs import CUBINS, share_of
from benchmarks.sass import Code, Instruction, cheapest_turn, find_nvdisasm

H100, H200 = GPUS[1:3]

pytestmark = [
    pytest.mark.skipif(
        not (CUBINS / "kernels.json").exists(), reason="the library was built without CUDA"
    ),
    pytest.mark.skipif(find_nvdisasm() is None, reason="not available: nvidia-cuda-nvdisasm"),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_instructions_permit_the_bandwidth_of_a_copy(case: KernelCase) -> None:
    assert share_of(case, H100) >= case.floor
    assert share_of(case, H200) >= case.floor_with_more_bandwidth


def code_of(text: str) -> Code:
    """A kernel of instructions, one a line; ``name:`` is a label."""
    code = Code()
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        if words[0].endswith(":"):
            code.labels[words[0][:-1]] = len(code.instructions)
            continue
        predicate = words.pop(0) if words[0].startswith("@") else ""
        targets = [word for word in words[1:] if word.startswith("L")]
        code.instructions.append(Instruction(words[0], predicate, " ".join(words[1:]), targets))
    code.kernels["kernel"] = range(len(code.instructions))
    return code


LOOP = """
LDG.E.64 R2
L0:
LDG.E.U8 R0
@P0 BRA L1
IADD3 R1
IADD3 R1
STG.E R0
BRA L2
L1:
CALL.REL.NOINC LF
STG.E.128 R0
L2:
@!P1 BRA L0
EXIT
LF:
MOV R9
RET.REL.NODEC R2
"""


def names(turn: list[Instruction]) -> list[str]:
    return [instruction.opcode for instruction in turn]


def test_loop_iteration_with_the_accesses_is_counted() -> None:
    code = code_of(LOOP)
    short = cheapest_turn(code, "kernel", Counter({"load 1": 1, "store 4": 1}))
    assert names(short) == [*("LDG.E.U8", "BRA", "IADD3", "IADD3", "STG.E", "BRA", "BRA")]
    wide = cheapest_turn(code, "kernel", Counter({"load 1": 1, "store 16": 1}))
    assert names(wide) == [
        *("LDG.E.U8", "BRA", "CALL.REL.NOINC", "MOV", "RET.REL.NODEC", "STG.E.128", "BRA")
    ]
    assert cheapest_turn(code, "kernel", Counter({"store 8": 1})) == []
    twice = cheapest_turn(code, "kernel", Counter({"load 1": 2, "store 4": 2}))
    assert len(twice) == 2 * len(short)


def test_ceiling_is_the_lowest_limit() -> None:
    adds = [Instruction("IADD3", "", "", [])] * 64
    limits = ceiling(adds, H100, registers=32, threads=256, read=16, written=16)
    # 64 integer instructions take a clock of 64 lanes, and half of one to be issued.
    assert limits.unit == "integer"
    assert limits.units == pytest.approx(32 / H100.copied)
    assert limits.issue == pytest.approx(2 * limits.units)
    assert limits.share == min(limits.issue, limits.units, limits.occupancy)
    many = ceiling(adds, H100, registers=255, threads=256, read=16, written=16)
    assert many.occupancy < limits.occupancy / 7


def test_disassembler_is_found_in_its_package() -> None:
    assert Path(find_nvdisasm() or "").name == "nvdisasm"
