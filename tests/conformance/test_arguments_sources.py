"""Arguments of readers and sources, compared with NVIDIA DALI."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core.testing.examples import list_of
from tests.conformance.graphs import check, images, outputs_of, reference

BATCHES = [images((5, 7, 3), (2, 3, 3), (4, 4, 3)), images((1, 7, 3), (2, 9, 3), (4, 6, 3))]


@pytest.mark.parametrize(
    "arguments",
    [
        {"ndim": 3},
        {"dtype": "UINT8"},
        {"dtype": "UINT8", "ndim": 3, "layout": "HWC"},
        {"no_copy": True},
        {"blocking": True},
        {"blocking": False, "no_copy": False},
    ],
)
def test_external_source(arguments: dict[str, Any]) -> None:
    def graph(library: Any) -> Any:
        given = dict(arguments)
        if "dtype" in given:
            given["dtype"] = getattr(library.types, given["dtype"])
        return library.fn.external_source(source=BATCHES, cycle=True, **given)

    check(graph, batches=5)


@pytest.mark.parametrize("arguments", [{"ndim": 2}, {"dtype": "FLOAT"}])
def test_external_source_of_another_kind(arguments: dict[str, Any]) -> None:
    for library in (reference, dali_core):
        given = {
            name: getattr(library.types, value) if name == "dtype" else value
            for name, value in arguments.items()
        }

        def graph(library: Any, given: dict[str, Any] = given) -> Any:
            return library.fn.external_source(source=BATCHES, cycle=True, **given)

        with pytest.raises((RuntimeError, ValueError, TypeError)):
            outputs_of(library, graph)


def called(library: Any, inputs: int, **arguments: Any) -> list[Any]:
    """Return type, layout and samples of the outputs of `python_function`."""
    settings = {"exec_async": False, "exec_pipelined": False}
    pipeline = library.Pipeline(3, 2, None, **settings)
    with pipeline:
        nodes = [
            library.fn.external_source(source=BATCHES, cycle=True, layout="HWC")
            for _ in range(inputs)
        ]
        results = library.fn.python_function(*nodes, **arguments)
        if results is None:
            results = nodes
        pipeline.set_outputs(*list_of(results))
    pipeline.build()
    return [
        (batch.dtype.name, batch.layout(), [np.array(batch.at(i)) for i in range(3)])
        for batch in pipeline.run()
    ]


def check_function(inputs: int = 1, **arguments: Any) -> None:
    ours, theirs = (called(library, inputs, **arguments) for library in (dali_core, reference))
    for (*kind, samples), (*expected_kind, expected) in zip(ours, theirs, strict=True):
        assert kind == expected_kind
        for sample, other in zip(samples, expected, strict=True):
            np.testing.assert_array_equal(sample, other, strict=True)


def test_python_functions() -> None:
    check_function(function=lambda x: 255 - x)
    check_function(2, function=lambda x, y: x.astype(np.float32) * y)
    check_function(function=lambda x: (x.min(axis=2), x.max(axis=2)), num_outputs=2)
    check_function(function=lambda x: x.transpose(2, 0, 1).copy(), output_layouts="CHW")
    check_function(
        function=lambda x: (x, x[..., 0].copy()), num_outputs=2, output_layouts=["HWC", "HW"]
    )


def test_python_functions_of_batches() -> None:
    check_function(function=lambda batch: [255 - x for x in batch], batch_processing=True)
    check_function(
        function=lambda batch: ([x + 1 for x in batch], [x[0] for x in batch]),
        num_outputs=2,
        batch_processing=True,
        output_layouts=["HWC", "WC"],
    )


@pytest.mark.parametrize(
    "arguments",
    [
        {"dont_use_mmap": True},
        {"initial_fill": 3},
        {"lazy_init": True},
        {"prefetch_queue_depth": 3},
        {"read_ahead": True},
        {"skip_cached_images": True},
        {"tensor_init_bytes": 10},
        {"seed": 4},
        {"pad_last_batch": True, "num_shards": 2, "shard_id": 1},
    ],
)
def test_reader_in_order(arguments: dict[str, Any], tmp_path: Path) -> None:
    write_files(tmp_path)
    check(lambda library: library.fn.readers.file(file_root=str(tmp_path), **arguments), batches=4)


def test_reader_with_a_seed_for_shuffling_after_each_epoch(tmp_path: Path) -> None:
    """The orders differ, but each epoch has every file once."""
    write_files(tmp_path)
    for library in (dali_core, reference):
        outputs = outputs_of(
            library,
            lambda library: library.fn.readers.file(
                file_root=str(tmp_path), shuffle_after_epoch=True, shuffle_after_epoch_seed=11
            ),
            batches=4,
        )
        contents = [bytes(sample) for _, _, samples in outputs[::2] for sample in samples]
        assert len(set(contents[:6])) == len(set(contents[6:])) == 6


def write_files(root: Path) -> None:
    for label in "ab":
        (root / label).mkdir()
        for number in range(3):
            (root / label / f"{number}.jpg").write_bytes(f"{label}{number}".encode())
