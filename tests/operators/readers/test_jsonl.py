"""`fn.readers.jsonl`: what fields become, and lines that are no samples."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import samplers, types
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError
from tests.operators.readers.texts import make, objects, read, write
from tests.operators.suite import Example


def example(folder: Path, **arguments: Any) -> dict[str, Any]:
    """Write two files, and return arguments that read them."""
    paths = [
        write(folder / "a.jsonl", objects(7)),
        write(folder / "b.jsonl", objects(4, 7)),
    ]
    return {"paths": paths, "fields": ["text", "number"], **arguments}


EXAMPLES = [
    Example("pairs", (), partial(example, random_shuffle=True)),
    Example("single", (), partial(example, fields="number", dtypes=types.INT16)),
    Example("lines", (), partial(example, sampler=[7, 2, 10, 2, 0])),
]


def rows(folder: Path, *values: Any, **arguments: Any) -> list[Any]:
    """Read the field ``x`` of objects, one for each value."""
    text = "\n".join(json.dumps({"x": value}) for value in values)
    path = write(folder / "rows.jsonl", text.encode())
    return read("jsonl", len(values), paths=[path], fields=["x"], **arguments)


def test_values_become_arrays(tmp_path: Path) -> None:
    assert rows(tmp_path, "añ", "") == ["añ".encode(), b""]
    assert rows(tmp_path, 3, -(2**63), 4.0) == [3, -(2**63), 4]
    assert rows(tmp_path, 0.5, 2) == [0.5, 2.0]
    assert rows(tmp_path, True, False) == [True, False]
    assert rows(tmp_path, [1, 2], []) == [[1, 2], []]
    assert rows(tmp_path, [], [0.5]) == [[], [0.5]]
    assert rows(tmp_path, [[1, 2], [3, 4]], [[5], [6]]) == [[[1, 2], [3, 4]], [[5], [6]]]
    assert rows(tmp_path, 300, 1, dtypes=[types.FLOAT]) == [300.0, 1.0]


def test_fields_inside_of_objects(tmp_path: Path) -> None:
    data = b'{"a": {"b": 1, "c.d": "x"}, "e.f": 2}\n{"a": {"b": 3}, "e.f": 4, "more": [{}]}\n'
    path = write(tmp_path / "a.jsonl", data)
    assert read("jsonl", 2, paths=[path], fields=["e.f", "a.b"]) == [(2, 1), (4, 3)]


def test_a_field_that_is_null_at_first(tmp_path: Path) -> None:
    text = "".join(f'{{"x": null, "y": {n}}}\n' for n in range(30)) + '{"x": 1.5, "y": 30}\n'
    path = write(tmp_path / "a.jsonl", text.encode())
    assert read("jsonl", 1, paths=[path], fields=["x", "y"], sampler=[30]) == [(1.5, 30)]


BAD = {
    b"{": r"must be JSON \(got: Expecting property name enclosed",
    b"[1]": r"must be a JSON object \(got a list\)",
    b"7": r"must be a JSON object \(got a number\)",
    b'{"y": 1}': r"the field 'x' must be there \(it is missing\)",
    b'{"x": null}': r"the field 'x' must be a number of int64, .* \(got null\)",
    b'{"x": "1"}': r"the field 'x' must be a number of int64, .* \(got a text\)",
    b'{"x": [1]}': "got 1 dimensions",
    b'{"x": true}': "must be a number of int64",
    b'{"x": 0.5}': r"must be a number of int64 \(got 0.5\)",
    b'{"x": 1e300}': "must be a number of int64",
    b'{"x": 1e999}': "must be a number of int64",
    b'{"x": NaN}': r"numbers must be finite, .* \(got NaN\)",
    b'{"x": 9223372036854775808}': "must be a number of int64",
    b'{"x": 1' + 5000 * b"0" + b"}": "",
    b'{"x": ' + 100_000 * b"[" + b"": "must be JSON",
    b'{"x": ' + 100_000 * b"[" + 100_000 * b"]" + b"}": "less deeply nested",
    b'{"y": ' + 100_000 * b'{"y":' + b"1" + 100_001 * b"}": "less deeply nested",
    b'{"x": 1, "y": "\xff"}': r"in UTF-8 \(got the byte 0xff at 15: invalid start byte\)",
    b'{"x": 1, "y": "' + 2000 * b"a" + b'"}': r"at most 1000 bytes \(got 2017\)",
}


@pytest.mark.parametrize("line", BAD, ids=range(len(BAD)))
def test_lines_that_are_no_samples(tmp_path: Path, line: bytes) -> None:
    most = 1000 if len(line) == 2017 else 1 << 20
    path = write(tmp_path / "a.jsonl", b'{"x": 7}\n\n' + line + b'\n{"x": 9}')
    arguments: dict[str, Any] = {"paths": [path], "fields": ["x"], "max_sample_bytes": most}
    with pytest.raises(SampleError, match=rf"a\.jsonl', line 3: .*{BAD[line]}"):
        read("jsonl", 3, **arguments)
    pipeline = make("jsonl", 3, {"on_sample_error": "replace"}, **arguments)
    assert pipeline.run()[0].as_array().tolist() == [7, 9, 9]
    assert [bad.source for bad in pipeline.bad_samples] == ["index 1"]
    pipeline.close()


def test_half_of_a_surrogate_pair(tmp_path: Path) -> None:
    with pytest.raises(SampleError, match=r"line 2: the field 'x' .*at character 1"):
        rows(tmp_path, "\U0001f600", "a\ud83d")
    assert rows(tmp_path, "\U0001f600") == ["\U0001f600".encode()]


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(256, types.UINT8), (-1, types.UINT16), ([1, 2**40], types.INT32), (1e39, types.FLOAT)],
)
def test_numbers_fit_their_types(tmp_path: Path, value: Any, dtype: Any) -> None:
    with pytest.raises(SampleError, match=r"line 2: the field 'x' must be .* Change dtypes"):
        rows(tmp_path, [1] if isinstance(value, list) else 1, value, dtypes=[dtype])


def test_wrong_fields(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", b'{"x": 1, "y": {"z": "a"}, "w": ["a"]}\n')
    for fields, error, message in (
        (["v"], ArgumentValueError, r"got 'v', which none of the first 1 .* 'x', 'y', 'w'"),
        (["y.x"], ArgumentValueError, "got 'y.x'"),
        (["y"], ArgumentTypeError, "got 'y' in .*must be a text, a number"),
        (["w"], ArgumentTypeError, "got 'w' in .*must be a text, a number"),
    ):
        with pytest.raises(error, match=message):
            read("jsonl", 1, paths=[path], fields=fields)
    with pytest.raises(ArgumentValueError, match=r"for each of the 1 fields \(got 2\)"):
        read("jsonl", 1, paths=[path], fields=["x"], dtypes=[types.INT8, types.INT8])
    with pytest.raises(ArgumentTypeError, match=r"a text has the type UINT8 \(got int8\)"):
        read("jsonl", 1, paths=[path], fields=["y.z"], dtypes=[types.INT8])
    broken = write(tmp_path / "b.jsonl", b"no JSON\n")
    with pytest.raises(ArgumentValueError, match="none of which is a JSON object"):
        read("jsonl", 1, paths=[broken], fields=["x"])
    blank = write(tmp_path / "c.jsonl", b" \n\r\n")
    with pytest.raises(ArgumentValueError, match="at least one JSON object"):
        read("jsonl", 1, paths=[blank], fields=["x"])


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.integers(0, 6), min_size=1, max_size=4).filter(any),
    order=st.sampled_from(["files", "lines", "blocks"]),
    shards=st.integers(1, 3),
    end=st.sampled_from([b"\n", b"\r\n", b"\n \t\n"]),
)
def test_all_objects_come_once(
    tmp_path_factory: pytest.TempPathFactory,
    sizes: list[int],
    order: str,
    shards: int,
    end: bytes,
) -> None:
    folder = tmp_path_factory.mktemp("objects")
    starts = np.cumsum([0, *sizes]).tolist()
    paths = [
        write(folder / f"{i}.jsonl", objects(size, starts[i]).replace(b"\n", end).rstrip())
        for i, size in enumerate(sizes)
    ]
    total = sum(sizes)
    arguments: dict[str, Any] = {
        "files": {},
        "lines": {"random_shuffle": True},
        "blocks": {"sampler": samplers.Blocks(2)},
    }[order]
    found = []
    for shard in range(shards):
        some = read(
            "jsonl",
            -(-total // shards),
            paths=paths,
            fields=["text", "number"],
            num_shards=shards,
            shard_id=shard,
            pad_last_batch=True,
            **arguments,
        )
        assert all(text == f"word {number} ".encode() * (number % 4) for text, number in some)
        found.append([number for _, number in some])
    assert {number for some in found for number in some} == set(range(total))
    if order == "files" and shards == 1:
        assert found[0] == list(range(total))


def test_resumes_at_every_step(tmp_path: Path) -> None:
    arguments = {**example(tmp_path), "random_shuffle": True, "num_shards": 2, "shard_id": 1}
    first = make("jsonl", 2, **arguments)
    states, batches = [], []
    for _ in range(8):
        states.append(json.dumps(first.state_dict()))
        batches.append(first.run()[1].as_array().tolist())
    for step, state in enumerate(states[:7]):
        other = make("jsonl", 2, **arguments)
        other.load_state_dict(json.loads(state))
        assert [other.run()[1].as_array().tolist() for _ in range(2)] == batches[step : step + 2]
        other.close()
    first.close()
