"""Pages of the operators, from their descriptions."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from dali_core._call.arguments import all_args
from dali_core._graph.namespaces import class_name, signature
from dali_core._registry.specs import all_specs
from dali_core._spec import REQUIRED, UNSET, Arg, OpSpec
from docs.generator.files import make_files, make_sounds, sound
from docs.generator.gallery import GALLERY
from docs.generator.groups import grouped
from docs.generator.literals import kind, literal
from docs.generator.pictures import (
    first_photo,
    make_photos,
    make_videos,
    save_picture,
    size_of,
)
from docs.generator.programs import Program, program_of, run_program

COMMON = ("device", "name", "preserve", "bytes_per_sample_hint")
# Not in the tree of pages: the theme would write all their names into the sidebar of every page,
# which takes half of the time to build them.
_HEAD = "---\norphan: true\n---\n\n"
_SHOWN_FIRST = ("color_twist", "rotate", "gaussian_blur", "grid_mask")
_THUMBNAIL = 96
"""Pixels, of the width of a thumbnail; tall pictures have the height of a photo of this width."""
_INTRODUCTION = """\
Call operators inside a pipeline's definition. Positional arguments are the data, keyword arguments
are parameters. Where a table says "yes" under *per sample*, the argument may also be the result of
another operator, which has a separate value for every sample.

Every function `fn.a.b` has an equivalent class `ops.a.B`: keyword arguments are passed to its
constructor, and calling the object adds the operator to the pipeline.

All operators also accept these arguments:

"""


def write_pages(folder: Path) -> None:
    """Write a page for each operator, pictures, and an index, replacing existing ones."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "pictures").mkdir(parents=True)
    with _photos_and_videos():
        for spec in all_specs().values():
            (folder / f"{spec.name}.md").write_text(page(spec, folder / "pictures"), "utf-8")
    (folder / "index.md").write_text(index(folder / "pictures"), "utf-8")
    (folder / "examples.md").write_text(examples(folder / "pictures"), "utf-8")


