"""Instructions of compiled kernels, and the cheapest turn of a loop that does given accesses.

Cubins are disassembled by nvdisasm (package ``nvidia-cuda-nvdisasm``). Control flow is read off the
branches; nothing is executed.
"""

from __future__ import annotations

import functools
import gzip
import heapq
import importlib.util
import re
import struct
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_FUNCTION = re.compile(r"^\s*\.section\s+\.text\.(\w+)")
_LABEL = re.compile(r"^([.$\w]+):\s*$")
_INSTRUCTION = re.compile(
    r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:(@!?U?P[T\d]+)\s+)?([A-Z][\w.]*)\s*(.*?)\s*;"
)
_LABELS = re.compile(r"`\(([^)]+)\)|(\.L_x_\w+)")
_WIDTH = re.compile(r"\.(U8|S8|U16|S16|64|128)\b")
_BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
_SPACES = {"LDG": "load", "LD": "load", "STG": "store", "ST": "store"}
_SIZED_VALUE, _REGISTER_COUNT = 4, 0x2F
_LONGEST_TURNS = (256, 1024, 1 << 30)
_ENDS = ("EXIT", "RET", "BRA", "BRX", "JMP", "JMX", "KILL")


@dataclass
class Instruction:
    """One instruction; `targets` are labels, for branches and calls."""

    opcode: str
    predicate: str
    operands: str
    targets: list[str]

    @functools.cached_property
    def name(self) -> str:
        """The opcode without modifiers."""
        return self.opcode.partition(".")[0]

    @functools.cached_property
    def access(self) -> str:
        """What it accesses in global memory, such as ``load 16``; empty if nothing."""
        space = _SPACES.get(self.name)
        if space is None:
            return ""
        width = _WIDTH.search(self.opcode)
        return f"{space} {_BYTES[width[1]] if width else 4}"


@dataclass
class Code:
    """All functions of a cubin, one after the other."""

    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)
    kernels: dict[str, range] = field(default_factory=dict)
    registers: dict[str, int] = field(default_factory=dict)
    # Cached results of the search by the name of the case, as it takes a while.
    turns: dict[str, list[Instruction]] = field(default_factory=dict)
    _following: dict[int, tuple[int, ...]] = field(default_factory=dict)
    _calls: dict[int, tuple[int, ...]] = field(default_factory=dict)

    def following(self, place: int) -> tuple[int, ...]:
        """Return the places of instructions that may come after the one at a place."""
        if place not in self._following:
            self._following[place] = tuple(_successors(self, place))
        return self._following[place]

    def call_at(self, place: int) -> tuple[int, ...]:
        """Return the cheapest way through what is called at a place; empty if nothing is."""
        if place not in self._calls:
            is_call = self.instructions[place].name == "CALL"
            self._calls[place] = _cheapest_call(self, place) if is_call else ()
        return self._calls[place]

    def local_accesses(self, kernel: str) -> int:
        """Count instructions that access local memory, such as spilled registers."""
        return sum(self.instructions[i].name in ("LDL", "STL") for i in self.kernels[kernel])

    def divisions(self, kernel: str) -> int:
        """Count reciprocals, each of which stands for a division."""
        return sum(self.instructions[i].opcode == "MUFU.RCP" for i in self.kernels[kernel])


def find_nvdisasm() -> str | None:
    """Return the path of nvdisasm, or None if its package is not installed."""
    for package in ("nvidia.cu13", "nvidia.cuda_nvdisasm"):
        try:
            found = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        for folder in (found.submodule_search_locations or ()) if found else ():
            program = Path(folder, "bin", "nvdisasm")
            if program.exists():
                return str(program)
    return None


@functools.cache
def disassemble(cubin: Path) -> Code:
    """Return the instructions of a compressed cubin."""
    program = find_nvdisasm()
    if program is None:
        raise ModuleNotFoundError(
            "benchmarks.sass: nvdisasm is needed (not found). Install nvidia-cuda-nvdisasm."
        )
    image = gzip.decompress(cubin.read_bytes())
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(image)
        file.flush()
        command = [program, "-c", file.name]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    code = Code(registers=_read_registers(image))
    function, begin = "", 0
    for line in done.stdout.splitlines():
        if match := _FUNCTION.match(line):
            if function:
                code.kernels[function] = range(begin, len(code.instructions))
            function, begin = match[1], len(code.instructions)
        elif match := _LABEL.match(line):
            code.labels[match[1]] = len(code.instructions)
        elif match := _INSTRUCTION.match(line):
            targets = [a or b for a, b in _LABELS.findall(match[3])]
            code.instructions.append(Instruction(match[2], match[1] or "", match[3], targets))
    code.kernels[function] = range(begin, len(code.instructions))
    return code


