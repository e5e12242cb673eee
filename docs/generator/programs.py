"""The example program on an operator's page."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core._spec import UNSET, OpSpec
from docs.generator.gallery import GALLERY, PROGRAMS
from docs.generator.literals import array_source, literal
from tests.operators.suite import Example, find_examples

_READS = '    encoded, label = fn.readers.file(file_root="photos")'
_WIDTH = 88
_READS_SOUND = '    encoded, label = fn.readers.file(file_root="sounds")'
_DECODES_SOUND = "    sound, rate = fn.decoders.audio(encoded, downmix=True)"
_TRANSFORMS = "    spectrum = fn.spectrogram(sound, nfft=512, window_length=400, window_step=160)"
_DECODES = "    image = fn.decoders.image(encoded)"


@dataclass(frozen=True)
class Program:
    """A complete program that reads `photos` and `videos` and assigns `outputs`."""

    text: str
    calls: tuple[str, ...]


def program_of(spec: OpSpec) -> Program | None:
    """Return a program that uses an operator; None if no example can be written as source."""
    if spec.name in GALLERY:
        return _on_photos(spec, GALLERY[spec.name])
    if spec.name in PROGRAMS:
        return _on_photos(spec, (PROGRAMS[spec.name],))
    # Prefer an example with arguments.
    for example in sorted(find_examples(spec.name), key=lambda example: not example.arguments):
        text = _from_example(spec, example)
        if text is not None:
            return text
    return None


def _on_photos(spec: OpSpec, calls: Sequence[str]) -> Program:
    joined = " ".join(calls)
    lines = []
    if re.search(r"\b(image|encoded|label)\b(?!\()", joined) and "readers.file" not in joined:
        lines.append(_READS)
    if re.search(r"\(image\b", joined):
        lines.append(_DECODES)
    if re.search(r"\((sound|spectrum)\b", joined):
        lines += [_READS_SOUND, _DECODES_SOUND]
    if "(spectrum" in joined:
        lines.append(_TRANSFORMS)
    return _program(lines, calls, has_several=_has_several(spec, _keywords(calls[0])))


def _keywords(call: str) -> dict[str, Any]:
    """Return the keyword arguments of a call that are written out."""
    found = {}
    expression = ast.parse(call, mode="eval").body
    for keyword in expression.keywords if isinstance(expression, ast.Call) else ():
        with contextlib.suppress(ValueError):  # the result of another call
            found[str(keyword.arg)] = ast.literal_eval(keyword.value)
    return found


def _from_example(spec: OpSpec, example: Example) -> Program | None:
    if callable(example.arguments) or example.feeds:
        return None
    try:
        arguments = [f"{name}={literal(value)}" for name, value in example.arguments.items()]
    except TypeError:
        return None
    arrays = [data.make(0) for data in example.inputs]
    if any(array.ndim == 1 and array.size > 100 for array in arrays):
        return None  # an encoded file; random numbers would not be one
    names = ["data"] if len(arrays) == 1 else [f"data_{i}" for i in range(len(arrays))]
    before, lines = [], []
    for name, array, data in zip(names, arrays, example.inputs, strict=True):
        layout = f', layout="{data.layout}"' if data.layout else ""
        before.append(f"{name}_samples = [{array_source(array)} for _ in range(2)]")
        lines.append(f"    {name} = fn.external_source(source=lambda: {name}_samples{layout})")
    call = f"fn.{spec.name}({', '.join([*names, *arguments])})"
    has_several = _has_several(spec, example.arguments)
    return _program(lines, [call], before, has_several=has_several)


def _has_several(spec: OpSpec, arguments: Mapping[str, Any]) -> bool:
    """Return whether a call returns a list of results instead of a single one."""
    if not callable(spec.outputs):
        return spec.outputs != 1
    defaults = {arg.name: arg.default for arg in spec.args if arg.default is not UNSET}
    return spec.outputs({**defaults, **arguments}) is not None


def _program(
    lines: Sequence[str],
    calls: Sequence[str],
    before: Sequence[str] = (),
    *,
    has_several: bool = False,
) -> Program:
    everything = "\n".join((*before, *lines, *calls))
    imported = ["fn", "pipeline_def"] + (["types"] if "types." in everything else [])
    names = [f"result_{i}" for i in range(len(calls))] if len(calls) > 1 else ["result"]
    text = []
    if "np." in everything or "random." in "\n".join(before):
        text += ["import numpy as np", ""]
    text += [f"from dali_core import {', '.join(imported)}", ""]
    if any("random." in line for line in before):
        text.append("random = np.random.default_rng(0)")
    text += [*(_wrapped(line) for line in before), *([""] if before else []), ""]
    text += ["@pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)"]
    text += ["def example():", *lines]
    text += [_wrapped(f"    {name} = {call}") for name, call in zip(names, calls, strict=True)]
    if len(names) > 1:
        text.append(f"    return {', '.join(names)}")
    else:
        text.append("    return tuple(result)" if has_several else "    return result")
    text += ["", "", "outputs = example().run()"]
    return Program("\n".join(text) + "\n", tuple(calls))


def _wrapped(line: str) -> str:
    """Break a long call after its opening bracket, or after each argument."""
    if len(line) <= _WIDTH or not line.endswith(")"):
        return line
    head, _, rest = line.partition("(")
    indent = " " * (len(line) - len(line.lstrip()))
    arguments = rest[:-1]
    if len(indent) + 4 + len(arguments) <= _WIDTH:
        return f"{head}(\n{indent}    {arguments}\n{indent})"
    lines = "".join(f"{indent}    {argument},\n" for argument in _split(arguments))
    return f"{head}(\n{lines}{indent})"


def _split(arguments: str) -> list[str]:
    """Divide arguments at the commas that are in no brackets and no strings."""
    parts, depth, quoted = [""], 0, False
    for letter in arguments:
        quoted ^= letter == '"'
        if not quoted:
            depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth and not quoted:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def run_program(program: Program) -> list[list[np.ndarray]]:
    """Run a program in the current folder and return the samples of each output."""
    names: dict[str, Any] = {}
    try:
        exec(compile(program.text, "<documentation>", "exec"), names)
    except Exception as error:
        raise RuntimeError(f"docs: this program must run:\n\n{program.text}") from error
    outputs = names["outputs"]
    return [[np.array(batch.at(i)) for i in range(len(batch))] for batch in outputs]
