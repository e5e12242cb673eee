"""Count the instructions of kernels, and what share of a copy they allow.

``python -m benchmarks.kernel_costs`` disassembles the compiled kernels for three architectures. Of
each case it takes the loop that does the accesses to memory of one turn (see sass.py), counts its
instructions by unit, and prints the ceiling of gpu_model.py. No GPU is needed, and nothing is
measured: the numbers say what a kernel cannot exceed, not what it reaches.

``--sources PATH...`` compiles these ``.cu`` files again and uses the result.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from building.cubins import compile_module
from building.cuda_compilers import find_compilers

from .gpu_model import GPUS, Ceiling, Gpu, ceiling, unit_of
from .kernel_case import KernelCase
from .kernel_cases import CASES
from .sass import Code, Instruction, cheapest_turn, disassemble

ROOT = Path(__file__).resolve().parents[1]
CUBINS = ROOT / "dali_core" / "_cuda" / "cubins"


class NoSuchLoopError(LookupError):
    """A kernel has no loop with the accesses of its case."""


def turn_of(case: KernelCase, code: Code) -> list[Instruction]:
    """Return the instructions of one turn of the case's loop."""
    known = code.turns.get(case.name)
    if known is not None:
        return known
    turn = cheapest_turn(code, case.kernel, Counter(case.accesses))
    if not turn:
        raise NoSuchLoopError(
            f"{case.name}: {case.kernel} must have a loop with {dict(case.accesses)} (got none)."
        )
    code.turns[case.name] = turn
    return turn


def cubin_of(case: KernelCase, architecture: int, folder: Path = CUBINS) -> Path:
    """Return the path of the compiled module."""
    return folder / f"{case.module}.sm_{architecture}.cubin.gz"


def ceiling_of(case: KernelCase, gpu: Gpu, folder: Path = CUBINS) -> Ceiling:
    """Return the ceiling of one kernel of a case on a GPU."""
    code = disassemble(cubin_of(case, gpu.architecture, folder))
    turn = turn_of(case, code)
    registers = code.registers[case.kernel]
    return ceiling(turn, gpu, registers, case.threads, case.read, case.written)


def share_of(case: KernelCase, gpu: Gpu, folder: Path = CUBINS) -> float:
    """Return the share of a copy that all passes of a case can reach, one after the other."""
    share = ceiling_of(case, gpu, folder).share
    return 1 / (1 / share + 1 / share_of(case.then, gpu, folder)) if case.then else share


def describe(case: KernelCase, gpu: Gpu, folder: Path) -> str:
    """Return a line of the table, or one for each pass."""
    code = disassemble(cubin_of(case, gpu.architecture, folder))
    turn = turn_of(case, code)
    units = Counter(unit_of(instruction) for instruction in turn)
    limits = ceiling_of(case, gpu, folder)
    line = (
        f"{case.name:38} {len(turn):5} {len(turn) / (case.read + case.written):6.2f} "
        f"{units['special']:4} {units['memory']:4} {code.registers[case.kernel]:4} "
        f"{code.local_accesses(case.kernel):4} {code.divisions(case.kernel):4} "
        f"{limits.issue:7.0%} {limits.units:7.0%} ({limits.unit}) {limits.occupancy:7.0%}"
        f" {share_of(case, gpu, folder):7.0%}"
    )
    return f"{line}\n{describe(case.then, gpu, folder)}" if case.then else line


def main() -> None:
    """Print the table of each architecture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kernel_costs", description=__doc__)
    parser.add_argument("--sources", nargs="+", type=Path, default=[])
    parser.add_argument("--gpus", nargs="+", default=[gpu.name for gpu in GPUS])
    parser.add_argument("--show", help="the case whose instructions to print")
    arguments = parser.parse_args()
    gpus = [gpu for gpu in GPUS if gpu.name in arguments.gpus]
    with tempfile.TemporaryDirectory() as name:
        folder, cases = CUBINS, [case for case in CASES if not arguments.show]
        if arguments.show:
            cases = [case for case in CASES if case.name.startswith(arguments.show)]
        if arguments.sources:
            folder = Path(name)
            compilers = find_compilers()
            if compilers is None:
                raise SystemExit("--sources needs NVRTC and ptxas, the compilers of kernels.")
            for source in arguments.sources:
                compile_module(ROOT, ROOT / source, compilers, folder)
            stems = {source.stem for source in arguments.sources}
            cases = [case for case in cases if case.module in stems]
        for gpu in gpus:
            print(
                f"\n{gpu.name} (sm_{gpu.architecture}): a copy moves {gpu.copied:.1f} bytes", end=""
            )
            print(" per clock and multiprocessor")
            print(
                f"{'':38} instr. /byte conv mem. reg. loc. div.   issue   units           "
                " occupancy ceiling"
            )
            for case in cases:
                try:
                    print(describe(case, gpu, folder))
                except NoSuchLoopError as error:
                    print(f"{case.name:38} {error}")
                if arguments.show:
                    code = disassemble(cubin_of(case, gpu.architecture, folder))
                    for instruction in turn_of(case, code):
                        print(
                            "   ", instruction.predicate, instruction.opcode, instruction.operands
                        )


if __name__ == "__main__":
    main()
