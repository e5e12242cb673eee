"""Pasting regions of several images: bitwise identical to NVIDIA DALI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from tests.generated_images import encode

reference = pytest.importorskip("nvidia.dali", reason="not available: NVIDIA DALI")
pytest.importorskip("nvidia.dali.fn", reason="not available: NVIDIA DALI")

Samples: TypeAlias = "Sequence[np.ndarray]"
TYPES = ["uint8", "int16", "int32", "float32"]


def always(samples: Samples) -> Callable[[], list[np.ndarray]]:
    return lambda: list(samples)


def image(seed: int, height: int = 5, width: int = 7, dtype: str = "uint8") -> np.ndarray:
    random = np.random.default_rng([seed, height, width])
    return (random.integers(1, 1000, (height, width, 3)) / 4).astype(dtype)


def run(
    library: Any,
    inputs: Sequence[Samples],
    per_sample: Mapping[str, Samples],
    constants: Mapping[str, Any],
) -> tuple[list[np.ndarray], str, str]:
    constants = {
        name: getattr(library.types, value) if name == "dtype" else value
        for name, value in constants.items()
    }
    source = library.fn.external_source
    size = len(inputs[0])
    pipeline = library.Pipeline(batch_size=size, num_threads=1, device_id=None)
    with pipeline:
        nodes = [source(source=always(samples), layout="HWC") for samples in inputs]
        arguments = {name: source(source=always(data)) for name, data in per_sample.items()}
        pipeline.set_outputs(library.fn.multi_paste(*nodes, **arguments, **constants))
    pipeline.build()
    (batch,) = pipeline.run()
    return [np.array(batch.at(i)) for i in range(size)], batch.layout(), batch.dtype.name


def check(
    *inputs: Samples, per_sample: Mapping[str, Samples] | None = None, **constants: Any
) -> None:
    expected, *expected_kind = run(reference, inputs, per_sample or {}, constants)
    ours, *our_kind = run(dali_core, inputs, per_sample or {}, constants)
    assert our_kind == expected_kind
    for mine, theirs in zip(ours, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs, strict=True)


def refuse(
    *inputs: Samples, per_sample: Mapping[str, Samples] | None = None, **constants: Any
) -> None:
    for library in (reference, dali_core):
        with pytest.raises((RuntimeError, ValueError, TypeError)):
            run(library, inputs, per_sample or {}, constants)


EQUAL = [image(i) for i in range(3)]
DIFFERENT = [image(0, 5, 7), image(1, 8, 3), image(2, 2, 9)]


def rows(*numbers: Any, dtype: Any = np.int32) -> Samples:
    return [np.array(numbers, dtype).reshape(-1, 2)] * 3


def test_default_canvas() -> None:
    check(EQUAL)
    check(EQUAL, [other[::-1].copy() for other in EQUAL])
    check(EQUAL, in_ids=[2, 1])
    check(EQUAL, per_sample={"in_ids": [np.int32([i, 0]) for i in range(3)]})
    check(EQUAL, per_sample={"in_ids": [np.zeros(0, np.int32)] * 3})
    refuse(DIFFERENT)


def test_absolute_coordinates() -> None:
    ids = [np.int32([1, 2]), np.int32([2, 2]), np.int32([0, 1])]
    anchors = {
        "in_ids": ids,
        "in_anchors": rows(0, 1, 1, 0),
        "shapes": rows(2, 1, 1, 2),
        "out_anchors": rows(3, 3, 3, 4),
    }
    check(DIFFERENT, per_sample=anchors, output_size=[6, 8])
    check(DIFFERENT, EQUAL, per_sample={"out_anchors": rows(0, 0, 2, 1)}, output_size=[11, 12])
    sizes = [np.int32([20, 9 + i]) for i in range(3)]
    check(DIFFERENT, per_sample={"output_size": sizes})


def test_relative_coordinates() -> None:
    random = np.random.default_rng(0)
    samples = [image(i, *random.integers(3, 20, 2)) for i in range(60)]
    starts = [random.uniform(0, 0.9, (1, 2)).astype(np.float32) for _ in samples]
    shares = [
        (random.uniform(0, 1, (1, 2)).astype(np.float32) * (np.float32(0.95) - start)).clip(0)
        for start in starts
    ]
    places = [random.uniform(0, 0.5, (1, 2)).astype(np.float32) for _ in samples]
    relative = {"in_anchors_rel": starts, "shapes_rel": shares, "out_anchors_rel": places}
    for names in (list(relative), ["shapes_rel"], ["out_anchors_rel"], ["in_anchors_rel"]):
        chosen = {name: relative[name] for name in names}
        check(samples, per_sample=chosen, output_size=[43, 47])


@pytest.mark.parametrize("source", TYPES)
def test_types(source: str) -> None:
    samples = [image(i, dtype=source) - np.array(20.5).astype(source) for i in range(3)]
    check(samples)
    for target in ("UINT8", "INT16", "INT32", "FLOAT"):
        check(samples, dtype=target)


def test_invalid_arguments_raise_in_both() -> None:
    refuse(EQUAL, in_ids=[1, 5])
    refuse(EQUAL, EQUAL, in_ids=[1])
    refuse(EQUAL, output_size=[2, 2])
    refuse(EQUAL, per_sample={"in_anchors": rows(-1, 2)})
    refuse(EQUAL, per_sample={"in_anchors": rows(9, 2)})
    refuse(EQUAL, per_sample={"shapes": rows(6, 2)})
    refuse(EQUAL, per_sample={"out_anchors": rows(0, 3)})
    both = {"shapes": rows(1, 1), "shapes_rel": rows(0.5, 0.5, dtype=np.float32)}
    refuse(EQUAL, per_sample=both)


def test_the_files_of_all_images(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(encode(image(number), "PNG"))
    ids = [np.int32([2, 0, 1]), np.int32([1, 1]), np.int32([])]
    logs = []
    for library in (dali_core, reference):
        pipeline = library.Pipeline(3, 1, None)
        with pipeline:
            encoded, _ = library.fn.readers.file(
                file_root=str(tmp_path), files=[f"{number}.png" for number in range(3)]
            )
            images = library.fn.decoders.image(encoded)
            turned = library.fn.permute_batch(images, indices=[1, 2, 0])
            plain = library.fn.constant(
                idata=[1] * 105, shape=[5, 7, 3], dtype=library.types.UINT8, layout="HWC"
            )
            chosen = library.fn.external_source(always(ids))
            pipeline.set_outputs(
                library.fn.multi_paste(images, in_ids=chosen, output_size=[9, 9]),
                library.fn.multi_paste(images, turned, output_size=[9, 9]),
                library.fn.multi_paste(plain, images, output_size=[9, 9]),
                library.fn.multi_paste(plain, plain, output_size=[9, 9]),
            )
        pipeline.build()
        logs.append([[sample.source_info() for sample in batch] for batch in pipeline.run()])
    assert logs[0] == logs[1]
    assert logs[0][0] == ["2.png;0.png;1.png", "1.png;1.png", ""]
