"""Rewrites a function so that its conditions may be about data.

The function stays one function with its own lines. An `if` is transformed to this::

    if p: x = f()           branch = _dali_core.branch(p, True, ("x",), (True,), (lambda: x,))
    else: x = g()           with branch.side(True):
                                if branch.runs: x = f(); branch.leave()
                            if branch.is_traced: <set x to what it was before>
                            with branch.side(False):
                                if branch.runs: x = g(); branch.leave()
                            if branch.is_traced: <set x to what both branches gave>

If `p` is no data, one side runs and nothing else happens. The other expressions become calls that
evaluate their parts by need: ``_dali_core.if_expression(p, lambda: a, lambda: b)``. What a function
calls is passed through ``_dali_core.convert``, which rewrites the functions of the user likewise.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dali_core.pipeline.conditionals.jumps import PREFIX, RUNTIME, is_plain, replace_jumps
from dali_core.pipeline.conditionals.liveness import live_after_ifs
from dali_core.pipeline.conditionals.names import Scope, assigned, walk_own
from dali_core.pipeline.conditionals.places import place, place_new
from dali_core.pipeline.conditionals.source import FunctionNode

_SUSPENDING = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith)
_LOOKS_AT_FRAME = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}


def transform(function: FunctionNode) -> FunctionNode:
    """Rewrite a function, and the functions that are defined in it.

    Parameters
    ----------
    function : ast.FunctionDef, ast.AsyncFunctionDef or ast.Lambda
        The function. It is changed.

    Returns
    -------
    ast.FunctionDef, ast.AsyncFunctionDef or ast.Lambda
        The same node. It has one more free variable, `_dali_core`.
    """
    transformer = _Transformer()
    if isinstance(function, ast.Lambda):
        function.body = transformer.visit(function.body)
    else:
        transformer.function_body(function)
    return function


class _Transformer(ast.NodeTransformer):
    def __init__(self) -> None:
        self._live: dict[ast.If, set[str]] = {}
        self._num_branches = 0

    def function_body(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Rewrite the statements of a function."""
        if isinstance(node, ast.FunctionDef) and not _contains(node.body, _SUSPENDING):
            replace_jumps(node)
        outer, self._live = self._live, live_after_ifs(node.body)
        new: list[ast.stmt] = []
        for statement in node.body:
            result = self.visit(statement)
            new += result if isinstance(result, list) else [result]
        node.body = new
        self._live = outer

    # Definitions

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """Rewrite a function inside the function, unless it says that it must stay as it is."""
        return self._definition(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        """Rewrite a coroutine inside the function."""
        return self._definition(node)

    def _definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        node.decorator_list = [self.visit(item) for item in node.decorator_list]
        node.args = self.visit(node.args)
        if not _must_stay(node):
            self.function_body(node)
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """Rewrite the methods of a class; lambdas could not see the rest of its scope."""
        for statement in node.body:
            if isinstance(statement, ast.ClassDef):
                self.visit_ClassDef(statement)
            elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) and (
                not _must_stay(statement)
            ):
                self.function_body(statement)
        return node

    # Statements

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        """Rewrite an `if`."""
        live = self._live[node]
        inside = [*node.body, *node.orelse]
        stays = is_plain(node) or _jumps(inside) or _contains(inside, _SUSPENDING)
        names = [] if stays else assigned(inside)
        self.generic_visit(node)
        if stays:
            if not is_plain(node):
                node.test = _call("plain", node, node.test)
            return node
        self._num_branches += 1
        branch = f"{PREFIX}branch_{self._num_branches}"
        is_live = tuple(name in live or not name.isidentifier() for name in names)
        getters = "".join(f"lambda: {name}, " for name in names)
        start = ast.parse(
            f"{branch} = {RUNTIME}.branch("
            f"TEST, {bool(node.orelse)}, {tuple(names)}, {is_live}, ({getters}))"
        )
        assert isinstance(start.body[0], ast.Assign)
        assert isinstance(start.body[0].value, ast.Call)
        start.body[0].value.args[0] = node.test
        statements = start.body
        for wanted, body in ((True, node.body), (False, node.orelse)):
            if body:
                statements.append(_side(branch, wanted, body))
            if body and names:
                statements.append(_settlement(branch, names))
        return [_at(statement, node) for statement in statements]

    # Expressions

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Rewrite ``a if condition else b``."""
        self.generic_visit(node)
        if not _fits_lambda(node.body, node.orelse):
            node.test = _call("plain", node.test, node.test)
            return node
        return _call("if_expression", node, node.test, _lazy(node.body), _lazy(node.orelse))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        """Rewrite `and` and `or`."""
        self.generic_visit(node)
        first, *others = node.values
        if not _fits_lambda(*others):
            *but_last, last = node.values
            checked = [_call("plain", value, value) for value in but_last]
            node.values = [*checked, last]
            return node
        name = "all_of" if isinstance(node.op, ast.And) else "any_of"
        return _call(name, node, first, *map(_lazy, others))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """Rewrite `not`."""
        self.generic_visit(node)
        return _call("negation", node, node.operand) if isinstance(node.op, ast.Not) else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Rewrite what is called, when it is called."""
        self.generic_visit(node)
        function = node.func
        is_own = isinstance(function, ast.Attribute) and _is_name(function.value, {RUNTIME})
        if not is_own and not _is_name(function, _LOOKS_AT_FRAME):
            node.func = _call("convert", function, function)
        return node


