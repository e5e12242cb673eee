"""Stubs of compiled modules, from the text of their Cython sources.

Only what Python can see counts: classes, functions and methods by ``def``, properties, and
attributes that are ``readonly`` or ``public``, also those in the ``.pxd`` file. Types of C become
those of Python. A parameter or result without a type is an error, so that annotations stay
complete. Comments right before a method that begin with ``# overload:`` are its signatures, instead
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from dali_core._stubs.text import definition, first_line, stub

_PYTHON_TYPES = {
    **dict.fromkeys(
        ("int", "long", "size_t", "Py_ssize_t", "int32_t", "int64_t", "uint32_t", "uint64_t"), "int"
    ),
    **dict.fromkeys(("float", "double"), "float"),
    "bint": "bool",
    "object": "Any",
    "str": "str",
    "bytes": "bytes",
    "uintptr_t": "int",
}
_BUFFER_METHODS = {
    "__getbuffer__": "def __buffer__(self, flags: int, /) -> memoryview: ...",
    "__releasebuffer__": "def __release_buffer__(self, buffer: memoryview, /) -> None: ...",
}


@dataclass
class _Block:
    """A class or function: its header on one line, and the lines below it."""

    kind: str
    name: str
    header: str
    decorators: list[str]
    overloads: list[str]
    body: list[str] = field(default_factory=list)

    @property
    def doc(self) -> str:
        text = "\n".join(self.body).strip()
        match = re.match(r'"""(.*?)"""', text, re.DOTALL)
        return first_line(match[1]) if match else ""


def compiled_stub(path: Path) -> str:
    """Write the stub of a compiled module.

    Parameters
    ----------
    path : Path
        Its ``.pyx`` source.

    Raises
    ------
    ValueError
        If a type is missing or unknown; the message names file and definition.
    """
    source = _with_parts(path)
    doc = re.match(r'(?:#[^\n]*\n)*"""(.*?)"""', source, re.DOTALL)
    if doc is None:
        raise ValueError(f"{path.name}: must begin with a docstring. Add one.")
    blocks = [block for block in _blocks(source.splitlines(), 0) if not block.name.startswith("_")]
    own = [block.name for block in blocks if block.kind == "class"]
    found = _cimported(source)
    declared = _declared(path.with_suffix(".pxd"))
    lines: list[str] = []
    try:
        for block in blocks:
            block.body += declared.get(block.name, [])
            lines += ["", *(_class(block) if block.kind == "class" else _function(block, ""))]
        return stub(first_line(doc[1]), "\n".join(lines), own=own, found=found)
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _with_parts(path: Path) -> str:
    """Read a source, with the files that it includes in their places."""
    return re.sub(
        r'^include "(.+)"$',
        lambda part: path.with_name(part[1]).read_text("utf-8"),
        path.read_text("utf-8"),
        flags=re.MULTILINE,
    )


def _declared(path: Path) -> dict[str, list[str]]:
    """Find the lines of classes whose fields are declared in another file."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {block.name: block.body for block in _blocks(lines, 0) if block.kind == "class"}


def _cimported(source: str) -> dict[str, str]:
    found = {}
    pattern = r"^from (dali_core\S*) cimport (?:\(([^)]*)\)|([^\n(]*))"
    for module, several, single in re.findall(pattern, source, re.MULTILINE):
        found.update(dict.fromkeys(re.findall(r"\w+", several or single), module))
    return found


