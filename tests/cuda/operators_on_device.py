"""Operators on a device return the results of the host, for the examples of the shared suite.

This module does not depend on the driver: `test_all_operators.py` runs it with the simulated one,
in a separate process, and `tests/gpu` on real hardware.
"""

from __future__ import annotations

import gc
import json
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import fn, types
from dali_core._registry.specs import all_specs
from dali_core._runtime.device_program import limit_blocks
from dali_core._runtime.native_code import chain_role
from dali_core.errors import SampleError
from dali_core.testing.examples import list_of
from tests.operators.suite import (
    Example,
    Input,
    Result,
    as_sample,
    feed,
    find_examples,
    function_of,
    name_of_fed,
    pipeline,
    present_names,
    run,
    sources,
)

# Greatest difference, relative to the host's result, of operators that call log, sin or cos, whose
# last bits differ between the host's C library and CUDA. Everything else is equal bit for bit. The
# simulated driver runs kernels with the host's library, so nothing differs there.
ON_HARDWARE = {"random.normal": 1e-6}
TOLERANCES: dict[str, float] = {}

MORE_FAILED = re.compile(r" \(\d+ more samples? of this batch failed: .*\)\Z", re.DOTALL)

# Each value of each setting occurs, and what depends on the batch size runs without it.
DEVICE_SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"num_threads": 4, "prefetch_queue_depth": 1},
    {"batch_size": 1, "prefetch_queue_depth": 5},
    {"batch_size": 8, "num_threads": 2},
    {"exec_pipelined": False, "exec_async": False, "optimize": False},
)


@cache
def names_on_device() -> list[str]:
    """Return the operators that involve a device in any way."""
    specs = all_specs()
    return [
        name
        for name in present_names()
        if "gpu" in specs[name].devices or specs[name].moving or specs[name].input_device == "any"
    ]


def call(operator: str, device: str, *inputs: Any, moves: bool = True, **arguments: Any) -> Any:
    """Call an operator for results on the host, in a graph that computes them on a device."""
    spec = all_specs()[operator]
    if device == "gpu":
        if spec.moving is not None:
            arguments["device"] = spec.moving.device
        else:
            # Mixed operators read their further inputs on the host, where parameters are computed.
            number = 1 if spec.input_device == "mixed" else len(inputs)
            inputs = (*(value.gpu() for value in inputs[:number]), *inputs[number:])
            if "gpu" in spec.devices:
                arguments["device"] = "gpu"
    outputs = function_of(operator)(*inputs, **arguments)
    outputs = list_of(outputs)
    if spec.input_device != "any":
        assert {output.device for output in outputs} == {device}, operator
    return [output.cpu() for output in outputs] if moves else outputs


def chained(operator: str, device: str, value: Any, /, *others: Any, **arguments: Any) -> Any:
    """Call an operator between others that may be fused with it."""
    value = value.gpu() if device == "gpu" else value
    result = function_of(operator)(fn.flip(value), *others, **arguments)
    if isinstance(result, list):
        results = result
    else:
        is_last = chain_role(operator) == "finish"
        results = [result if is_last else fn.flip(result, vertical=1)]
    return [output.cpu() for output in results]


def check_close(operator: str, result: Result, expected: Result) -> None:
    """Check that the results of a device are those of the host."""
    tolerance = TOLERANCES.get(operator)
    if tolerance is None:
        result.check_equals(expected)
        return
    assert (result.types, result.layouts) == (expected.types, expected.layouts)
    for ours, theirs in zip(result.samples, expected.samples, strict=True):
        for mine, wanted in zip(ours, theirs, strict=True):
            assert (mine.dtype, mine.shape) == (wanted.dtype, wanted.shape)
            # What is rounded to integers may be rounded the other way.
            step = 1 if wanted.dtype.kind in "iu" else 0
            np.testing.assert_allclose(mine, wanted, rtol=tolerance, atol=step, equal_nan=True)


@dataclass
class Subject:
    """An example of an operator, its results on the host, and a folder for files."""

    operator: str
    example: Example
    folder: Path

    def __post_init__(self) -> None:
        self.spec = all_specs()[self.operator]
        self.arguments = self.example.arguments_in(self.folder)
        if self.spec.random:
            # Copies between devices are operators of the graph, too, and change the seeds of
            # others.
            self.arguments |= {"seed": 7}
        self.expected = self.run("cpu")

    def run(self, device: str, example: Example | None = None, **options: Any) -> Result:
        function = options.pop("function", partial(call, self.operator, device))
        return run(
            self.operator,
            example or self.example,
            options.pop("arguments", self.arguments),
            function=function,
            **({"device_id": 0} if device == "gpu" else {}),
            **options,
        )


# Results


