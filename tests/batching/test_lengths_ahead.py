"""Lengths that are computed window by window make the same plans as known ones."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dali_core import Loader, fn, pipeline_def
from dali_core.batching import Bucket, Budget, LengthsAhead, Pack
from dali_core.errors import (
    ArgumentConflictError,
    ArgumentTypeError,
    ArgumentValueError,
    StateMismatchError,
)

COUNT, WINDOW = 500, 50
LENGTHS = np.random.default_rng(0).integers(0, 90, (COUNT, 2))


class Counting:
    """Computes lengths, and counts for how many samples."""

    def __init__(self, num_kinds: int = 1) -> None:
        self.num_kinds = num_kinds
        self.computed = 0

    def __call__(self, samples: np.ndarray) -> np.ndarray:
        self.computed += len(samples)
        found: np.ndarray = LENGTHS[samples] if self.num_kinds == 2 else LENGTHS[samples, 0]
        return found


def ahead(function: Any = None, fingerprint: str = "generated", **options: Any) -> LengthsAhead:
    return LengthsAhead(function or Counting(), COUNT, fingerprint=fingerprint, **options)


class Numbers:
    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, index: int) -> np.ndarray:
        return np.array([index])


@pipeline_def(num_threads=2, device_id=None)
def numbers() -> Any:
    return fn.readers.python(Numbers(), random_shuffle=True, seed=3)


def loader(lengths: Any) -> Loader:
    batching = Budget(400).windows(WINDOW, lengths=lengths)
    return Loader(numbers(batching=batching), output_types=["list"])


@pytest.mark.parametrize("rule", [Pack(100), Budget(300), Bucket([30, 60, 90], batch_sizes=4)])
@pytest.mark.parametrize("shuffle", [True, False])
def test_plans_are_those_of_known_lengths(rule: Any, shuffle: bool) -> None:
    options: dict[str, Any] = {"seed": 3, "shuffle": shuffle, "window": WINDOW}
    expected = [one.tolist() for one in rule.plan(LENGTHS[:, 0], **options)]
    assert [one.tolist() for one in rule.plan(ahead(), **options)] == expected


def test_several_kinds() -> None:
    rule = Pack((100, 120))
    found = rule.plan(ahead(Counting(2), num_kinds=2), window=WINDOW)
    assert [one.tolist() for one in found] == [
        one.tolist() for one in rule.plan(LENGTHS, window=WINDOW)
    ]


def test_windows_are_computed_when_they_are_reached() -> None:
    function = Counting()
    plan = Budget(400).plan(ahead(function), seed=3, window=WINDOW)
    assert function.computed == 0
    first = plan[0]
    assert function.computed == WINDOW
    middle = len(plan) // 2
    state, expected = plan.state(middle), plan[middle]
    function.computed = 0
    again = Budget(400).plan(ahead(function), seed=3, window=WINDOW)
    number = again.restore(json.loads(json.dumps(state)))
    assert (again[number] == expected).all()
    assert function.computed == WINDOW
    assert len(first)
    with pytest.raises(StateMismatchError):
        Budget(400).plan(ahead(fingerprint="others"), seed=3, window=WINDOW).restore(state)


def test_pipelines_resume_without_the_windows_before() -> None:
    function = Counting()
    with loader(LENGTHS[:, 0]) as known, loader(ahead(function)) as running:
        expected = [[int(one[0]) for one in batch] for (batch,) in known]
        found = []
        for (batch,) in running:
            found.append([int(one[0]) for one in batch])
            if len(found) == len(expected) - 5:
                break
        assert found == expected[: len(found)]
        state = json.loads(json.dumps(running.state_dict()))
    function.computed = 0
    with loader(ahead(function)) as again:
        again.load_state_dict(state)
        (batch,) = next(iter(again))
        assert [int(one[0]) for one in batch] == expected[len(found)]
        # The first window is looked at when the pipeline is built, and some are prefetched.
        assert function.computed <= 5 * WINDOW < COUNT


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        (lambda samples: samples * 0.5, ArgumentTypeError, "must return integers"),
        (lambda samples: samples[1:], ArgumentValueError, "of shape"),
        (lambda samples: -1 - samples, ArgumentValueError, "from 0 on"),
        (lambda samples: np.stack([samples] * 2, 1), ArgumentValueError, "of shape"),
    ],
)
def test_results_that_are_no_lengths(result: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        Pack(1000).plan(ahead(result))[0]


def test_wrong_arguments() -> None:
    with pytest.raises(ArgumentTypeError, match="must be callable"):
        LengthsAhead([1, 2], 2, fingerprint="")  # type: ignore[arg-type]
    with pytest.raises(ArgumentConflictError, match="edges must be given"):
        Bucket(number=4, tokens=100).plan(ahead())