def _blocks(lines: list[str], indent: int) -> Iterator[_Block]:
    """Find the classes and functions at one depth of indentation."""
    pattern = re.compile(rf"^ {{{indent}}}(?:cdef )?(class|def) (\w+)")
    decorators: list[str] = []
    comments: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        match = pattern.match(line)
        number += 1
        if match is None:
            stripped = line.strip()
            if stripped:
                is_decorator = stripped.startswith("@") and line.index("@") == indent
                decorators = [*decorators, stripped] if is_decorator else []
            comments = [*comments, stripped[1:].strip()] if stripped.startswith("#") else []
            continue
        header = line.strip()
        while number < len(lines) and (
            header.count("(") > header.count(")") or not header.endswith(":")
        ):
            header += " " + lines[number].strip()
            number += 1
        overloads = re.split(r"(?:^|\n)overload:", "\n".join(comments))[1:]
        block = _Block(match[1], match[2], header, decorators, overloads)
        decorators, comments = [], []
        while number < len(lines) and (
            not lines[number].strip() or lines[number].startswith(" " * (indent + 1))
        ):
            block.body.append(lines[number])
            number += 1
        yield block


def _class(block: _Block) -> list[str]:
    bases = re.match(r"(?:cdef )?class \w+(\(.+\))?:", block.header)
    header = f"class {block.name}{bases[1] or '' if bases else ''}:"
    lines = [header, *([f'    """{block.doc}"""'] if block.doc else [])]
    attributes: list[str] = []
    for line in block.body:
        match = re.match(r" {4}cdef (readonly|public) (\w+) (\w+)$", line)
        if match and match[1] == "public":
            attributes.append(f"    {match[3]}: {_PYTHON_TYPES.get(match[2], match[2])}")
        elif match:
            kind = _PYTHON_TYPES.get(match[2], match[2])
            attributes += ["    @property", f"    def {match[3]}(self) -> {kind}: ..."]
    lines += ["", *attributes] if attributes and block.doc else attributes
    for method in _blocks(block.body, 4):
        is_private = method.name.startswith("_") and not method.name.endswith("__")
        if is_private or method.name == "__dealloc__":
            continue
        if lines[-1].endswith('"""'):
            lines.append("")
        if method.name in _BUFFER_METHODS:
            lines.append(f"    {_BUFFER_METHODS[method.name]}")
        else:
            lines += _function(method, "    ")
    return lines


def _function(block: _Block, indent: str) -> list[str]:
    if block.overloads:
        lines: list[str] = []
        for text in block.overloads:
            header = f"{' '.join(text.split())}:"
            between = [""] if lines and block.doc else []
            variant = _function(replace(block, header=header, overloads=[]), indent)
            lines += [*between, f"{indent}@overload", *variant]
        return lines
    match = re.fullmatch(r"def \w+\((.*)\)(?: -> (.+))?:", block.header)
    if match is None:
        raise ValueError(f"the header of {block.name} must be a simple one (got {block.header!r}).")
    name, result = block.name, match[2]
    if name in ("__init__", "__cinit__"):
        name, result = "__init__", "None"
    if result is None:
        raise ValueError(f"{name} must say what it returns (got no annotation). Add '-> ...'.")
    parameters = [_parameter(text, name) for text in _split(match[1])]
    return [
        *(f"{indent}{decorator}" for decorator in block.decorators),
        *definition(name, parameters, result, block.doc, indent=indent),
    ]


def _split(parameters: str) -> Iterator[str]:
    """Divide parameters at the commas between them."""
    depth, start = 0, 0
    for position, letter in enumerate(parameters):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            yield parameters[start:position].strip()
            start = position + 1
    if parameters[start:].strip():
        yield parameters[start:].strip()


def _parameter(text: str, function: str) -> str:
    if text in ("self", "cls", "*", "/"):
        return text
    left, has_default, default = (part.strip() for part in text.partition("="))
    left = left.removesuffix(" not None")
    if ":" in left:
        name, _, kind = (part.strip() for part in left.partition(":"))
    elif " " in left:
        kind, _, name = (part.strip() for part in left.rpartition(" "))
        kind = _PYTHON_TYPES.get(kind, kind)
    else:
        raise ValueError(
            f"parameter {text!r} of {function} must have a type (got none). Annotate it."
        )
    if default == "None" and "None" not in kind and kind != "Any":
        kind += " | None"
    return f"{name}: {kind} = {default}" if has_default else f"{name}: {kind}"