def results(subject: Subject) -> None:
    """Device and host return the same, for all settings; outputs may stay on the device."""
    for settings in DEVICE_SETTINGS:
        if not (subject.example.depends_on_batch and "batch_size" in settings):
            result = subject.run("gpu", **settings)
            check_close(subject.operator, result, subject.expected)


def fewest_blocks(subject: Subject) -> None:
    """Kernels go on in steps of the grid, however small it is."""
    limit_blocks(1)
    try:
        check_close(subject.operator, subject.run("gpu"), subject.expected)
    finally:
        limit_blocks()


def outputs_on_the_device(subject: Subject) -> None:
    """Outputs on the device have the host's dtypes, shapes and layouts."""
    batch_size = 3
    with pipeline(batch_size=batch_size, device_id=0) as made:
        with made:
            outputs = call(
                subject.operator,
                "gpu",
                *sources(subject.example),
                moves=False,
                **subject.arguments,
                **name_of_fed(subject.example),
            )
            made.set_outputs(*outputs)
        feed(made, subject.example)
        batch = made.run()
        for number, (tensors, wanted) in enumerate(
            zip(batch, subject.expected.samples, strict=True)
        ):
            there = type(tensors).__name__ == "TensorListGPU"
            assert there == (subject.spec.input_device != "any")
            assert tensors.shape() == [sample.shape for sample in wanted[:batch_size]]
            assert {tensors.dtype.name} == subject.expected.types[number]
            assert {tensors.layout()} == subject.expected.layouts[number]
            back = tensors.as_cpu() if there else tensors
            samples = [np.array(back.at(i)) for i in range(batch_size)]
            part = Result([samples], [{tensors.dtype.name}], [{tensors.layout()}])
            first = Result([wanted[:batch_size]], part.types, part.layouts)
            check_close(subject.operator, part, first)


def arguments_of_samples(subject: Subject) -> None:
    """Per-sample arguments have the same effect as constants."""
    arguments = {
        arg.name: as_sample(arg, subject.arguments[arg.name])
        for arg in subject.spec.args
        if arg.tensor and arg.name in subject.arguments
    }
    if arguments:
        others = {name: x for name, x in subject.arguments.items() if name not in arguments}
        result = subject.run("gpu", arguments=others, per_sample=arguments)
        check_close(subject.operator, result, subject.expected)


def chains(subject: Subject) -> None:
    """Fused operators return the same."""
    inputs = subject.example.inputs
    if len(inputs) != 1 or inputs[0].layout != "HWC":
        return
    if "gpu" not in subject.spec.devices or chain_role(subject.operator) in ("", "source"):
        return
    expected = subject.run("cpu", function=partial(chained, subject.operator, "cpu"))
    for optimize in (True, False):
        function = partial(chained, subject.operator, "gpu")
        result = subject.run("gpu", function=function, optimize=optimize)
        check_close(subject.operator, result, expected)


def no_samples(subject: Subject) -> None:
    """An empty batch has an empty result."""
    if not subject.example.inputs:
        return
    with pipeline(device_id=0) as made:
        with made:
            inputs = [
                fn.external_source(source=_nothing, layout=data.layout or None)
                for data in subject.example.inputs
            ]
            made.set_outputs(*call(subject.operator, "gpu", *inputs, **subject.arguments))
        for _ in range(2):
            assert [len(tensors) for tensors in made.run()] == [0] * len(subject.expected.samples)


def source_info(subject: Subject) -> None:
    """The source file of a sample is passed on."""
    if len(subject.example.inputs) != 1 or subject.spec.moving is not None:
        return
    (data,) = subject.example.inputs
    folder = subject.folder / "source_info"
    folder.mkdir()
    (folder / "name.bin").write_bytes(b"x" * 12)
    sample = next(made for number in range(3) if (made := data.make(number)).size > 0)
    found = []
    for device in ("cpu", "gpu"):
        with pipeline(batch_size=2, device_id=0 if device == "gpu" else None) as made:
            with made:
                contents, _ = fn.readers.file(files=[str(folder / "name.bin")])
                # Zeros of the example's dtype and shape with a source file.
                named = fn.pad(fn.cast(contents, dtype=types.UINT8), shape=[sample.nbytes])
                named = fn.slice(named, start=0, end=sample.nbytes, axes=[0])
                named = fn.reinterpret(
                    named,
                    shape=list(sample.shape),
                    dtype=types.to_dali_type(sample.dtype),
                    layout=data.layout or None,
                )
                outputs = call(subject.operator, device, named, **subject.arguments)
                made.set_outputs(named, *outputs)
            found.append([[tensor.source_info() for tensor in out] for out in made.run()])
    assert found[0] == found[1], found
    assert set(found[0][0]) == {str(folder / "name.bin")}


def _nothing() -> list[np.ndarray]:
    return []


# Errors


