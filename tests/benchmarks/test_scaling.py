"""Another number of processes goes on with the same global batches."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scaling import ShardLayout, lose_node


@given(
    st.sampled_from([1, 2, 3, 4, 6, 12]),
    st.sampled_from([1, 2, 3, 4, 6, 12]),
    st.integers(12, 80),
    st.data(),
)
def test_every_sample_is_read_once(
    before: int, now: int, num_samples: int, data: st.DataObject
) -> None:
    layouts = [ShardLayout(shards, 12 // shards) for shards in (before, now)]
    num_batches = -(-num_samples // 12)
    done = data.draw(st.integers(0, num_batches))
    found = lose_node(num_samples, layouts[0], layouts[1], done)
    assert found.position == done * layouts[1].batch_size
    assert found.num_batches == num_batches
    assert found.num_runs == done * before + (num_batches - done) * now


def test_other_global_batches_cannot_resume() -> None:
    with pytest.raises(ValueError, match="cannot resume after 1 batches"):
        lose_node(100, ShardLayout(4, 3), ShardLayout(3, 5), 1)
