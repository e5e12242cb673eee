"""Live variables after each `if`: only these must have a value in both branches.

The analysis goes backwards through the statements of one function. Where it cannot know it says
that a variable is read.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dali_core.pipeline.conditionals.names import (
    assigned,
    captured,
    declared_elsewhere,
    read,
)


def live_after_ifs(body: Sequence[ast.stmt]) -> dict[ast.If, set[str]]:
    """Find the variables of a function that are read after each of its `if` statements.

    Parameters
    ----------
    body : sequence of ast.stmt
        Statements of the function.

    Returns
    -------
    dict of ast.If to set of str
        For each `if`, variables that may be read before they are assigned again.
    """
    analysis = _Analysis(captured(body) | declared_elsewhere(body))
    analysis.before(body, set(analysis.always), _Targets(set(), set()))
    return analysis.after_if


class _Targets:
    """What is read where `break` and `continue` lead to."""

    def __init__(self, at_break: set[str], at_continue: set[str]) -> None:
        self.at_break = at_break
        self.at_continue = at_continue


class _Analysis:
    def __init__(self, always: set[str]) -> None:
        self.always = always
        self.after_if: dict[ast.If, set[str]] = {}

    def before(self, body: Sequence[ast.stmt], after: set[str], targets: _Targets) -> set[str]:
        """Return what is read from the first of these statements on."""
        live = after
        for statement in reversed(body):
            live = self._before_one(statement, live, targets) | self.always
        return live

    def _before_one(self, node: ast.stmt, after: set[str], targets: _Targets) -> set[str]:
        if isinstance(node, ast.If):
            self.after_if[node] = self.after_if.get(node, set()) | after
            sides = self.before(node.body, after, targets) | self.before(
                node.orelse, after, targets
            )
            return sides | read([node.test])
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
            return self._before_loop(node, after, targets)
        if isinstance(node, (ast.With, ast.AsyncWith)):
            inside = self.before(node.body, after, targets)
            bound = assigned(item.optional_vars for item in node.items if item.optional_vars)
            return (inside - set(bound)) | read(node.items)
        if isinstance(node, ast.Return):
            return read([node])
        if isinstance(node, ast.Raise):
            # It may be caught in this function.
            return after | read([node])
        if isinstance(node, ast.Break):
            return set(targets.at_break)
        if isinstance(node, ast.Continue):
            return set(targets.at_continue)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self._before_try(node, after, targets)  # type: ignore[arg-type]
        if isinstance(node, ast.Match):
            live = set(after)
            for case in node.cases:
                inside = self.before(case.body, after, targets) | read(filter(None, [case.guard]))
                live |= inside - set(assigned([case.pattern])) | read([case.pattern])
            return live | read([node.subject])
        if isinstance(node, ast.AugAssign):
            return after | read([node])
        return (after - set(assigned([node]))) | read([node])

    def _before_try(self, node: ast.Try, after: set[str], targets: _Targets) -> set[str]:
        at_end = self.before(node.finalbody, after, targets)
        at_failure = set(at_end) if node.finalbody else set()
        for handler in node.handlers:
            inside = self.before(handler.body, at_end, targets)
            at_failure |= inside | read(filter(None, [handler.type]))
        # Any statement inside may be the last one before a handler.
        outer, self.always = self.always, self.always | at_failure
        live = self.before([*node.body, *node.orelse], at_end, targets)
        self.always = outer
        return live | at_failure

    def _before_loop(
        self, node: ast.For | ast.AsyncFor | ast.While, after: set[str], targets: _Targets
    ) -> set[str]:
        at_end = self.before(node.orelse, after, targets)
        head = [node.test] if isinstance(node, ast.While) else []
        target = [] if isinstance(node, ast.While) else [node.target]
        begin = at_end | read(head)
        while True:
            # The loop may go round again: what its beginning reads is read after its end.
            inside = self.before(node.body, begin, _Targets(after, begin))
            again = begin | (inside - set(assigned(target)))
            if again == begin:
                break
            begin = again
        return begin if isinstance(node, ast.While) else begin | read([node.iter, node.target])
