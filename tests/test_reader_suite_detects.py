"""The suite of readers fails for readers that break their contract."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from dali_core import readers
from dali_core.testing import ReaderSuite


class Counting(readers.FetchedSource):
    """Numbers, whose sizes are in a file."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __len__(self) -> int:
        return 10

    def fetch(self, index: int) -> Any:
        if index == 3 and not Path(self.path).exists():
            raise ValueError(f"{self.path!r}, number 3: there is no such file")
        return np.int64(index)


class OrderMatters(Counting):
    last = 0

    def fetch(self, index: int) -> Any:
        self.last += 1
        return np.int64(index + self.last // 15)


class ManyDiffer(Counting):
    def fetch_many(self, indices: Sequence[int]) -> Sequence[Any]:
        return [np.int32(index) for index in indices]


class FewLengths(Counting):
    @property
    def lengths(self) -> Any:
        return np.ones(9, np.int64)


class WrongBlocks(Counting):
    @property
    def blocks(self) -> Sequence[int]:
        return [5, 6]


class OtherFingerprint(Counting):
    @property
    def fingerprint(self) -> str:
        return readers.fingerprint_of(self.path)


class Unnamed(Counting):
    def fetch(self, index: int) -> Any:
        try:
            return super().fetch(index)
        except ValueError:
            raise ValueError("something is wrong") from None


class Hidden(Counting):
    def fetch(self, index: int) -> Any:
        return np.int64(index)


def suite_of(kind: type[Counting]) -> ReaderSuite:
    class Faulty(readers.Format):
        name = f"readers.faulty_{kind.__name__.lower()}"
        doc = "Give numbers."
        args = (readers.Arg("path", str, "A file."),)

        def open(self, arguments: Any, storage: readers.Storage) -> readers.DataSource:
            return kind(arguments["path"])

    class Suite(ReaderSuite):
        format: ClassVar[readers.Format] = Faulty()
        num_samples = 10

        def write(self, folder: Path) -> dict[str, Any]:
            (folder / "a").touch()
            return {"path": str(folder / "a")}

        def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
            (folder / "a").unlink()
            return {3: "a', number 3: there is no such file"}

    suite = Suite()
    suite.setup_method()
    return suite


TESTS = [name for name in dir(ReaderSuite) if name.startswith("test_")]
# A class in a function cannot be pickled, and the reader neither reads URLs nor refuses them.
TESTS = [name for name in TESTS if not name.endswith(("_reads_the_same", "_urls"))]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (Counting, []),
        (OrderMatters, ["test_fetched_alone_and_together"]),
        (ManyDiffer, ["test_fetched_alone_and_together"]),
        (FewLengths, ["test_listing"]),
        (WrongBlocks, ["test_listing"]),
        (OtherFingerprint, ["test_fingerprint_is_that_of_the_content"]),
        (Unnamed, ["test_bad_samples"]),
        (Hidden, ["test_bad_samples"]),
    ],
)
def test_a_faulty_reader_fails(
    kind: type[Counting], expected: Sequence[str], tmp_path: Path
) -> None:
    suite, failed = suite_of(kind), []
    for name in TESTS:
        folder = tmp_path / name
        folder.mkdir()
        test = getattr(suite, name)
        try:
            test() if name == "test_documentation" else test(folder)
        except AssertionError:
            failed.append(name)
    assert set(expected) <= set(failed)
    assert failed or not expected
    assert kind is not Counting or not failed


def test_a_reader_that_takes_urls_for_paths_fails(tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="not available: fsspec")
    with pytest.raises(AssertionError):
        suite_of(Counting).test_urls(tmp_path)
