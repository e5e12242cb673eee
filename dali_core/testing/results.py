"""Checks of what an operator computes, each with one example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import fn
from dali_core._runtime.native_code import chain_role
from dali_core.testing.descriptions import spec_of
from dali_core.testing.examples import (
    Example,
    as_sample,
    class_of,
    feed,
    function_of,
    list_of,
    name_of_fed,
    pipeline,
    run,
    sources,
)


def no_samples() -> list[NDArray[Any]]:
    """Return an empty batch."""
    return []


def check_ways_to_compute(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """Threads, batch sizes and prefetching change nothing."""
    expected = run(operator, example, arguments)
    # Each value of each setting occurs, and what depends on the batch size runs without it.
    different: Sequence[dict[str, Any]] = (
        {},
        {"num_threads": 4, "prefetch_queue_depth": 1},
        {"batch_size": 1, "prefetch_queue_depth": 5},
        {"batch_size": 8, "num_threads": 2},
        {"exec_pipelined": False, "exec_async": False},
    )
    for settings in different:
        if not (example.depends_on_batch and "batch_size" in settings):
            run(operator, example, arguments, **settings).check_equals(expected)


def check_stable(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """All batches have one type, layout and number of dimensions."""
    result = run(operator, example, arguments)
    for samples, types, layouts in zip(result.samples, result.types, result.layouts, strict=True):
        assert len(types) == len(layouts) == 1
        (layout,) = layouts
        assert {sample.ndim for sample in samples} == {samples[0].ndim}
        assert len(layout) in (0, samples[0].ndim)


def check_class(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """`ops` and `fn` give the same."""
    result = run(operator, example, {}, function=class_of(operator)(**arguments))
    result.check_equals(run(operator, example, arguments))


def check_seeds(operator: str, examples: Sequence[Example], folder: Path) -> None:
    """Random numbers follow from the seeds, and from nothing else."""
    if not spec_of(operator).random:
        return
    given = [example.arguments_in(folder) for example in examples]

    def everything(pipeline_seed: int, **seed: int) -> list[bytes]:
        return [
            sample.tobytes()
            for example, arguments in zip(examples, given, strict=True)
            for sample in run(operator, example, {**arguments, **seed}, seed=pipeline_seed).samples[
                0
            ]
        ]

    assert everything(1) == everything(1) != everything(2)
    assert everything(1, seed=7) == everything(2, seed=7) != everything(2, seed=8)


def joins_samples(operator: str) -> bool:
    """Return whether a pipeline cannot return the inputs of an operator beside its outputs."""
    step = spec_of(operator).python_step
    return step is not None and step.joins_samples


def check_inputs_untouched(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """The operator does not write into its inputs."""
    if joins_samples(operator):
        return
    with pipeline(batch_size=4) as made:
        with made:
            inputs = sources(example)
            outputs = list_of(function_of(operator)(*inputs, **arguments | name_of_fed(example)))
            made.set_outputs(*outputs, *inputs)
        feed(made, example)
        batch = made.run()
    for tensors, data in zip(batch[len(outputs) :], example.inputs, strict=True):
        for number in range(4):
            np.testing.assert_array_equal(np.array(tensors.at(number)), data.make(number))


def check_empty_batch(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """An empty batch stays empty."""
    if not example.inputs:
        return
    with pipeline() as made:
        with made:
            inputs = [
                fn.external_source(source=no_samples, layout=data.layout or None)
                for data in example.inputs
            ]
            outputs = function_of(operator)(*inputs, **arguments)
            made.set_outputs(*list_of(outputs))
        for tensors in made.run():
            assert len(tensors) == 0


def check_arguments_per_sample(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """It makes no difference whether a value is constant or comes with each sample."""
    spec = spec_of(operator)
    # Adding operators changes the seed of a random operator, unless it has its own.
    arguments |= {"seed": 7} if spec.random else {}
    tensors = {
        arg.name: as_sample(arg, arguments[arg.name])
        for arg in spec.args
        if arg.tensor and arg.name in arguments
    }
    expected = run(operator, example, arguments)
    for name, tensor in tensors.items():
        others = {other: value for other, value in arguments.items() if other != name}
        result = run(operator, example, others, per_sample={name: tensor}, num_threads=2)
        result.check_equals(expected)
    others = {name: value for name, value in arguments.items() if name not in tensors}
    run(operator, example, others, per_sample=tensors).check_equals(expected)


def is_in_chains(operator: str, example: Example) -> bool:
    """Return whether an operator can be part of a chain of image operators with this example."""
    is_image = len(example.inputs) == 1 and example.inputs[0].layout == "HWC"
    return is_image and chain_role(spec_of(operator).native.name) not in ("", "source")


def check_fused(operator: str, example: Example, arguments: dict[str, Any]) -> None:
    """In a chain of image operators it gives bit for bit what it gives alone."""
    if not is_in_chains(operator, example):
        return
    function = partial(_in_chain, operator)
    plain = run(operator, example, arguments, function=function, optimize=False)
    run(operator, example, arguments, function=function).check_equals(plain)


def _in_chain(operator: str, value: Any, /, *others: Any, **arguments: Any) -> Any:
    """Call an operator between two others that it may be fused with."""
    result = function_of(operator)(fn.flip(value), *others, **arguments)
    is_last = chain_role(spec_of(operator).native.name) == "finish" or isinstance(result, list)
    return result if is_last else fn.flip(result, vertical=1)