@contextlib.contextmanager
def _photos_and_videos() -> Iterator[None]:
    """Change to a temporary folder with photos and videos."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        make_photos(Path(folder))
        make_videos(Path(folder))
        make_sounds(Path(folder))
        make_files(Path(folder))
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def index(pictures: Path) -> str:
    """Return the index page: all operators, in groups, with pictures of those that have one."""
    specs = all_specs()
    common = [arg for arg in all_args(next(iter(specs.values()))) if arg.name in COMMON]
    lines = ["# Operators", "", _INTRODUCTION + _table(common), ""]
    for group, names in grouped().items():
        rows = [
            [
                _thumbnail(name, pictures),
                f"[`fn.{name}`]({name}.md)",
                _cell(_first_line(specs[name])),
            ]
            for name in names
        ]
        if not any(row[0] for row in rows):
            rows = [row[1:] for row in rows]
        columns = len(rows[0])
        lines += [
            f"## {group}",
            "",
            "| " * (columns - 2) + "| operator | |",
            "|---" * columns + "|",
        ]
        lines += [f"| {' | '.join(row)} |" for row in rows]
        lines.append("")
    former = [spec for spec in specs.values() if spec.deprecated]
    if former:
        lines += ["## Deprecated names", "", "Using them issues a warning.", ""]
        lines += [
            f"- [`fn.{spec.name}`]({spec.name}.md): now `{spec.deprecated}`" for spec in former
        ]
        lines.append("")
    return "\n".join(lines)


def examples(pictures: Path) -> str:
    """Return the row of pictures on the first page: a photo, and the results of some operators."""
    files = {"the photo": "photo.webp"}
    files |= {f"fn.{name}": f"{name}-0.webp" for name in _SHOWN_FIRST}
    cells = [
        f"![{name}](operators/pictures/{file}){{width={size_of(pictures / file)[0] // 2}px}}"
        for name, file in files.items()
    ]
    rows = (list(files), ["---"] * len(cells), cells)
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _thumbnail(name: str, pictures: Path) -> str:
    """Return the last picture of an operator as an image of a table, or nothing."""
    calls = GALLERY.get(name, ())
    path = pictures / f"{name}-0.webp"
    if not calls or not path.exists():
        return ""
    width, height = size_of(path)
    shown = max(1, min(_THUMBNAIL, _THUMBNAIL * 2 * width // (3 * height)))
    return f"![a result of fn.{name}](pictures/{path.name}){{width={shown}px}}"


def page(spec: OpSpec, pictures: Path) -> str:
    """Return the page of an operator; its example is run in the current folder."""
    if spec.deprecated:
        return _former(spec)
    lines = [_HEAD + f"# fn.{spec.name}", "", "[All operators](index.md)", ""]
    lines += [":::{py:function} " + _call(spec), ":canonical: dali_core.fn." + spec.name, ":::", ""]
    lines += [_markdown(spec.doc), "", _places(spec), ""]
    program = program_of(spec)
    if program is not None:
        outputs = run_program(program)
        if spec.name in GALLERY:
            lines += [_shown(spec, program, outputs, pictures), ""]
    if spec.input_docs:
        lines += ["## Inputs", "", *(f"- {_markdown(doc)}" for doc in spec.input_docs), ""]
    arguments = [arg for arg in all_args(spec) if arg.name not in COMMON or arg in spec.args]
    lines += ["## Arguments", ""]
    if arguments:
        lines += [_table(arguments), ""]
    lines += ["All operators also accept [these arguments](index.md).", ""]
    lines += ["## Results", "", _outputs(spec), ""]
    lines += ["## Errors", "", *_errors(arguments), ""]
    if program is not None:
        lines += ["## Example", "", f"```python\n{program.text}```", ""]
        if "photos" in program.text:
            lines += ["`photos` is a folder with a folder of images for each class.", ""]
        for folder in ("sounds", "files"):
            if f"{folder}/" in program.text or f'"{folder}"' in program.text:
                lines += [f"`{folder}` is a folder with {folder}.", ""]
        if "videos/" in program.text:
            lines += ["`videos` is a folder with a folder of videos for each class.", ""]
    lines += ["## See also", ""]
    path = ".".join([*spec.name.split(".")[:-1], class_name(spec.name)])
    lines.append(f"- `ops.{path}` is the equivalent class.")
    target = re.sub(r"\W", "", f"fn{spec.name}")
    lines.append(f"- [Comparison with NVIDIA DALI](../conformance.md#{target}).")
    return "\n".join(lines) + "\n"


def _places(spec: OpSpec) -> str:
    """Return the sentence that states where an operator runs."""
    if spec.moving is not None:
        device = spec.moving.device
        return f'It runs on the CPU; with `device="{device}"`, results are copied to the GPU.'
    return f"It runs on the CPU{' and on GPUs' * ('gpu' in spec.devices)}."


def _former(spec: OpSpec) -> str:
    """Return the page of a deprecated name."""
    now = spec.deprecated.removeprefix("fn.")
    link = f"[`fn.{now}`]({now}.md)" if now in all_specs() else f"`{spec.deprecated}`"
    return f"{_HEAD}# fn.{spec.name}\n\nDeprecated name of {link}. Using it issues a warning.\n"


def _call(spec: OpSpec) -> str:
    """Return the signature, with types."""
    types = {arg.name: _annotation(arg) for arg in all_args(spec)}
    parameters = []
    has_star = False
    for parameter in signature(spec).parameters.values():
        if parameter.name in COMMON:
            continue
        if parameter.kind is parameter.VAR_POSITIONAL:
            parameters.append(f"*{parameter.name}: DataNode")
            has_star = True
        elif parameter.kind is parameter.POSITIONAL_ONLY:
            optional = parameter.default is not parameter.empty
            parameters.append(
                f"{parameter.name}: DataNode" + (" | None = None" if optional else "")
            )
        else:
            if not has_star:
                parameters += ["/", "*"] if parameters else ["*"]
                has_star = True
            named = f"{parameter.name}: {types[parameter.name]}"
            if parameter.default is None:
                named += " | None"
            if parameter.default is not parameter.empty:
                named += f" = {literal(parameter.default)}"
            parameters.append(named)
    if parameters and parameters[-1] == "*":
        parameters.pop()
    return f"fn.{spec.name}({', '.join(parameters)})"


def _annotation(arg: Arg) -> str:
    """Return the type of an argument as an annotation."""
    name = re.sub(r"^list of (.*)$", r"list[\1]", kind(arg.type).replace("any object", "object"))
    return f"{name} | DataNode" if arg.tensor else name


def _table(arguments: list[Arg]) -> str:
    lines = ["| argument | type | default | per sample | |", "|---|---|---|---|---|"]
    for arg in arguments:
        if arg.default is REQUIRED:
            default = "required"
        elif arg.default is UNSET or arg.default is None:
            default = "not set"
        else:
            default = f"`{literal(arg.default)}`"
        text = _cell(arg.doc)
        if arg.deprecated:
            text += f" **Deprecated:** use {_cell(arg.deprecated)}."
        per_sample = "yes" if arg.tensor else ""
        values = kind(arg.type) + (f", {arg.range}" if arg.range is not None else "")
        lines.append(f"| `{arg.name}` | {values} | {default} | {per_sample} | {text} |")
    return "\n".join(lines)


def _outputs(spec: OpSpec) -> str:
    if callable(spec.outputs):
        return "The number of results depends on the arguments."
    count = {0: "No result.", 1: "One result."}.get(spec.outputs, f"{spec.outputs} results.")
    if spec.random:
        count += " It depends on random numbers: see [order and randomness](../pipelines.md)."
    return count


def _errors(arguments: list[Arg]) -> list[str]:
    """Return what raises an error, as entries of a list."""
    lines = []
    for arg in arguments:
        rules = []
        if arg.choices:
            values = ", ".join(f"`{literal(value)}`" for value in arg.choices)
            rules.append(f"is none of {values}")
        if arg.length is not None:
            rules.append(
                f"has not {arg.length} entries"
                if isinstance(arg.length, int)
                else f"has a number of entries that is not {arg.length}"
            )
        if arg.excludes:
            others = " or ".join(f"`{name}`" for name in arg.excludes)
            rules.append(f"is passed together with {others}")
        if arg.alternatives:
            others = ", ".join(f"`{name}`" for name in arg.alternatives)
            rules.append(f"is passed together with one of {others}, or none of them is passed")
        lines += [f"- `{arg.name}` {rule}." for rule in rules]
    head = (
        "An argument that has another type or value than the table says raises an "
        "[`ArgumentTypeError` or `ArgumentValueError`](../reference/errors.md) where the operator "
        "is called, or, if it is passed per sample, a [`SampleError`](../bad_samples.md) when it "
        "runs"
    )
    lines = [head + ". So it does when", "", *lines] if lines else [head + "."]
    return [*lines, "", "A sample that cannot be processed is a [bad sample](../bad_samples.md)."]


def _shown(spec: OpSpec, program: Program, outputs: list[list[np.ndarray]], pictures: Path) -> str:
    """Return a table of the input and the results, all at the same scale."""
    heads, cells = [], []
    first = outputs[: len(program.calls)]  # of a call with several results, the first
    for kind_of_input, folder in (("photo", "photos"), ("sound", "sounds")):
        if f'file_root="{folder}"' in program.text:
            before = pictures / f"{kind_of_input}.webp"
            if not before.exists():
                save_picture(first_photo() if folder == "photos" else sound(), before)
            heads.append(f"the {kind_of_input}")
            cells.append(_picture(f"the {kind_of_input}", before))
    for number, (call, samples) in enumerate(zip(program.calls, first, strict=True)):
        path = pictures / f"{spec.name}-{number}.webp"
        save_picture(samples[0], path)
        heads.append(f"`{_cell(call)}`")
        cells.append(_picture(f"result of {_cell(call)}".replace("[0]", ""), path))
    return "\n".join(f"| {' | '.join(row)} |" for row in (heads, ["---"] * len(heads), cells))


def _picture(text: str, path: Path) -> str:
    """Return an image in which a pixel of the file is a pixel of the page."""
    escaped = re.sub(r"([\[\]])", r"\\\1", text)
    return f"![{escaped}](pictures/{path.name}){{width={size_of(path)[0]}px}}"


def _first_line(spec: OpSpec) -> str:
    return spec.doc.strip().partition("\n\n")[0]


def _markdown(text: str) -> str:
    """Make the titles of NumPy sections bold: Markdown would treat them as headings."""
    text = re.sub(r"(?m)::$", ":", text.strip())
    return re.sub(r"(?m)^(\w+)\n-+$", r"**\1**\n", text)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
