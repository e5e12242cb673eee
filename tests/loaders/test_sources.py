"""Pipelines without a reader, with several, and with one that was started before."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dali_core import Loader, fn, mix_readers
from dali_core import pipeline_def as define_pipeline
from dali_core.errors import ArgumentConflictError, ArgumentTypeError, PipelineStateError
from tests.loaders.pipelines import flat, from_source, numbers, read


class TestSources:
    """Pipelines without a reader."""

    def test_an_epoch_ends_with_its_source(self) -> None:
        batches = Loader(from_source(4, [4, 4, 2]))
        for _ in range(3):
            assert flat([flat(batch) for batch in read(batches)]) == list(range(10))
        with pytest.raises(ArgumentTypeError, match="len"):
            len(batches)
        with pytest.raises(ArgumentTypeError, match=r"len\(loader\.dataset\)"):
            len(batches.dataset)
        assert batches
        assert "an epoch ends when the source does" in batches.describe()

    def test_drop_leaves_out_a_smaller_batch(self) -> None:
        batches = Loader(from_source(4, [4, 4, 2]), last_batch="drop")
        for _ in range(2):
            assert [len(batch) for batch in read(batches)] == [4, 4]

    @pytest.mark.parametrize("last_batch", ["pad", "fill"])
    def test_other_policies_need_an_epoch(self, last_batch: Any) -> None:
        with pytest.raises(ArgumentConflictError, match="'partial' or 'drop'"):
            Loader(from_source(4, [4]), last_batch=last_batch)

    def test_cannot_skip(self) -> None:
        batches = Loader(from_source(4, [4, 4, 2]))
        with pytest.raises(PipelineStateError, match="no source in Python"):
            batches.skip(1)


class TestReaders:
    """Which reader's epochs a loader follows."""

    def test_equal_readers_stay_in_step(self, numbered: Path) -> None:
        @define_pipeline(batch_size=4, num_threads=1)
        def pairs() -> tuple[Any, Any]:
            files = sorted(map(str, numbered.glob("class_0/*.jpg")))[:10]
            return fn.readers.file(files=files)[1], fn.readers.file(files=files)[1]

        batches = Loader(pairs())
        for _ in range(3):
            given = [(a.tolist(), b.tolist()) for a, b in batches]
            assert flat([a for a, _ in given]) == list(range(10))
            assert all(a == b for a, b in given)

    def test_different_readers_need_a_name(self, numbered: Path) -> None:
        @define_pipeline(batch_size=4, num_threads=1)
        def pairs() -> tuple[Any, Any]:
            files = sorted(map(str, numbered.glob("class_0/*.jpg")))
            return (
                fn.readers.file(files=files[:10], name="long")[1],
                fn.readers.file(files=files[:3], name="short")[1],
            )

        with pytest.raises(ArgumentConflictError, match=r"'long': 10, 'short': 3"):
            Loader(pairs())
        batches = Loader(pairs(), reader="long")
        assert len(batches) == 3
        assert len(batches.dataset) == 10

    def test_a_mixture_is_a_reader(self, numbered: Path) -> None:
        files = sorted(map(str, numbered.glob("class_0/*.jpg")))

        @define_pipeline(batch_size=4, num_threads=1)
        def mixed() -> Any:
            return mix_readers(
                [
                    lambda: fn.readers.file(files=files[:6])[1],
                    lambda: fn.readers.file(files=files[6:10], labels=[6, 7, 8, 9])[1],
                ],
                weights=[0.5, 0.5],
            )

        batches = Loader(mixed())
        (first, *_), *_ = list(batches)
        assert first.shape == (4,)
        sizes = [len(batch) for (batch,) in batches]
        assert sum(sizes) == len(batches.dataset)

    def test_a_built_pipeline_must_pad(self, numbered: Path) -> None:
        pipeline = numbers(numbered, 10, 4)
        pipeline.build()
        with pytest.raises(ArgumentConflictError, match="Do not build the pipeline before"):
            Loader(pipeline)
        assert len(Loader(pipeline, last_batch="fill")) == 3
        padded = numbers(numbered, 10, 4, pad_last_batch=True)
        padded.build()
        assert sorted(flat(read(Loader(padded)))) == list(range(10))
        fits = numbers(numbered, 8, 4)
        fits.build()
        assert sorted(flat(read(Loader(fits)))) == list(range(8))
