"""`dali_core.text`: the samples of the readers, by index."""

from __future__ import annotations

import pickle
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.batching import measure_lengths
from dali_core.errors import ArgumentTypeError, ArgumentValueError, DaliCoreError
from dali_core.text import JsonLines, TextLines
from tests.operators.readers.texts import objects, read, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with 11 objects."""
    return Path(write(tmp_path / "a.jsonl", objects(11)))


def test_samples_are_those_of_the_reader(path: Path) -> None:
    data = JsonLines(path, ["text", "number"], dtypes=[types.UINT8, types.INT16])
    expected = read("jsonl", 11, paths=[str(path)], fields=["text", "number"])
    for some in (data, pickle.loads(pickle.dumps(data))):
        found = [(text.tobytes(), int(number)) for text, number in some.fetch_many(range(11))]
        assert found == expected
        assert {str(number.dtype) for _, number in some.fetch_many([0, 1])} == {"int16"}
        assert some.texts([3, 1]) == [expected[3][0].decode(), expected[1][0].decode()]
    assert data.lengths is not None
    assert data.lengths.tolist() == list(map(len, path.read_bytes().splitlines()))
    with Pipeline(11, 2, None) as pipeline:
        pipeline.set_outputs(*fn.readers.python(data, num_outputs=2, parallel=True))
    outputs = pipeline.run()
    assert outputs[1].as_array().tolist() == list(range(11))
    pipeline.close()


def test_lines_and_documents(path: Path) -> None:
    lines = TextLines([path, path])
    assert len(lines) == 22
    assert lines.texts([12]) == [path.read_text().splitlines()[1]]
    assert TextLines(str(path), sample_by="document").texts([0]) == [path.read_text()]


@pytest.mark.parametrize("index", [-1, 11])
def test_indices_are_checked(path: Path, index: int) -> None:
    with pytest.raises(IndexError, match=rf"from 0 to 10, .* \(got {index}\)"):
        TextLines(path).fetch_many([0, index])


def test_wrong_arguments(path: Path) -> None:
    wrong: list[tuple[Any, type[DaliCoreError], str]] = [
        (lambda: TextLines("missing.txt"), ArgumentValueError, "'missing.txt'"),
        (lambda: JsonLines(path, ["x"]), ArgumentValueError, "got 'x'"),
        (lambda: JsonLines(path, 3), ArgumentTypeError, "JsonLines.*fields"),  # type: ignore[arg-type]
        (lambda: TextLines(path, sample_by="word"), ArgumentValueError, "sample_by"),
    ]
    for make, error, message in wrong:
        with pytest.raises(error, match=message):
            make()


def test_threads_fetch_at_the_same_time(path: Path) -> None:
    data = TextLines(path)
    found: dict[int, list[str]] = {}

    def fetch(number: int) -> None:
        found[number] = data.texts(range(11))

    threads = [threading.Thread(target=fetch, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(texts == path.read_text().splitlines() for texts in found.values())


def test_lengths_are_measured(path: Path) -> None:
    data = JsonLines(path, "text")

    def words(some: Any) -> list[int]:
        return [len(text.split()) for text in data.texts(some)]

    found = measure_lengths(words, len(data), fingerprint=[path, "words"])
    assert found.tolist() == [2 * (n % 4) for n in range(11)]
    assert np.asarray(found).dtype == np.int32