def _read_registers(cubin: bytes) -> dict[str, int]:
    """Read the registers of a thread of each function, which are attributes in ``.nv.info``."""
    (offset,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", cubin, offset + i * size) for i in range(count)]

    def text(table: int, position: int) -> str:
        begin = sections[table][4] + position
        return cubin[begin : cubin.index(b"\0", begin)].decode()

    by_name = {text(names, section[0]): section for section in sections}
    symbols, info = by_name[".symtab"], by_name[".nv.info"]
    registers = {}
    place, end = info[4], info[4] + info[5]
    while place < end:
        # format, attribute, and a value or the size of one behind it
        form, attribute, value = struct.unpack_from("<BBH", cubin, place)
        place += 4
        if form == _SIZED_VALUE:
            if attribute == _REGISTER_COUNT:
                symbol, number = struct.unpack_from("<II", cubin, place)
                (name,) = struct.unpack_from("<I", cubin, symbols[4] + symbol * symbols[9])
                registers[text(symbols[6], name)] = number
            place += value
    return registers


def cheapest_turn(code: Code, kernel: str, accesses: Counter[str]) -> list[Instruction]:
    """Return the instructions of one turn of a loop, in their order.

    Parameters
    ----------
    code : Code
        The module.
    kernel : str
        The kernel that has the loop.
    accesses : Counter
        The accesses to global memory of the turn, such as ``{"load 4": 3, "store 16": 1}``: all
        stores, and at least these loads, since parameters may be loaded, too. What has a predicate
        may be an access or not. Other keys are opcodes, such as ``{"F2FP": 6}``, of which there
        are at least so many.

    Returns
    -------
    list of Instruction
        The fewest instructions that lead from an instruction back to itself and do these accesses;
        empty if there is no such loop. A call counts with the cheapest way through the function.
    """
    heads = {
        target
        for i in code.kernels[kernel]
        for target in code.following(i)
        if target <= i and target in code.kernels[kernel]
    }
    best: list[int] = []
    leading: dict[int, list[int]] = {}
    for place in code.kernels[kernel]:
        for following in code.following(place):
            leading.setdefault(following, []).append(place)
    # Short ones first: heads of other loops would be left in vain by every way through the kernel.
    for longest in _LONGEST_TURNS:
        for head in sorted(heads):
            limit = len(best) or longest
            distances = _distances_to(code, head, leading, limit)
            turn = _cheapest_way(code, head, accesses, distances, limit)
            if turn and (not best or len(turn) < len(best)):
                best = turn
        if best:
            break
    return [code.instructions[i] for i in best]


def _distances_to(
    code: Code, end: int, leading: dict[int, list[int]], limit: int
) -> dict[int, int]:
    """Return the fewest instructions from a place to `end`, for all with less than `limit`."""
    distances: dict[int, int] = {}
    queue = [(0, end)]
    while queue:
        distance, place = heapq.heappop(queue)
        if place not in distances and distance < limit:
            distances[place] = distance
            for earlier in leading.get(place, ()):
                heapq.heappush(queue, (distance + 1 + len(code.call_at(earlier)), earlier))
    return distances


def _cheapest_way(
    code: Code, head: int, accesses: Counter[str], distances: dict[int, int], limit: int
) -> list[int]:
    """Return the places of the cheapest turn of less than `limit` instructions, if there is one.

    Ways from which `head` is too far to be back in time are left.
    """
    kinds = sorted(accesses)
    wanted = tuple(accesses[kind] for kind in kinds)
    start = (head, (0,) * len(kinds))
    before: dict[tuple[int, tuple[int, ...]], tuple[int, tuple[int, ...]]] = {}
    costs = {start: 0}
    queue = [(0, start)]
    while queue:
        cost, state = heapq.heappop(queue)
        if cost > costs[state] or cost >= limit:
            continue
        place, counts = state
        if place == head and counts == wanted and cost > 0:
            way = []
            while state in before:
                state = before[state]
                way.append(state[0])
                if state == start:
                    break
            return _with_calls(code, way[::-1])
        instruction = code.instructions[place]
        arrivals = [counts]
        if instruction.access or instruction.name in accesses:
            arrivals = list(_counted(instruction, kinds, counts, wanted))
        more = 1 + len(code.call_at(place))
        for following in code.following(place):
            if cost + more + distances.get(following, limit) >= limit:
                continue
            for counted in arrivals:
                arrived = (following, counted)
                if cost + more < costs.get(arrived, 1 << 30):
                    costs[arrived] = cost + more
                    before[arrived] = state
                    heapq.heappush(queue, (cost + more, arrived))
    return []


def _counted(
    instruction: Instruction, kinds: list[str], counts: tuple[int, ...], wanted: tuple[int, ...]
) -> Iterator[tuple[int, ...]]:
    """Yield what has been accessed behind an instruction, if that can be part of the turn."""
    access = instruction.access
    for k, kind in enumerate(kinds):
        is_kind = kind in (access, instruction.name)
        if is_kind and counts[k] < wanted[k]:
            yield (*counts[:k], counts[k] + 1, *counts[k + 1 :])
            if not instruction.predicate:
                return
    if not access.startswith("store") or instruction.predicate:
        yield counts


def _with_calls(code: Code, way: list[int]) -> list[int]:
    whole = []
    for place in way:
        whole += [place, *code.call_at(place)]
    return whole


def _cheapest_call(code: Code, place: int) -> tuple[int, ...]:
    """The cheapest way through the function that is called, which itself calls nothing."""
    target = next((t for t in code.instructions[place].targets if t in code.labels), None)
    if target is None:
        return ()
    begin = code.labels[target]
    ways: list[tuple[int, tuple[int, ...]]] = [(1, (begin,))]
    seen = set()
    while ways:
        length, way = heapq.heappop(ways)
        if way[-1] in seen:
            continue
        seen.add(way[-1])
        if code.instructions[way[-1]].name == "RET":
            return way
        for following in code.following(way[-1]):
            heapq.heappush(ways, (length + 1, (*way, following)))
    return ()


def _successors(code: Code, place: int) -> Iterator[int]:
    instruction = code.instructions[place]
    is_branch = instruction.name in ("BRA", "BRX", "JMP", "JMX")
    if is_branch:
        for target in instruction.targets:
            if target in code.labels:
                yield code.labels[target]
    # A branch of the warp has its condition among the operands.
    may_fall_through = instruction.predicate or (
        is_branch and re.match(r"(\.\w+)*\s*!?U?P\d|UP\d", instruction.operands)
    )
    if (instruction.name not in _ENDS or may_fall_through) and place + 1 < len(code.instructions):
        yield place + 1
