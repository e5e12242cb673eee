"""Conformance suite for formats that are read in Python, also those of other packages.

Derive a class from `ReaderSuite` in a test module, say how to write and to damage a small data set,
and run pytest::

    from dali_core.testing import ReaderSuite
    from my_format import MyFormat

    class TestMyFormat(ReaderSuite):
        format = MyFormat()
        num_samples = 10

        def write(self, folder):
            write_my_format(folder / "a.mine", range(10))
            return {"paths": [str(folder / "a.mine")]}

        def damage(self, folder, arguments):
            (folder / "a.mine").write_bytes(b"")
            return dict.fromkeys(range(10), "a.mine")

The package need not be installed.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core.testing import reading
from dali_core.testing.descriptions import check_documentation
from dali_core.testing.reading import Sample


class ReaderSuite:
    """Conformance tests of every reader of a format in Python.

    Attributes
    ----------
    format : Format
        The format.
    num_samples : int
        How many samples `write` writes: at least 8, so that there are several batches and shards.
    """

    format: ClassVar[Format]
    num_samples: ClassVar[int]

    def write(self, folder: Path) -> dict[str, Any]:
        """Write a data set into a folder, and return the arguments that read it.

        Equal calls must write equal files.
        """
        raise NotImplementedError(f"{type(self).__name__} must have write")

    def damage(self, folder: Path, arguments: dict[str, Any]) -> dict[int, str]:
        """Damage samples after they were listed, at least one.

        Returns
        -------
        dict of int to str
            What errors must say of each sample that is bad by now: file and place.
        """
        raise NotImplementedError(f"{type(self).__name__} must have damage")

    def open(self, arguments: dict[str, Any]) -> tuple[DataSource, Fetcher]:
        """List the samples, and make what fetches them, as a pipeline does."""
        return reading.open_format(self.format, arguments)

    def setup_method(self) -> None:
        """Have `fn` know the format, also if its package is not installed."""
        reading.add_to_functions(self.format)

    def test_documentation(self) -> None:
        """Sentences describe the reader and its arguments; the docstring has them."""
        check_documentation(self.format.name)

    def test_listing(self, tmp_path: Path) -> None:
        """All that is declared of samples is declared of each of them."""
        source, _ = self.open(self.write(tmp_path))
        assert len(source) == self.num_samples >= 8
        reading.check_listing(source)

    def test_fingerprint_is_that_of_the_content(self, tmp_path: Path) -> None:
        """A copy of the data set in another folder has the fingerprint of the first."""
        found = set()
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            source, _ = self.open(self.write(tmp_path / name))
            found.add(source.fingerprint)
        assert len(found) == 1

    def test_fetched_alone_and_together(self, tmp_path: Path) -> None:
        """`fetch` and `fetch_many` give the same, in whatever order, and however often."""
        arguments = self.write(tmp_path)
        natural = list(range(self.num_samples))
        expected = self._fetched(arguments, natural)
        mixed = [*natural[::-2], *natural[::2], 0, 0, natural[-1]]
        _, fetcher = self.open(arguments)
        for indices in (natural, mixed, natural[::-1], [3], mixed):
            many = fetcher.fetch_many(indices)
            found = [fetcher.fetch(index) for index in indices] if many is None else many
            assert len(found) == len(indices)
            for index, sample in zip(indices, found, strict=True):
                reading.check_equal(reading.parts_of(sample), expected[index])

    def test_results_do_not_depend_on_how_they_are_computed(self, tmp_path: Path) -> None:
        """Threads, batch sizes and prefetching change nothing."""
        arguments = self.write(tmp_path)
        expected = self._fetched(arguments, range(self.num_samples))
        settings: Sequence[dict[str, Any]] = (
            {"num_threads": 1},
            {"num_threads": 4, "prefetch_queue_depth": 3},
            {"batch_size": 1},
            {"exec_pipelined": False, "exec_async": False},
        )
        for setting in settings:
            found = reading.read(self.format.name, arguments, self.num_samples, **setting)
            reading.check_all_equal(found, expected)

    def test_class_does_what_the_function_does(self, tmp_path: Path) -> None:
        """`ops` and `fn` give the same."""
        arguments = self.write(tmp_path)
        expected = reading.read(self.format.name, arguments, self.num_samples)
        found = reading.read(self.format.name, arguments, self.num_samples, by_class=True)
        reading.check_all_equal(found, expected)

    def test_spawned_process_reads_the_same(self, tmp_path: Path) -> None:
        """A process that is spawned gets the arguments pickled, and reads the same."""
        arguments = self.write(tmp_path)
        expected = reading.read(self.format.name, arguments, self.num_samples)
        found = reading.read_in_spawned(self.format, arguments, self.num_samples)
        reading.check_all_equal(found, expected)

    def test_orders(self, tmp_path: Path) -> None:
        """Every sample comes once in an epoch: shuffled, sharded, and with a sampler."""
        arguments = self.write(tmp_path)
        expected = self._fetched(arguments, range(self.num_samples))
        reading.check_orders(self.format.name, arguments, expected)

    def test_states_at_every_step(self, tmp_path: Path) -> None:
        """A pipeline resumes at each step of two epochs as if it had never stopped."""
        arguments = self.write(tmp_path)
        for order in ({"random_shuffle": True}, {}):
            ordered = {**arguments, **order}
            reading.check_states(self.format.name, ordered, self.num_samples)

    def test_states_of_other_data_are_refused(self, tmp_path: Path) -> None:
        """A state says what is wrong if it is of a data set with another fingerprint."""
        arguments = self.write(tmp_path)
        source, _ = self.open(arguments)
        if source.fingerprint:
            reading.check_other_fingerprint(self.format.name, arguments)

    def test_bad_samples(self, tmp_path: Path) -> None:
        """Samples that cannot be read are bad samples: errors name them, others are replaced."""
        arguments = self.write(tmp_path)
        reading.check_bad_samples(
            self.format.name,
            arguments,
            self.num_samples,
            lambda: self.damage(tmp_path, arguments),
        )

    def test_urls(self, tmp_path: Path) -> None:
        """Paths may be URLs of objects, or are refused by an error that says so."""
        import pytest  # which runs this

        pytest.importorskip("fsspec", reason="not available: fsspec")
        arguments = self.write(tmp_path)
        expected = reading.read(self.format.name, arguments, self.num_samples)
        remote = reading.in_memory_store(tmp_path, arguments)
        if any(arg.name == "storage_options" for arg in self.format.args):
            found = reading.read(self.format.name, remote, self.num_samples)
            reading.check_all_equal(found, expected)
        elif remote != arguments:
            reading.check_urls_refused(self.format.name, remote)

    def _fetched(self, arguments: dict[str, Any], indices: Sequence[int]) -> list[Sample]:
        _, fetcher = self.open(arguments)
        return [reading.parts_of(fetcher.fetch(index)) for index in indices]
