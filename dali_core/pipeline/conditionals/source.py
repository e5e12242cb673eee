"""Finds the syntax tree of a function in the file that it was read from."""

from __future__ import annotations
import __future__

import ast
import copy
import functools
import inspect
import sys
from types import CodeType, FunctionType
from typing import Any, TypeGuard

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

_FUTURE_FLAGS = functools.reduce(
    int.__or__, (getattr(__future__, name).compiler_flag for name in __future__.all_feature_names)
)


class SourceMissing(Exception):  # noqa: N818 (says why a function stays as it is)
    """The source of a function cannot be found."""


def find_function(function: FunctionType) -> FunctionNode:
    """Return a copy of the syntax tree of a function.

    Parameters
    ----------
    function : function
        A function, method or lambda. Functions behind its decorators do not matter.

    Returns
    -------
    ast.FunctionDef, ast.AsyncFunctionDef or ast.Lambda
        The node, with the line numbers of the file.

    Raises
    ------
    SourceMissing
        If there is no source, as in an interactive session, or if it does not fit the function.
    """
    code = function.__code__
    try:
        lines, _ = inspect.findsource(code)
        tree = _parse("".join(lines), code.co_filename)
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        raise SourceMissing(f"its source is not available ({error})") from error
    candidates = [node for node in ast.walk(tree) if _is_function(node) and _may_be(node, code)]
    if len(candidates) > 1:
        same = [node for node in candidates if _is_same(compile_function(node, function), code)]
        # What is the same in all respects does the same.
        candidates = same[:1]
    if not candidates:
        raise SourceMissing("its source has changed, or there are others like it on the same line")
    return copy.deepcopy(candidates[0])


@functools.lru_cache(maxsize=32)
def _parse(text: str, filename: str) -> ast.Module:
    return ast.parse(text, filename)


def _is_function(node: ast.AST) -> TypeGuard[FunctionNode]:
    return isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))


def _may_be(node: FunctionNode, code: CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        first_line, name = node.lineno, "<lambda>"
    else:
        first_line = min(line.lineno for line in (node, *node.decorator_list))
        name = node.name
    return (
        first_line == code.co_firstlineno
        and name == code.co_name
        and _parameters(node) == (code.co_varnames[: len(_parameters(node))])
    )


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    arguments = node.args
    names = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names += [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return tuple(argument.arg for argument in names)


def _is_same(code: CodeType, other: CodeType) -> bool:
    return code.co_code == other.co_code and _plain(code) == _plain(other)


def _plain(code: CodeType) -> tuple[object, ...]:
    constants = [repr(value) for value in code.co_consts if not isinstance(value, CodeType)]
    return (code.co_names, code.co_varnames, code.co_freevars, constants)


def compile_function(
    node: FunctionNode, function: FunctionType, runtime: str | None = None
) -> CodeType:
    """Compile a function's node as if it stood where the function was defined.

    Parameters
    ----------
    node : ast.AST
        The function's node, or one made from it. It is not changed.
    function : function
        The function; its free variables, class and ``__future__`` imports count.
    runtime : str, optional
        Name of one more free variable.

    Returns
    -------
    code
        The code; its free variables are those that it needs of the given ones.
    """
    code = function.__code__
    inner = _bare(node)
    body: ast.stmt = ast.Expr(inner) if isinstance(inner, ast.Lambda) else inner
    names = [*code.co_freevars, *([runtime] if runtime else [])]
    parents = function.__qualname__.split(".")[:-1]
    is_method = bool(parents) and parents[-1] != "<locals>"
    # Private names of a class are mangled, so a method is compiled inside one.
    lines = [f"def outer({', '.join(names)}):"]
    lines.append(f" class {parents[-1]}: pass" if is_method else " pass")
    module = ast.parse("\n".join(lines))
    outer: Any = module.body[0]
    if is_method:
        outer.body[0].body = [body]
    else:
        outer.body = [body]
    defined = getattr(outer.body[0], "name", None)
    if defined is not None and defined not in names:
        # A function that calls itself, or names its class, finds them where the original does.
        outer.body.insert(0, ast.Global([defined]))
    ast.fix_missing_locations(module)
    flags = code.co_flags & _FUTURE_FLAGS
    found = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    for _ in range(3 if is_method else 2):
        found = next(constant for constant in found.co_consts if isinstance(constant, CodeType))
    return _rename(found, function.__qualname__)


def _bare(node: FunctionNode) -> FunctionNode:
    """Leave out what is not part of the function's code: decorators, defaults, annotations."""
    node = copy.copy(node)
    node.args = copy.copy(node.args)
    node.args.defaults = [ast.Constant(None) for _ in node.args.defaults]
    node.args.kw_defaults = [value and ast.Constant(None) for value in node.args.kw_defaults]
    if not isinstance(node, ast.Lambda):
        # The code begins where its first decorator stands.
        where = node.decorator_list[:1]
        node.decorator_list = [ast.copy_location(ast.Constant(None), line) for line in where]
        node.returns = None
        if hasattr(node, "type_params"):
            node.type_params = []
        for name in ("posonlyargs", "args", "kwonlyargs"):
            arguments = getattr(node.args, name)
            setattr(node.args, name, [ast.arg(argument.arg) for argument in arguments])
        for name in ("vararg", "kwarg"):
            argument = getattr(node.args, name)
            setattr(node.args, name, argument and ast.arg(argument.arg))
    return node


def _rename(code: CodeType, name: str) -> CodeType:
    """Set the qualified name of code of a function, and what is defined in it names below."""
    if sys.version_info < (3, 11):
        return code  # it knows no qualified names
    return _with_prefix(code, len(code.co_qualname), name)


def _with_prefix(code: CodeType, length: int, name: str) -> CodeType:
    if sys.version_info < (3, 11):
        return code
    constants = tuple(
        _with_prefix(constant, length, name) if isinstance(constant, CodeType) else constant
        for constant in code.co_consts
    )
    return code.replace(co_qualname=name + code.co_qualname[length:], co_consts=constants)
