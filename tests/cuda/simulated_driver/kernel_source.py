"""Parses CUDA C++: the kernels of a file, and syntax that a host compiler does not support."""

from __future__ import annotations

import re
from dataclasses import dataclass

# ``extern __shared__ float tile[];`` has its size from the launch.
DYNAMIC_SHARED = re.compile(
    r"extern\s+__shared__\s+((?:__align__|alignas)\s*\(\s*\d+\s*\)\s*)?([\w:\s]+?)\s*(\w+)\s*\[\s*\]\s*;"
)
# The host compiler requires the alignment first.
ALIGNED_SHARED = re.compile(r"__shared__(\s+)(alignas\s*\([^()]*\))")
BARRIER = re.compile(r"\b__(syncthreads|syncwarp|shfl(_\w+)?_sync|ballot_sync|all_sync|any_sync)\b")
BLOCK_OF_C = 'extern "C"'
FUNCTION = re.compile(
    r"\b(?!(?:if|for|while|switch|catch)\b)(?P<name>\w+)\s*(?P<parameters>\()[^;{}]*\)[\w\s]*\{"
)
TOKEN = re.compile(
    r"""
    (?P<block_of_c>\bextern\s*"C"\s*\{)
    | (?P<text>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+')
    | \bnamespace\s+(?P<namespace>[\w:]*)\s*\{
    | (?P<open>\{) | (?P<close>\})
    | (?P<c_name>\bextern\s*"C"\s*)?
      \b__global__\b (?:\s+|\bvoid\b|__launch_bounds__\s*\([^()]*\))+ (?P<kernel>\w+)\s*\(
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class KernelSource:
    """A kernel that programs look up by name.

    Attributes
    ----------
    name : str
        Its name, without namespaces.
    scope : str
        The namespaces that it is in.
    has_barriers : bool
        Whether it contains barriers.
    """

    name: str
    scope: str
    has_barriers: bool

    @property
    def registration(self) -> str:
        """The line that registers it in the driver."""
        path = f"{self.scope}::{self.name}" if self.scope else self.name
        return f"SIMULATED_KERNEL({self.name}, {path}, {str(self.has_barriers).lower()})"


def for_host(text: str) -> str:
    """Replace syntax without a counterpart on the host; line numbers do not change."""
    text = DYNAMIC_SHARED.sub(r"\2* \3 = static_cast<\2*>(::simulated::dynamic_shared());", text)
    return ALIGNED_SHARED.sub(r"\2\1__shared__", text)


def find_kernels(text: str) -> list[KernelSource]:
    """Return the kernels with C names in a preprocessed source."""
    scopes: list[str] = []  # namespaces, and other blocks
    found: list[tuple[str, str, str]] = []
    outside = []
    position = 0
    end_of_kernel = 0
    while match := TOKEN.search(text, position):
        position = match.end()
        if match["namespace"] is not None:
            scopes.append(match["namespace"])
        elif match["block_of_c"]:
            scopes.append(BLOCK_OF_C)
        elif match["open"]:
            scopes.append("")
        elif match["close"] and scopes:
            scopes.pop()
        elif match["kernel"] and (match["c_name"] or BLOCK_OF_C in scopes):
            body_end = _end_of_definition(text, position)
            if body_end is None:  # a declaration
                continue
            scope = "::".join(name for name in scopes if name not in ("", BLOCK_OF_C))
            found.append((match["kernel"], scope, text[position:body_end]))
            outside.append(text[end_of_kernel : match.start()])
            position = end_of_kernel = body_end
    outside.append(text[end_of_kernel:])
    waits = _functions_that_wait("".join(outside))
    return [KernelSource(name, scope, bool(waits.search(body))) for name, scope, body in found]


def _functions_that_wait(text: str) -> re.Pattern[str]:
    """A pattern that matches kernels that call a barrier, directly or in functions."""
    waits = BARRIER
    if not waits.search(text):
        return waits
    bodies: dict[str, str] = {}
    for match in FUNCTION.finditer(text):
        end = _end_of_definition(text, match.start("parameters") + 1)
        bodies[match["name"]] = bodies.get(match["name"], "") + text[match.end() : end]
    names: set[str] = set()
    while more := {name for name, body in bodies.items() if waits.search(body)} - names:
        names |= more
        waits = re.compile(rf"{BARRIER.pattern}|\b({'|'.join(sorted(names))})\b")
    return waits


def _end_of_definition(text: str, position: int) -> int | None:
    """The end of the body of a function whose parameter list starts before `position`."""
    depth = 1
    while depth:
        match = re.compile(r"[()]").search(text, position)
        if match is None:
            return None
        depth += 1 if match.group() == "(" else -1
        position = match.end()
    opening = re.compile(r"[{;]").search(text, position)
    if opening is None or opening.group() == ";":
        return None
    depth, position = 1, opening.end()
    while depth:
        match = re.compile(r"""[{}]|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""").search(
            text, position
        )
        if match is None:
            return None
        depth += {"{": 1, "}": -1}.get(match.group(), 0)
        position = match.end()
    return position
