"""Variables, attributes and items that a piece of a program reads and assigns.

A variable is named by itself, an attribute or item by its expression, such as ``o.x`` or
``d['key']``. Of the latter only those count that can be looked up without calling anything but the
object itself: a chain of attributes, constant keys and variables as keys, that begins with a
variable.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

Scope = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
"""Nodes that have variables of their own."""

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def walk_own(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Return the nodes of a piece of a program without what is inside functions and classes in it.

    Parameters
    ----------
    nodes : iterable of ast.AST
        Where to begin.

    Yields
    ------
    ast.AST
        A node; of a function or class it is the node alone.
    """
    for node in nodes:
        yield node
        if isinstance(node, Scope):
            yield from walk_own(_evaluated_outside(node))
        else:
            yield from walk_own(ast.iter_child_nodes(node))


def _evaluated_outside(node: ast.AST) -> list[ast.AST]:
    """What of a definition is evaluated where it stands."""
    found: list[ast.AST] = list(getattr(node, "decorator_list", []))
    if isinstance(node, ast.ClassDef):
        return [*found, *node.bases, *node.keywords]
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
    return [*found, *node.args.defaults, *filter(None, node.args.kw_defaults)]


def assigned(nodes: Iterable[ast.AST]) -> list[str]:
    """List what a piece of a program assigns or deletes, in the order of the text.

    Parameters
    ----------
    nodes : iterable of ast.AST
        Statements of one function.

    Returns
    -------
    list of str
        Variables, attributes and items, each once.
    """
    nodes = list(nodes)
    kept_inside = {id(node) for outer in walk_own(nodes) for node in _comprehension_targets(outer)}
    found: dict[str, None] = {}
    for node in walk_own(nodes):
        if id(node) not in kept_inside:
            for name in _names_bound_by(node):
                found[name] = None
    variables = {name for name in found if name.isidentifier()}
    return [name for name in found if name.isidentifier() or not root_names(name) & variables]


def _comprehension_targets(node: ast.AST) -> Iterator[ast.AST]:
    for generator in getattr(node, "generators", []):
        yield from ast.walk(generator.target)


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        if isinstance(node.ctx, (ast.Store, ast.Del)) and is_simple(node):
            yield ast.unparse(node)
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, (ast.Import, ast.ImportFrom)):
        for alias in node.names:
            yield alias.asname or alias.name.partition(".")[0]
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        if node.name is not None:
            yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest is not None:
        yield node.rest


def is_simple(node: ast.AST) -> bool:
    """Return whether looking up an expression calls nothing but the object itself."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return is_simple(node.value)
    if isinstance(node, ast.Subscript):
        return is_simple(node.value) and _is_key(node.slice)
    return False


def _is_key(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Tuple):
        return all(_is_key(item) for item in node.elts)
    return isinstance(node, (ast.Name, ast.Constant))


def root_names(expression: str) -> set[str]:
    """Return the variables that an attribute or item depends on."""
    tree = ast.parse(expression, mode="eval")
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def read(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the variables that a piece of a program reads, also in functions defined in it.

    Parameters
    ----------
    nodes : iterable of ast.AST
        Expressions or statements.
    """
    found: set[str] = set()
    for node in nodes:
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store):
                found.add(inner.id)
            elif isinstance(inner, ast.AugAssign) and isinstance(inner.target, ast.Name):
                found.add(inner.target.id)
    return found


def captured(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the variables that functions and classes defined in a piece of a program use."""
    found: set[str] = set()
    for node in walk_own(nodes):
        if isinstance(node, Scope):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Name):
                    found.add(inner.id)
                elif isinstance(inner, ast.Nonlocal):
                    found.update(inner.names)
    return found


def declared_elsewhere(nodes: Iterable[ast.AST]) -> set[str]:
    """Return the variables that a function declares as global or nonlocal."""
    return {
        name
        for node in walk_own(nodes)
        if isinstance(node, (ast.Global, ast.Nonlocal))
        for name in node.names
    }