def _side(branch: str, wanted: bool, body: Sequence[ast.stmt]) -> ast.stmt:
    side = ast.parse(f"with {branch}.side({wanted}):\n if {branch}.runs:\n  {branch}.leave()").body[
        0
    ]
    assert isinstance(side, ast.With)
    assert isinstance(side.body[0], ast.If)
    side.body[0].body[:0] = body
    return side


def _settlement(branch: str, names: Sequence[str]) -> ast.stmt:
    lines = [f"if {branch}.is_traced:", f" {branch}.settle()"]
    for number, name in enumerate(names):
        lines.append(f" if {branch}.sets({number}): {name} = {branch}.value({number})")
        lines.append(f" elif {branch}.deletes({number}): del {name}")
    return ast.parse("\n".join(lines)).body[0]


def _at(node: ast.stmt, where: ast.AST) -> ast.stmt:
    """Set the place of all nodes that come from a template to that of an `if`."""
    template: list[ast.AST] = [node]
    if isinstance(node, ast.With):
        conditional = node.body[0]
        assert isinstance(conditional, ast.If)
        template = [*node.items, conditional.test, conditional.body[-1]]
        place(node, where)
        place(conditional, where)
    elif isinstance(node, ast.Assign):
        assert isinstance(node.value, ast.Call)
        template = [*node.targets, node.value.func, *node.value.args[1:]]
        place(node, where)
        place(node.value, where)
    for outer in template:
        for inner in ast.walk(outer):
            place(inner, where)
    return node


def _call(name: str, where: ast.AST, *arguments: ast.expr) -> ast.expr:
    function = ast.Attribute(ast.Name(RUNTIME, ast.Load()), name, ast.Load())
    return place_new(ast.Call(function, list(arguments), []), where)


def _lazy(value: ast.expr) -> ast.expr:
    arguments = ast.arguments(
        posonlyargs=[], args=[], vararg=None, kwonlyargs=[], kw_defaults=[], kwarg=None, defaults=[]
    )
    return ast.copy_location(ast.Lambda(arguments, value), value)


def _fits_lambda(*values: ast.expr) -> bool:
    """Return whether expressions mean the same inside a function of their own."""
    kinds = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)
    return not any(isinstance(node, kinds) for node in walk_own(values))


def _jumps(statements: Sequence[ast.stmt]) -> bool:
    """Return whether statements leave the block that they are in."""

    def search(node: ast.AST, in_loop: bool) -> bool:
        if isinstance(node, Scope):
            return False
        if isinstance(node, ast.Return) or (
            isinstance(node, (ast.Break, ast.Continue)) and not in_loop
        ):
            return True
        in_loop = in_loop or isinstance(node, (ast.For, ast.AsyncFor, ast.While))
        return any(search(child, in_loop) for child in ast.iter_child_nodes(node))

    return any(search(statement, False) for statement in statements)


def _contains(statements: Sequence[ast.stmt], kinds: tuple[type[ast.AST], ...]) -> bool:
    return any(isinstance(node, kinds) for node in walk_own(statements))


def _must_stay(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return "do_not_convert" in names


def _is_name(node: ast.AST, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names
