"""`batching.measure_lengths`: measured once, kept by fingerprint, continued if interrupted."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dali_core._file_cache import CACHE_VARIABLE
from dali_core.batching import Pack, measure_lengths, measured_lengths
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.caches import warned_of_cache


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the index cache of a test, whose entries have few samples."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(measured_lengths, "_PART_SAMPLES", 10)
    return tmp_path / "cache"


class Counted:
    """Lengths of samples, and which were asked for."""

    def __init__(self, stop_at: int = -1) -> None:
        self.asked: list[int] = []
        self.stop_at = stop_at
        self._lock = threading.Lock()

    def __call__(self, samples: NDArray[np.int64]) -> list[int]:
        with self._lock:
            self.asked += samples.tolist()
        if self.stop_at in samples:
            raise ValueError("stopped")
        return [int(sample) % 7 + 1 for sample in samples]


@pytest.mark.parametrize("num_samples", [0, 1, 9, 10, 11, 35])
@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("batch_size", [1, 4, 100])
def test_each_sample_is_measured_once(num_samples: int, num_threads: int, batch_size: int) -> None:
    options: dict[str, Any] = {"batch_size": batch_size, "num_threads": num_threads}
    first, second = Counted(), Counted()
    expected = [n % 7 + 1 for n in range(num_samples)]
    for measure in (first, second):
        found = measure_lengths(measure, num_samples, fingerprint="data", **options)
        assert found.tolist() == expected
        assert found.dtype == np.int32
    assert sorted(first.asked) == list(range(num_samples))
    assert second.asked == []


def test_an_interrupted_pass_continues() -> None:
    with pytest.raises(ValueError, match="stopped"):
        measure_lengths(Counted(25), 35, fingerprint="data", num_threads=1, batch_size=5)
    again = Counted()
    assert len(measure_lengths(again, 35, fingerprint="data")) == 35
    assert sorted(again.asked) == list(range(20, 35))


def test_the_fingerprint_decides(tmp_path: Path) -> None:
    path = tmp_path / "data.txt"
    path.write_text("one")
    given: list[Any] = ["a", "b", ["a", "b"], ["ab"], [path, "a"], path]
    for fingerprint in given:
        measure = Counted()
        measure_lengths(measure, 3, fingerprint=fingerprint)
        assert len(measure.asked) == 3
    path.write_text("another")
    for fingerprint in given:
        measure = Counted()
        measure_lengths(measure, 3, fingerprint=fingerprint)
        has_path = path in (fingerprint if isinstance(fingerprint, list) else [fingerprint])
        assert len(measure.asked) == 3 * has_path
    other_count = Counted()
    measure_lengths(other_count, 4, fingerprint="a")
    assert len(other_count.asked) == 4
    with pytest.raises(ArgumentValueError, match="files that exist"):
        measure_lengths(Counted(), 3, fingerprint=tmp_path / "missing")
    with pytest.raises(ArgumentTypeError, match=r"texts and paths \(got 3\)"):
        measure_lengths(Counted(), 3, fingerprint=["a", 3])  # type: ignore[list-item]


def test_several_lengths_of_each_and_large_ones() -> None:
    def pairs(samples: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.stack([samples, 2**40 * (samples > 20)], 1)

    expected = [[n, 2**40 * (n > 20)] for n in range(25)]
    for _ in range(2):
        found = measure_lengths(pairs, 25, fingerprint="pairs")
        assert found.tolist() == expected
        assert found.dtype == np.int64


def test_damaged_entries_are_measured_again(cache: Path) -> None:
    measure_lengths(Counted(), 20, fingerprint="data")
    path = cache / "lengths-1.sqlite"
    path.write_bytes(path.read_bytes().replace(b"dcml", b"dcmx"))
    again = Counted()
    with warned_of_cache("a wrong checksum"):
        found = measure_lengths(again, 20, fingerprint="data")
    assert found.tolist() == [n % 7 + 1 for n in range(20)]
    assert len(again.asked) == 20


def test_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, "")
    for _ in range(2):
        measure = Counted()
        assert len(measure_lengths(measure, 12, fingerprint="data")) == 12
        assert len(measure.asked) == 12


@pytest.mark.parametrize(
    ("result", "error", "message"),
    [
        ([0.5, 1.0], ArgumentTypeError, "samples 0 to 2 .got an array of float64"),
        ([1], ArgumentValueError, r"shape \(1,\)"),
        ([1, -1], ArgumentValueError, "got -1 for sample 1"),
        (np.array([1, 2**63], np.uint64), ArgumentValueError, "for sample 1"),
        ([[[1]], [[2]]], ArgumentValueError, r"shape \(2, 1, 1\)"),
    ],
)
def test_results_that_are_no_lengths(result: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        measure_lengths(lambda _: result, 2, fingerprint="wrong")


def test_other_shapes_are_refused() -> None:
    with pytest.raises(ArgumentValueError, match="as many lengths for each sample"):
        measure_lengths(
            lambda some: np.zeros((len(some), 1 + some[0] // 4), int),
            8,
            fingerprint="shapes",
            batch_size=4,
        )


def test_progress_is_shown(capfd: pytest.CaptureFixture[str]) -> None:
    measure_lengths(Counted(), 30, fingerprint="data", batch_size=1, progress=True)
    assert "Lengths" in capfd.readouterr().err


def test_plans_of_measured_lengths() -> None:
    lengths = measure_lengths(Counted(), 50, fingerprint="data")
    plan = Pack(12).plan(lengths)
    assert sorted(np.concatenate(list(plan)).tolist()) == list(range(50))
    assert all(lengths[bins].sum() <= 12 for bins in plan)
