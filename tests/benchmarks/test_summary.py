"""Statistics of benchmark results."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.summary import Spread, quartiles, ratio_of_medians

RATES = st.floats(1, 1e4)


def test_quartiles_of_known_values() -> None:
    assert quartiles([5.0, 1.0, 3.0, 2.0, 4.0]) == Spread(2.0, 3.0, 4.0)
    assert quartiles([7.0]) == Spread(7.0, 7.0, 7.0)


def test_ratio_of_constant_rates_is_certain() -> None:
    assert ratio_of_medians([30.0] * 7, [20.0] * 7) == Spread(1.5, 1.5, 1.5)


@given(st.lists(st.tuples(RATES, RATES), min_size=1, max_size=9))
def test_bounds_stay_between_the_extremes(rounds: list[tuple[float, float]]) -> None:
    ours, theirs = zip(*rounds, strict=True)
    spread = ratio_of_medians(ours, theirs)
    assert spread.low <= spread.high
    lowest = min(ours) / max(theirs)
    highest = max(ours) / min(theirs)
    assert lowest <= spread.low * (1 + 1e-12)
    assert spread.high <= highest * (1 + 1e-12)


def test_disturbance_of_a_round_cancels_out() -> None:
    # The machine was half as fast in some rounds, for both.
    slow = [1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0]
    spread = ratio_of_medians([200 * share for share in slow], [100 * share for share in slow])
    assert spread == Spread(2.0, 2.0, 2.0)


def test_rounds_must_be_pairs() -> None:
    with pytest.raises(ValueError, match=r"as many rounds \(got 2 and 3\)"):
        ratio_of_medians([1.0, 2.0], [1.0, 2.0, 3.0])
