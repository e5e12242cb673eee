"""Reports of iterators about samples that epochs drop or repeat."""

from __future__ import annotations

import warnings
from typing import Any

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
        "epoch 0: takes batches 0 to 1 of each pipeline; the last one given has [1, 2] samples; "
        "all shards give 7 of 7 samples",
        "epoch 1: takes batches 2 to 3 of each pipeline; the last one given has [2, 1] samples; "
        "all shards give 6 of 7 samples and 1 others",
        "Epoch 1 gives 6 of 7 samples and 1 others: every epoch but the first lacks samples, and "
        "gives some of the next epoch instead, since with last_batch_policy=PARTIAL the rest of a "
        "batch is lost that continues with the next epoch. Set pad_last_batch=True in the reader.",
    ]
    assert iterate(source_pipeline(1, 2)).describe() == "an epoch ends when the source does"


# What the epochs of 800 samples in batches of 64 give, by policy and padding.
OF_800 = {
    (FILL, False): ["800 of 800 samples and 32 others", "768 of 800 samples", "800 of 800"],
    (FILL, True): ["800 of 800 samples and 32 others"] * 3,
    (PARTIAL, False): ["800 of 800", "768 of 800 samples and 32 others", "736 of 800"],
    (PARTIAL, True): ["800 of 800 samples"] * 3,
    (DROP, False): ["768 of 800 samples", "768 of 800 samples", "736 of 800 samples and 32 others"],
    (DROP, True): ["768 of 800 samples"] * 3,
}
REMEDIES = {
    (FILL, False): ["32 others, and epoch 1 768 of 800", "last_batch_policy=LastBatchPolicy.PART"],
    (FILL, True): ["every epoch repeats", "(padding)", "last_batch_policy=LastBatchPolicy.PARTIAL"],
    (PARTIAL, False): ["Epoch 1 gives 768 of 800 samples and 32 others", "pad_last_batch=True"],
    (PARTIAL, True): [],
    (DROP, False): ["leaves out 32 of 800", "Epoch 2 gives 736 of 800", "pad_last_batch=True"],
    (DROP, True): ["leaves out 32 of 800"],
}


@pytest.mark.parametrize(("policy", "pad"), OF_800)
@pytest.mark.parametrize("by_size", [False, True])
@pytest.mark.filterwarnings("ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning")
def test_describe_has_the_numbers_of_every_policy(
    policy: LastBatchPolicy, pad: bool, by_size: bool
) -> None:
    counted: dict[str, Any] = {"size": 800, "last_batch_padded": pad}
    iterator = iterate(
        reader_pipeline(800, 64, pad=pad, marked=True),
        last_batch_policy=policy,
        prepare_first_batch=False,
        **counted if by_size else {"reader_name": "reader"},
    )
    lines = iterator.describe(3).splitlines()
    table = [line for line in lines if "takes batches" in line]
    assert len(table) == 3
    for line, expected in zip(table, OF_800[policy, pad], strict=True):
        assert f"all shards give {expected}" in line
    sentences = " ".join(lines[lines.index(table[-1]) + 1 :])
    assert bool(sentences) == bool(REMEDIES[policy, pad])
    for part in REMEDIES[policy, pad]:
        assert part in sentences
    if by_size and not pad:
        assert "pass reader_name instead of size, or last_batch_padded=True" in sentences
    for epoch, line in enumerate(table):
        given = flat(iterator)
        own = len({*given} & {*range(1000 * epoch, 1000 * epoch + 800)})
        assert f"give {own} of 800 samples" in line
        assert len(given) == own + (32 if "32 others" in line else 64 if "64 others" in line else 0)


def test_a_source_with_a_size_may_start_over() -> None:
    """Whether the rest of a batch is lost is not known then; what FILL gives is."""
    for policy in (PARTIAL, DROP):
        text = iterate(source_pipeline(3, 2), size=5, last_batch_policy=policy).describe(2)
        assert "lacks" not in text
        assert (
            f"epoch 1: takes batches 3 to 5 of each pipeline{' and' if policy is DROP else ';'}"
            in text
        )
    assert "5 of 5 samples and 1 others" in iterate(source_pipeline(3, 2), size=5).describe(1)


def flat(batches: Any) -> list[int]:
    return [number for batch in batches for part in batch for number in part["number"]]


class TestWarning:
    """Samples that an iterator drops or repeats unintentionally."""

    @pytest.mark.parametrize("num_shards", [1, 2])
    @pytest.mark.parametrize("pad", [False, True, None])
    @pytest.mark.parametrize("policy", LastBatchPolicy)
    def test_warning_matches_the_missing_samples(
        self, policy: LastBatchPolicy, pad: bool | None, num_shards: int
    ) -> None:
        """The warning is issued in the first epoch that is not the data set, and only then."""
        num_warned = 0
        for num_samples in range(2, 14):
            pipelines = [
                reader_pipeline(num_samples, 2, num_shards, shard, pad=pad, marked=True)
                for shard in range(num_shards)
            ]
            iterator = iterate(pipelines, last_batch_policy=policy, prepare_first_batch=False)
            text = iterator.describe()
            dropped = num_samples % (2 * num_shards) if policy is DROP else 0
            differs = False
            for epoch in range(5):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    found = flat(iterator)
                wanted = {*range(1000 * epoch, 1000 * epoch + num_samples)}
                is_exact = len(found) == len(wanted & {*found}) == num_samples - dropped
                assert len(caught) == (not differs and not is_exact)
                differs |= not is_exact
                for warning in caught:
                    num_warned += 1
                    assert warning.filename == __file__
                    assert issubclass(warning.category, IncompleteEpochWarning)
                    assert f"Epoch {epoch} gives" in str(warning.message)
                    assert f"Epoch {epoch} gives" in text
            assert differs == (" others" in text)
            assert bool(dropped) == ("leaves out" in text)
        is_fixed = pad is None and policy is PARTIAL
        is_fixed |= pad is True and policy is PARTIAL
        is_fixed |= pad is not False and policy is DROP and num_shards == 1
        assert (num_warned == 0) == is_fixed

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
