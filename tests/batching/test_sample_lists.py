"""Lists of samples are planned as one, and come out one after the other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dali_core import Pipeline, fn, pipeline_def
from dali_core.batching import Budget, Pack
from dali_core.batching.sample_lists import SampleLists
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError

RANDOM = np.random.default_rng(0)
SIZES = RANDOM.integers(0, 5, 60)
SIZES[7] = 9
LENGTHS = RANDOM.integers(1, 20, 60) + 10 * SIZES
ENDS = np.cumsum(SIZES)
LISTS = [list(range(end - size, end)) for end, size in zip(ENDS, SIZES, strict=True)]


class Numbers:
    """Gives the number of each sample, of length 3 each."""

    def __len__(self) -> int:
        return int(SIZES.sum())

    @property
    def lengths(self) -> np.ndarray:
        return np.full(len(self), 3)

    def __getitem__(self, index: int) -> np.ndarray:
        return np.array([index])


@pipeline_def(num_threads=2, device_id=None)
def numbers(rank: int = 0, ranks: int = 1, *, shuffle: bool = True, **reader: Any) -> Any:
    return fn.readers.python(
        Numbers(), random_shuffle=shuffle, seed=3, shard_id=rank, num_shards=ranks, **reader
    )


def take(pipeline: Pipeline, count: int) -> list[list[int]]:
    return [[int(np.asarray(one)[0]) for one in pipeline.run()[0]] for _ in range(count)]


@pytest.mark.parametrize("repack", ["each_epoch", "once"])
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("rule", [Pack(120), Budget(400)])
def test_lists_of_the_plan(rule: Any, shuffle: bool, repack: Any) -> None:
    batching = rule.windows(16, repack=repack, lengths=LENGTHS, list_sizes=SIZES)
    plan = rule.plan(LENGTHS, seed=3, shuffle=shuffle, window=16, repack=repack)
    expected = [[i for one in lists for i in LISTS[one]] for lists in plan]
    assert sorted(i for batch in expected for i in batch) == list(range(SIZES.sum()))
    with numbers(shuffle=shuffle, batching=batching) as pipeline:
        assert take(pipeline, len(plan)) == expected
    two = [numbers(rank, 2, shuffle=shuffle, batching=batching) for rank in range(2)]
    steps = len(plan) // 2
    found = zip(take(two[0], steps), take(two[1], steps), strict=True)
    assert [batch for step in found for batch in step] == expected[: 2 * steps]
    for pipeline in two:
        pipeline.close()


def test_resume_at_every_step() -> None:
    batching = Pack(120).windows(16, lengths=LENGTHS, list_sizes=SIZES)
    with numbers(batching=batching) as pipeline:
        states, batches = [], []
        for _ in range(20):
            states.append(pipeline.checkpoint())
            batches += take(pipeline, 1)
    for step in range(0, 18, 3):
        with numbers(batching=batching, checkpoint=states[step]) as again:
            assert take(again, 2) == batches[step : step + 2]


def test_lengths_are_sums_of_those_that_the_reader_declares() -> None:
    batching = Budget(60, padded=False).windows(list_sizes=SIZES)
    plan = Budget(60, padded=False).plan(3 * SIZES, seed=3)
    with numbers(batching=batching) as pipeline:
        assert take(pipeline, 5) == [[i for one in plan[k] for i in LISTS[one]] for k in range(5)]
    lists = SampleLists([2, 0, 3])
    assert lists.sums([[1, 5], [2, 6], [3, 7], [4, 8], [5, 9]]).tolist() == [
        [3, 11],
        [0, 0],
        [12, 24],
    ]


def test_images_of_documents_are_decoded_resized_and_packed(tmp_path: Path) -> None:
    """A list of images of each document comes out flat, with offsets."""
    counts, paths = [2, 0, 1, 3], []
    for number in range(sum(counts)):
        paths.append(str(tmp_path / f"{number}.png"))
        colours = np.full((20 + 30 * number, 100, 3), 40 * number, np.uint8)
        Image.fromarray(colours).save(paths[-1])
    rule: dict[str, Any] = {"patch": 14, "merge": 2, "max_pixels": 10_000}
    batching = Pack(40).windows(lengths=[10, 5, 12, 20], list_sizes=counts)

    @pipeline_def(num_threads=2, device_id=None, batching=batching)
    def images() -> Any:
        encoded, number = fn.readers.file(files=paths, random_shuffle=True, seed=3)
        size, tokens = fn.image_tokens(fn.peek_image_shape(encoded), **rule)
        image = fn.resize(fn.decoders.image(encoded), size=size)
        pixels = fn.reshape(image, shape=[-1, 3], layout="")
        pixels, sizes, tokens, numbers, *_ = fn.pack(
            pixels, size, tokens, number, per_segment=[1, 2, 3]
        )
        return pixels, sizes, tokens, numbers, _[2]

    plan = Pack(40).plan(np.array([10, 5, 12, 20]), seed=3)
    firsts = np.cumsum([0, *counts])
    with images() as pipeline:
        for documents in plan:
            own = [n for d in documents for n in range(firsts[d], firsts[d + 1])]
            pixels, sizes, tokens, found, offsets = (batch.at(0) for batch in pipeline.run())
            assert found[:, 0].tolist() == own
            np.testing.assert_array_equal(np.diff(offsets), sizes.prod(1))
            assert tokens.tolist() == (sizes.prod(1) // 28**2).tolist()
            for number, start, end in zip(own, offsets, offsets[1:], strict=False):
                assert (pixels[start:end] == 40 * number).all()


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ([0.5], ArgumentTypeError, "list_sizes: must be integers"),
        ([[1]], ArgumentValueError, "one number from 0 on for each list"),
        ([3, -1], ArgumentValueError, "and -1"),
    ],
)
def test_wrong_sizes(sizes: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Pack(8).windows(list_sizes=sizes)


def test_sizes_that_do_not_fit() -> None:
    def build(reader: Any = None, **changed: Any) -> None:
        arguments = {"lengths": LENGTHS, "list_sizes": SIZES} | changed
        with numbers(batching=Pack(120).windows(**arguments), **reader or {}) as pipeline:
            pipeline.build()

    with pytest.raises(ArgumentValueError, match="must have the sum"):
        build(list_sizes=SIZES[:-1])
    with pytest.raises(ArgumentValueError, match="an entry for each of 60 lists"):
        build(lengths=LENGTHS[:-1])
    with pytest.raises(ArgumentConflictError, match="no sampler"):
        build({"sampler": list(range(SIZES.sum())), "shuffle": False})


def test_a_bin_of_empty_lists_is_an_empty_batch() -> None:
    sizes = [0, SIZES.sum()]
    batching = Pack(5).windows(lengths=[5, 5], list_sizes=sizes)
    with numbers(shuffle=False, batching=batching) as pipeline:
        assert take(pipeline, 3) == [[], list(range(SIZES.sum())), []]
