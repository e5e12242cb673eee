"""Replaces `return`, `break` and `continue` by variables, if there are any below an `if`.

Whether they happen may differ from sample to sample. So each sets a variable to True, and whatever
would have been jumped over is in an `if` of its own. Where no data is involved the program does
what it did before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dali_core.pipeline.conditionals.names import Scope
from dali_core.pipeline.conditionals.places import place_new

RUNTIME = "_dali_core"
"""Name of what the transformed program calls."""

PREFIX = "_dali_core_"
"""What the names of variables begin with that are not the user's."""

RETURNED = PREFIX + "returned"
RESULT = PREFIX + "result"


def replace_jumps(function: ast.FunctionDef) -> None:
    """Replace the jumps of a function, if one is below an `if`; functions inside it stay.

    Parameters
    ----------
    function : ast.FunctionDef
        The function. It is changed.
    """
    if not any(_jumps_below_if(statement) for statement in function.body):
        return
    rewriting = _Rewriting()
    has_docstring = ast.get_docstring(function, clean=False) is not None
    first, body = function.body[:has_docstring], function.body[has_docstring:]
    end = place_new(ast.Return(ast.Constant(None)), function.body[-1])
    new = rewriting.block([*body, end], None).statements
    last = ast.Return(ast.Name(RESULT, ast.Load()))
    start = _assign(RETURNED, ast.Constant(False), function.body[0])
    function.body = [*first, start, *new, place_new(last, function.body[-1])]


@dataclass
class _Block:
    """Rewritten statements, and the variables by which they say what is to be jumped over."""

    statements: list[ast.stmt]
    flags: set[str]
    ends: bool = False


@dataclass
class _Loop:
    broken: str
    skipped: str


class _Rewriting:
    def __init__(self) -> None:
        self._num_loops = 0

    def block(self, statements: Sequence[ast.stmt], loop: _Loop | None) -> _Block:
        """Rewrite statements; `loop` is the innermost one that they are in."""
        new: list[ast.stmt] = []
        flags: set[str] = set()
        for number, statement in enumerate(statements):
            one = self._one(statement, loop)
            new += one.statements
            flags |= one.flags
            rest = statements[number + 1 :]
            if one.ends:
                return _Block(new, flags, True)
            if one.flags and rest:
                behind = self.block(rest, loop)
                new.append(_guarded(one.flags, behind.statements, rest[0]))
                return _Block(new, flags | behind.flags)
        return _Block(new, flags)

    def _one(self, node: ast.stmt, loop: _Loop | None) -> _Block:
        if isinstance(node, ast.Return):
            value = node.value or ast.Constant(None)
            flag = _assign(RETURNED, ast.Constant(True), node)
            return _Block([_assign(RESULT, value, node), flag], {RETURNED}, True)
        if isinstance(node, ast.Break):
            assert loop is not None
            return _jump(node, loop.broken)
        if isinstance(node, ast.Continue):
            assert loop is not None
            return _jump(node, loop.skipped)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._loop(node, loop)
        if isinstance(node, Scope):
            return _Block([node], set())
        flags = self._inside(node, loop)
        return _Block([node], flags)

    def _inside(self, node: ast.stmt, loop: _Loop | None) -> set[str]:
        """Rewrite the blocks of a statement that is no loop."""
        flags: set[str] = set()
        for name in ("body", "orelse", "finalbody"):
            statements = getattr(node, name, None)
            if not statements:
                continue
            block = self.block(statements, loop)
            if name == "orelse" and flags and not isinstance(node, ast.If):
                # The `else` of a `try` is part of what is jumped over.
                block.statements = [_guarded(flags, block.statements, statements[0])]
            setattr(node, name, block.statements)
            flags = flags | block.flags
        for part in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
            block = self.block(part.body, loop)
            part.body = block.statements
            flags = flags | block.flags
        return flags

    def _loop(self, node: ast.For | ast.AsyncFor | ast.While, outer: _Loop | None) -> _Block:
        self._num_loops += 1
        number = self._num_loops
        loop = _Loop(f"{PREFIX}broken_{number}", f"{PREFIX}skipped_{number}")
        inside = self.block(node.body, loop)
        body = inside.statements
        if loop.skipped in inside.flags:
            body = [_assign(loop.skipped, ast.Constant(False), node.body[0]), *body]
        stops = inside.flags & {RETURNED, loop.broken}
        behind = self.block(node.orelse, outer)
        if not stops:
            node.body, node.orelse = body, behind.statements
            return _Block([node], behind.flags)
        is_for = not isinstance(node, ast.While)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            # After the loop was left, the loop's variable keeps its value as well.
            item = f"{PREFIX}item_{number}"
            assignment = ast.Assign([node.target], ast.Name(item, ast.Load()))
            body = [_guarded(stops, [place_new(assignment, node), *body], node)]
            node.target = place_new(ast.Name(item, ast.Store()), node.target)
        leave = ast.If(_call("is_over" if is_for else "while_is_over", stops), [ast.Break()], [])
        node.body = [*body, plain(place_new(leave, node))]
        node.orelse = []
        new: list[ast.stmt] = [node]
        if loop.broken in stops:
            new.insert(0, _assign(loop.broken, ast.Constant(False), node))
        if behind.statements:
            new.append(_guarded(stops, behind.statements, behind.statements[0]))
        return _Block(new, (stops & {RETURNED}) | behind.flags)


def plain(node: ast.If) -> ast.If:
    """Mark an `if` that is never about data."""
    node.is_plain = True  # type: ignore[attr-defined]
    return node


def is_plain(node: ast.If) -> bool:
    """Return whether an `if` is marked by `plain`."""
    return getattr(node, "is_plain", False)


def _jump(node: ast.stmt, flag: str) -> _Block:
    return _Block([_assign(flag, ast.Constant(True), node)], {flag}, True)


def _guarded(flags: Iterable[str], body: list[ast.stmt], where: ast.AST) -> ast.If:
    """Run statements unless one of the flags is set. Inside, all of them are known to be False."""
    resets = [_assign(flag, ast.Constant(False), where) for flag in sorted(flags)]
    return place_new(ast.If(_call("none_of", flags), [*resets, *body], []), where)


def _call(name: str, flags: Iterable[str]) -> ast.Call:
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    return ast.Call(function, [ast.Name(flag, ast.Load()) for flag in sorted(flags)], [])


def _assign(name: str, value: ast.expr, where: ast.AST) -> ast.Assign:
    return place_new(ast.Assign([ast.Name(name, ast.Store())], value), where)


def _jumps_below_if(node: ast.AST, below_if: bool = False) -> bool:
    """Return whether a jump stands below an `if`, outside of functions and classes."""
    if isinstance(node, (ast.Return, ast.Break, ast.Continue)):
        return below_if
    if isinstance(node, Scope):
        return False
    below_if = below_if or isinstance(node, ast.If)
    return any(_jumps_below_if(child, below_if) for child in ast.iter_child_nodes(node))
