"""Reports of iterators about samples that epochs drop or repeat."""

from __future__ import annotations

import warnings

import pytest

from dali_core import compat
from dali_core.plugin.base_iterator import IncompleteEpochWarning, LastBatchPolicy
from tests.plugin.fake_pipeline import iterate, numbers, reader_pipeline, source_pipeline

FILL, DROP, PARTIAL = LastBatchPolicy


def test_describe_lists_the_samples_of_epochs() -> None:
    pipelines = [reader_pipeline(7, 2, 2, shard) for shard in (0, 1)]
    iterator = iterate(pipelines, reader_name="reader", last_batch_policy=PARTIAL)
    assert iterator.describe(num_epochs=2).splitlines() == [
        "pipeline 0: 7 samples in 2 shards of 3 to 4, batches of 2",
        "epoch 0: shard 0, positions 0 to 2 (3 samples), batches 0 to 1, 0 padding samples",
        "epoch 1: shard 1, positions 3 to 6 (4 samples), batches 1 to 3, 0 padding samples",
        "pipeline 1: 7 samples in 2 shards of 3 to 4, batches of 2",
        "epoch 0: shard 1, positions 3 to 6 (4 samples), batches 0 to 1, 0 padding samples",
        "epoch 1: shard 0, positions 0 to 2 (3 samples), batches 2 to 3, 0 padding samples",
        "batches",
        "epoch 0: takes batches 0 to 1 of each pipeline; the last one given has [1, 2] samples",
        "epoch 1: takes batches 2 to 3 of each pipeline; the last one given has [2, 1] samples",
        "Every epoch but the first lacks samples, and gives some of the next epoch instead, since "
        "with last_batch_policy=PARTIAL the rest of a batch is lost that continues with the next "
        "epoch. Set pad_last_batch=True in the reader.",
    ]
    dropping = iterate(reader_pipeline(5, 2), size=5, last_batch_policy=DROP)
    assert dropping.describe(1) == (
        "epoch 0: takes batches 0 to 2 of each pipeline and drops 1; the last one given has [2] "
        "samples"
    )
    assert iterate(source_pipeline(1, 2)).describe() == "an epoch ends when the source does"


class TestWarning:
    """Samples that an iterator drops or repeats unintentionally."""

    @pytest.mark.parametrize("num_shards", [1, 2])
    @pytest.mark.parametrize("pad", [False, True])
    @pytest.mark.parametrize("policy", LastBatchPolicy)
    def test_warning_matches_the_missing_samples(
        self, policy: LastBatchPolicy, pad: bool, num_shards: int
    ) -> None:
        """The warning is issued at the first epoch that lacks samples, and only then."""
        for num_samples in range(2, 14):
            pipelines = [
                reader_pipeline(num_samples, 2, num_shards, shard, pad=pad, marked=True)
                for shard in range(num_shards)
            ]
            iterator = iterate(
                pipelines,
                reader_name="reader",
                last_batch_policy=policy,
                prepare_first_batch=False,
            )
            text = iterator.describe()
            lacking = repeating = warned = False
            for epoch in range(4):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    batches = list(iterator)
                found = [number for batch in batches for part in batch for number in part["number"]]
                wanted = set(range(100 * epoch, 100 * epoch + num_samples))
                lacking |= not wanted <= set(found)
                repeating |= len(set(found)) < len(found)
                for warning in caught:
                    assert not warned, "once"
                    warned = True
                    assert policy is PARTIAL
                    assert lacking
                    assert warning.filename == __file__
                    assert issubclass(warning.category, IncompleteEpochWarning)
                    assert "Set pad_last_batch=True in the reader" in str(warning.message)
            assert not repeating or "(padding)" in text or "was left" in text
            if policy is PARTIAL:
                assert lacking == warned == ("lacks samples" in text)
            elif policy is DROP:
                assert lacking == ("leaves out" in text)

    def test_warning_is_issued_once(self) -> None:
        iterator = iterate(
            reader_pipeline(5, 2), reader_name="reader", auto_reset=True, last_batch_policy=PARTIAL
        )
        assert numbers(iterator)[-1] == [4]
        with pytest.warns(IncompleteEpochWarning, match="lacks samples"):
            list(iterator)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            list(iterator)

    def test_warning_is_logged_for_programs_of_the_reference(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        compat.install()
        try:
            for _ in range(2):
                iterator = iterate(
                    reader_pipeline(9, 2), reader_name="reader", last_batch_policy=PARTIAL
                )
                list(iterator), list(iterator)
        finally:
            compat.uninstall()
        assert [record.levelname for record in caplog.records] == ["WARNING"]
        assert "Set pad_last_batch=True" in caplog.text
