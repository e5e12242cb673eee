"""Reference pages of errors, types and iterators, from their docstrings.

Sources are read, not imported: the frameworks of the iterators need not be there.
"""

from __future__ import annotations

import ast
import builtins
import enum
import inspect
import re
import shutil
from pathlib import Path

from dali_core import errors, types
from docs.generator import benchmarks

ROOT = Path(__file__).parents[2]
# Pages, and where their classes and functions are; without names, all public ones.
ITERATORS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "Loaders: `dali_core.pytorch.Loader`, `dali_core.jax.Loader`, `dali_core.Loader`": (
        ("dali_core/loaders/loader.py", ("BaseLoader",)),
        ("dali_core/loaders/placement.py", ("Placement",)),
    ),
    "PyTorch: `dali_core.plugin.pytorch`": (
        (
            "adapters/dali_core_pytorch/iterators.py",
            ("DALIGenericIterator", "DALIClassificationIterator", "DALIRaggedIterator"),
        ),
        ("adapters/dali_core_pytorch/dataset.py", ("DALIIterableDataset",)),
    ),
    "JAX: `dali_core.plugin.jax`": (
        ("adapters/dali_core_jax/iterators.py", ("DALIGenericIterator",)),
        ("adapters/dali_core_jax/peekable.py", ("DALIGenericPeekableIterator",)),
        ("adapters/dali_core_jax/definition.py", ("data_iterator", "peekable_data_iterator")),
    ),
    "All frameworks: `dali_core.plugin.base_iterator`": (
        ("dali_core/plugin/iterator.py", ("BaseIterator",)),
        ("dali_core/plugin/epoch_iterator.py", ("EpochIterator",)),
        ("dali_core/batching/schedule.py", ("LastBatchPolicy", "IncompleteEpochWarning")),
    ),
}
_WITH_ENTRIES = ("Attributes", "Parameters", "Raises", "Returns", "Yields")


def write_pages(folder: Path) -> None:
    """Write the pages, and that of the benchmarks, replacing existing ones."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pictures").mkdir(parents=True)
    pages = {
        "errors": errors_page(),
        "types": types_page(),
        "iterators": iterators_page(),
        "benchmarks": benchmarks.page(folder / "pictures"),
    }
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def errors_page() -> str:
    """Return the page of errors: a tree as a table, and those with more to say."""
    classes = {
        name: value
        for name, value in vars(errors).items()
        if inspect.isclass(value)
        and issubclass(value, BaseException)
        and not name.startswith("_")
        and value.__module__ == errors.__name__
    }
    lines = ["# Errors", "", markdown(inspect.getdoc(errors) or ""), ""]
    lines += [
        "Import them from `dali_core.errors`. [Bad samples](../bad_samples.md) have a page.",
        "",
        "| error | is also | raised when |",
        "|---|---|---|",
    ]
    for name, error in classes.items():
        also = [
            f"`{base.__name__}`"
            for base in error.__mro__[1:]
            if (base.__name__ in classes or hasattr(builtins, base.__name__))
            and base not in (object, BaseException, Exception, RuntimeError, LookupError)
            and base is not errors.DaliCoreError
        ]
        first = " ".join((inspect.getdoc(error) or "").partition("\n\n")[0].split())
        lines.append(f"| `{name}` | {', '.join(also)} | {first} |")
    for name, error in classes.items():
        more = (inspect.getdoc(error) or "").partition("\n\n")[2]
        if more:
            lines += ["", f"## {name}", "", markdown(inspect.getdoc(error) or "")]
    return "\n".join(lines) + "\n"


def types_page() -> str:
    """Return the page of enumerations: members, numbers, and shorter names in `types`."""
    lines = ["# Types", "", "All of these are in `dali_core.types`.", ""]
    for name, value in vars(types).items():
        if not (inspect.isclass(value) and issubclass(value, enum.Enum)) or name.startswith("_"):
            continue
        short = {member: key for key, member in vars(types).items() if isinstance(member, value)}
        lines += [f"## {name}", "", markdown(inspect.getdoc(value) or ""), ""]
        lines += ["| member | number | short name |", "|---|---|---|"]
        for member in value:
            alias = f"`types.{short[member]}`" if member in short else ""
            lines.append(f"| `{name}.{member.name}` | {member.value} | {alias} |")
        lines.append("")
    return "\n".join(lines)


def iterators_page() -> str:
    """Return the page of the iterators of all frameworks."""
    lines = ["# Loaders and iterators", ""]
    lines += ["What all iterators accept and return is [at the end](#baseiterator).", ""]
    lines += ["Loaders have [a page](../loader.md).", ""]
    for title, sources in ITERATORS.items():
        lines += [f"## {title}", ""]
        for file, names in sources:
            tree = ast.parse((ROOT / file).read_text("utf-8"))
            nodes = {
                node.name: node
                for node in tree.body
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
            }
            for name in names:
                lines += [f"### {name}", "", *_described(nodes[name]), ""]
    return "\n".join(lines)


def _described(node: ast.ClassDef | ast.FunctionDef) -> list[str]:
    """Return the signature, the docstring, and the public methods of a class."""
    lines = []
    methods = []
    function = node if isinstance(node, ast.FunctionDef) else None
    if isinstance(node, ast.ClassDef):
        for child in node.body:
            if isinstance(child, ast.FunctionDef) and child.name == "__init__":
                function = child
            elif isinstance(child, ast.FunctionDef) and not child.name.startswith("_"):
                methods.append(child)
    if function is not None:
        lines += ["```python", f"{node.name}({_parameters(function)})", "```", ""]
    lines.append(markdown(ast.get_docstring(node) or ""))
    for method in methods:
        text = ast.get_docstring(method)
        if text:
            lines += ["", f"**`{method.name}({_parameters(method)})`**", "", markdown(text)]
    return lines


def _parameters(function: ast.FunctionDef) -> str:
    """Return the parameters of a function without annotations."""
    arguments = function.args
    for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
        one.annotation = None
    for rest in (arguments.vararg, arguments.kwarg):
        if rest is not None:
            rest.annotation = None
    return ", ".join(name for name in ast.unparse(arguments).split(", ") if name != "self")


def markdown(text: str) -> str:
    """Convert a NumPy docstring: sections become bold, entries items of a list."""
    lines: list[str] = []
    section, is_quoted = "", False
    rows = inspect.cleandoc(text).replace("``", "`").split("\n")
    skip = False
    for row, below in zip(rows, [*rows[1:], ""], strict=True):
        if skip:
            skip = False
        elif re.fullmatch(r"-{3,}", below.strip()) and row.strip():
            lines += ["```", ""] * is_quoted
            section, skip, is_quoted = row.strip(), True, row.strip() == "Examples"
            lines += [f"**{section}**", "", *["```text"] * is_quoted]
        elif section in _WITH_ENTRIES and re.match(r"\S", row):
            name, _, kind = row.partition(" : ")
            lines.append(f"- `{name}`" + (f" ({kind})" if kind else ""))
        else:
            lines.append(re.sub(r"^    ", "  ", row) if section in _WITH_ENTRIES else row)
    lines += ["```"] * is_quoted
    return "\n".join(lines).strip()