def _changed(example: Example, number: int, change: Callable[[Any], Any], layout: str) -> Example:
    data = example.inputs[number]
    inputs = list(example.inputs)
    inputs[number] = Input(lambda index: change(data.make(index)), layout)
    return replace(example, inputs=inputs)


def _first(array: np.ndarray) -> np.ndarray:
    """Return the first entry, of zeros if there is none."""
    return array[0] if len(array) else np.zeros(array.shape[1:], array.dtype)


def unusual(example: Example) -> Iterator[tuple[str, Example]]:
    """Return variants of an example whose inputs may be invalid for the operator."""
    for number, data in enumerate(example.inputs):
        ndim = data.make(0).ndim
        layout = data.layout
        change = partial(_changed, example, number)
        yield f"{number} without layout", change(np.asarray, "")
        if layout:
            yield f"{number} with layout reversed", change(np.asarray, layout[::-1])
        if ndim > 0:
            yield f"{number} with fewer dimensions", change(_first, "")
            yield f"{number} without elements", change(lambda array: array[:0], layout)
        yield f"{number} with more dimensions", change(lambda array: array[None], "")
        for dtype in ("bool", "int8", "uint64", "float16", "float64"):
            yield f"{number} as {dtype}", change(partial(np.asarray, dtype=dtype), layout)


# Errors that only the host can raise, because they depend on data on the device.
UNSEEN = {("random.choice", "0 with fewer dimensions")}


def _outcome(subject: Subject, device: str, example: Example) -> Result | tuple[type, str]:
    try:
        with np.errstate(all="ignore"):
            return subject.run(device, example, num_samples=3)
    except SampleError as error:
        # On a device, operators stop at the first sample that fails; the host counts the others.
        return type(error), MORE_FAILED.sub("", str(error))


def wrong_inputs(subject: Subject) -> None:
    """Host and device reject the same calls, with the same messages."""
    for name, example in unusual(subject.example):
        if (subject.operator, name) in UNSEEN:
            continue
        wanted = _outcome(subject, "cpu", example)
        got = _outcome(subject, "gpu", example)
        if isinstance(wanted, Result) and isinstance(got, Result):
            check_close(subject.operator, got, wanted)
        else:
            assert got == wanted, f"input {name}: the device gives {got}, the host {wanted}"


CHECKS: Mapping[str, Callable[[Subject], None]] = {
    function.__name__: function
    for function in (
        results,
        fewest_blocks,
        outputs_on_the_device,
        arguments_of_samples,
        chains,
        no_samples,
        source_info,
        wrong_inputs,
    )
}


def all_items() -> list[tuple[str, Example]]:
    """Return the examples of the operators that involve a device."""
    return [(name, example) for name in names_on_device() for example in find_examples(name)]


def items_here() -> tuple[list[tuple[str, Example]], dict[str, str]]:
    """Return the examples that can be made here, and for other operators the missing package."""
    items: list[tuple[str, Example]] = []
    missing: dict[str, str] = {}
    for name in names_on_device():
        try:
            items += [(name, example) for example in find_examples(name)]
        except ModuleNotFoundError as error:
            missing[name] = f"not available: {error.name}"
        except pytest.skip.Exception as skipped:
            missing[name] = str(skipped)
    return items, missing


def run_checks(checks: Sequence[str], items: Sequence[tuple[str, Example]]) -> Iterator[list[str]]:
    """Run checks on examples, and return for each the operator, the example, and the failures."""
    for operator, example in items:
        failures = []
        with tempfile.TemporaryDirectory() as folder:
            try:
                subject = Subject(operator, example, Path(folder))
                for name in checks:
                    try:
                        CHECKS[name](subject)
                    except Exception:
                        failures.append(f"{name}:\n{traceback.format_exc()}")
            except Exception:
                failures.append(f"on the host:\n{traceback.format_exc()}")
        yield [operator, example.name, "\n".join(failures)]


def main(
    path: str,
    *checks: str,
    left: Callable[[], object] | None = None,
    items: Sequence[tuple[str, Example]] | None = None,
) -> None:
    """Write the results of the checks, one line for each example, as soon as they are known.

    `left` describes the leaked resources of an example; empty if there are none. Of all examples
    unless `items` are given.
    """
    items = all_items() if items is None else items
    gc.collect()
    gc.freeze()  # `left` collects garbage again and again
    with Path(path).open("w", encoding="utf-8") as log:
        for item in items:
            missing = ""
            try:
                (line,) = run_checks(checks or tuple(CHECKS), [item])
            except pytest.skip.Exception as skipped:  # an example needs another package
                line, missing = [item[0], item[1].name, ""], str(skipped)
            if left is not None and (kept := left()):
                line[2] += f"not given back: {kept}"
            print(json.dumps([*line, missing]), file=log, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
