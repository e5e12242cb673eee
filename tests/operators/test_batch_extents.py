"""The extents of planned batches: edges of buckets, and sizes of images."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Loader, fn, pipeline_def
from dali_core.batching import Bucket, Budget, Pack
from dali_core.operators.batch_extents.step import BatchExtentsStep
from tests.operators.suite import ALL_TYPES, Example, Input, images, numbers, run_on

EXAMPLES = [
    Example("images", [images()], depends_on_batch=True),
    *(
        Example(
            dtype,
            [Input(partial(lambda dtype, number: numbers(dtype, (3 + number,), number), dtype))],
            depends_on_batch=True,
        )
        for dtype in ALL_TYPES
    ),
]
LENGTHS = np.random.default_rng(0).integers(1, 40, 200)


class Documents:
    lengths = LENGTHS

    def __len__(self) -> int:
        return len(LENGTHS)

    def __getitem__(self, index: int) -> np.ndarray:
        return np.full(LENGTHS[index], index)


@pipeline_def(num_threads=2, device_id=None)
def padded() -> Any:
    data = fn.readers.python(Documents(), random_shuffle=True, seed=3)
    return *fn.pad_batch(data, fn.batch_extents(data)), fn.batch_extents(data)


def test_batches_of_a_bucket_have_one_shape() -> None:
    rule = Bucket([10, 20, 40], batch_sizes=[8, 4, 2], group=1)
    plan = rule.plan(LENGTHS, seed=3)
    shapes = set()
    with padded(batching=rule) as pipeline:
        for samples in plan:
            tokens, _, lengths, extents = (batch.as_array() for batch in pipeline.run())
            edge = min(one for one in (10, 20, 40) if one >= LENGTHS[samples].max())
            assert tokens.shape == (len(samples), edge)
            assert extents.tolist() == [[edge]] * len(samples)
            assert lengths.tolist() == LENGTHS[samples].tolist()
            shapes.add(tokens.shape)
    with Loader(padded(batching=rule)) as loader:
        assert f" {len(shapes)} shapes to compile for" in str(loader.describe(1))
    assert plan.report().num_shapes == len(shapes) <= 6


@pytest.mark.parametrize("pad_to", [1, 8])
def test_other_plans_have_the_largest_lengths(pad_to: int) -> None:
    rule = Budget(200, pad_to=pad_to)
    plan = rule.plan(LENGTHS, seed=3)
    with padded(batching=rule) as pipeline:
        for samples in plan[:5]:
            extents = pipeline.run()[3].as_array()
            assert extents.tolist() == [[-(-LENGTHS[samples].max() // pad_to) * pad_to]] * len(
                samples
            )


def test_packed_rows_have_one_shape() -> None:
    plan = Pack(64).plan(LENGTHS, seed=3)
    assert plan.report().num_shapes == plan.report(2, rows=3).num_shapes == 1


def test_buckets_of_heights_and_widths(tmp_path: Path) -> None:
    """Buckets of aspect ratios: the size is a value of the batch."""
    image = pytest.importorskip("PIL.Image", reason="not available: Pillow")
    sizes = [(30, 60), (60, 30), (40, 40), (32, 64), (55, 20), (48, 48), (64, 64), (20, 60)]
    paths = []
    for number, (height, width) in enumerate(sizes):
        paths.append(str(tmp_path / f"{number}.png"))
        image.fromarray(np.full((height, width, 3), 9 * number, np.uint8)).save(paths[-1])
    rule = Bucket([(32, 64), (64, 32), (64, 64)], batch_sizes=2)

    @pipeline_def(num_threads=2, device_id=None, batching=rule, lengths=sizes)
    def images() -> Any:
        encoded, number = fn.readers.file(files=paths, random_shuffle=True, seed=3)
        image = fn.decoders.image(encoded)
        return fn.resize(image, size=fn.batch_extents(number)), number

    plan = rule.plan(np.array(sizes), seed=3)
    found: dict[int, tuple[int, ...]] = {}
    with images() as pipeline:
        for samples in plan:
            resized, numbers = (batch.as_array() for batch in pipeline.run())
            assert numbers[:, 0].tolist() == samples.tolist()
            assert (resized == 9 * numbers[:, :, None, None]).all()
            found |= dict.fromkeys(samples.tolist(), resized.shape[1:3])
    assert [found[number] for number in range(len(sizes))] == [
        next(e for e in rule.edges or () if e[0] >= height and e[1] >= width)
        for height, width in sizes
    ]


def test_batches_without_a_plan_have_the_largest_extents() -> None:
    found = run_on("batch_extents", [np.zeros((3, 4)), np.zeros((2, 7))])
    assert [extents.tolist() for extents in found] == [[3, 7]] * 2


def test_lengths_that_are_no_int32_are_an_error() -> None:
    step = BatchExtentsStep({})

    class Context:
        @staticmethod
        def extents() -> list[int]:
            return [2**31]

    with pytest.raises(ValueError, match="must be below 2"):
        step.run(Context(), [[]])  # type: ignore[arg-type, list-item]
