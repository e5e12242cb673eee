"""Functions of the user: when they are called, their arguments, and properties of their results."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.ops
import dali_core.types
from dali_core.testing.examples import list_of
from tests.conformance.pipelines import outcome, plain, reference
from tests.generated_images import encode

pytest.importorskip("nvidia.dali.ops", reason="not available: NVIDIA DALI")


class Capsule:
    """A DLPack capsule as `numpy.from_dlpack` takes it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


def doubled(capsule: Any) -> Any:
    return (np.from_dlpack(Capsule(capsule)) * 2).__dlpack__()


def data(library: Any) -> Any:
    return library.fn.external_source(
        lambda: np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2), layout="HWC"
    )


def check(build: Callable[[Any], Any]) -> Any:
    logs = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None)
        with pipeline:
            outputs = build(library)
            pipeline.set_outputs(*list_of(outputs))
        logs.append(
            outcome(lambda: (pipeline.build(), list(pipeline.run()))[1], library)  # noqa: B023
        )
    assert logs[0] == logs[1]
    return logs[0]


@pytest.mark.parametrize("layouts", [["IJK"], "IJK", ["IJK", "LMN"], ["", "LMN"], [], None])
def test_layouts(layouts: Any) -> None:
    found = check(
        lambda lib: lib.fn.python_function(
            data(lib), function=lambda x: (x, x + 1), num_outputs=2, output_layouts=layouts
        )
    )
    assert [output[1] for output in found] == {
        "['IJK']": ["IJK", ""],
        "IJK": ["IJK", "IJK"],
        "['IJK', 'LMN']": ["IJK", "LMN"],
        "['', 'LMN']": ["", "LMN"],
    }.get(str(layouts), ["", ""])


def test_more_layouts_than_outputs() -> None:
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None)
        with pipeline:
            node = library.fn.python_function(
                data(library), function=lambda x: x, output_layouts=["ABC", "DEF"]
            )
            pipeline.set_outputs(node)
        with pytest.raises((RuntimeError, TypeError)):
            pipeline.build()


@pytest.mark.parametrize(
    "build",
    [
        lambda lib: lib.fn.dl_tensor_python_function(
            data(lib), function=lambda batch: [doubled(entry) for entry in batch]
        ),
        lambda lib: lib.fn.dl_tensor_python_function(
            data(lib), function=doubled, batch_processing=False, output_layouts="ABC"
        ),
        lambda lib: tuple(
            lib.fn.dl_tensor_python_function(
                data(lib),
                data(lib),
                function=lambda one, other: (one, doubled(other)),
                num_outputs=2,
                batch_processing=False,
                output_layouts=["ABC"],
            )
        ),
        lambda lib: lib.ops.DLTensorPythonFunction(
            lambda batch: [doubled(entry) for entry in batch]
        )(data(lib)),
    ],
)
def test_functions_of_capsules(build: Callable[[Any], Any]) -> None:
    found = check(build)
    assert np.ravel(found[-1][2]).tolist() == [2 * number for number in range(16)]


@pytest.mark.parametrize("name", ["python_function", "dl_tensor_python_function"])
@pytest.mark.parametrize("num_outputs", [0, 1])
def test_a_function_is_called_even_if_nothing_uses_its_results(name: str, num_outputs: int) -> None:
    for library in (dali_core, reference):
        calls = []

        def function(value: Any) -> Any:
            calls.append(1)  # noqa: B023
            return value if num_outputs else None

        pipeline = library.Pipeline(2, 1, None)
        with pipeline:
            node = data(library)
            getattr(library.fn, name)(node, function=function, num_outputs=num_outputs)
            pipeline.set_outputs(node)
        pipeline.build()
        pipeline.run()
        assert calls


def test_files_of_results(tmp_path: Path) -> None:
    for number in range(2):
        image = np.full((4, 4, 3), number, np.uint8)
        (tmp_path / f"{number}.png").write_bytes(encode(image, "PNG"))
    logs = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None)
        with pipeline:
            encoded, _ = library.fn.readers.file(file_root=str(tmp_path), files=["1.png", "0.png"])
            images = library.fn.decoders.image(encoded)
            pipeline.set_outputs(
                library.fn.python_function(images, function=lambda x: x + 1),
                library.fn.dl_tensor_python_function(images, function=lambda x: x),
            )
        pipeline.build()
        logs.append([[sample.source_info() for sample in batch] for batch in pipeline.run()])
    assert logs == [[["1.png", "0.png"]] * 2] * 2


def test_results_of_functions_that_write_into_their_inputs() -> None:
    """The results of such a function are the same; here, its writes have no side effects."""

    def written(array: Any) -> Any:
        array += 1
        return array

    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None)
        with pipeline:
            node = data(library)
            once = library.fn.python_function(node, function=written)
            alone = library.fn.python_function(data(library), function=written)
            batch = library.fn.python_function(
                data(library),
                function=lambda arrays: [written(array) for array in arrays],
                batch_processing=True,
            )
            pipeline.set_outputs(once, alone, batch)
        pipeline.build()
        for _ in range(3):
            for output in plain(list(pipeline.run()), library):
                assert np.ravel(output[2]).tolist() == list(range(1, 17))
