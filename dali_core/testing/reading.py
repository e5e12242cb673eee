"""Checks of readers of formats, each with one small data set; see `ReaderSuite`."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core import samplers
from dali_core._call.arguments import check_arguments
from dali_core._readers.protocol import DataSource, Fetcher
from dali_core._readers.python_reader import Format
from dali_core._registry.specs import find_spec, packages
from dali_core._storage import make_storage
from dali_core.errors import ArgumentTypeError, ArgumentValueError, SampleError, StateMismatchError
from dali_core.pipeline import Pipeline
from dali_core.testing.descriptions import spec_of
from dali_core.testing.examples import check_same, class_of, function_of, list_of, pipeline
from dali_core.testing.expected import expect

Sample = tuple[NDArray[Any], ...]

_BATCH = 3
"""Samples in a batch of `pipeline()`."""


def add_to_functions(form: Format) -> None:
    """Have `fn` know a format whose package is not installed."""
    if find_spec(form.name) is None:
        packages().add_reader(type(form).__module__, form)


def open_format(form: Format, arguments: dict[str, Any]) -> tuple[DataSource, Fetcher]:
    """List the samples, and make what fetches them, as a pipeline does."""
    add_to_functions(form)
    checked, _ = check_arguments(spec_of(form.name), arguments, form.name)
    form.check(checked)
    source = form.open(checked, make_storage(checked))
    return source, form.fetcher(source, checked)


def parts_of(sample: Any) -> Sample:
    """Return a copy of the arrays of a sample that a fetcher has returned."""
    parts = sample if isinstance(sample, (tuple, list)) else (sample,)
    return tuple(np.array(part) for part in parts)


def check_equal(mine: Sample, expected: Sample) -> None:
    """Check that two samples are the same, bit by bit."""
    for ours, theirs in zip(mine, expected, strict=True):
        check_same(ours, theirs)


def check_all_equal(mine: Sequence[Sample], expected: Sequence[Sample]) -> None:
    """Check that two lists of samples are the same, bit by bit."""
    for ours, theirs in zip(mine, expected, strict=True):
        check_equal(ours, theirs)


def check_listing(source: DataSource) -> None:
    """Check what a listing declares of its samples."""
    count = len(source)
    if source.labels is not None:
        assert len(source.labels) == count, "there is a label for each sample"
        names = source.class_names
        assert names is None or all(0 <= label < len(names) for label in source.labels)
    if source.lengths is not None:
        assert source.lengths.shape == (count,), "there is a length for each sample"
        assert source.lengths.dtype == np.int64
        assert source.lengths.min() >= 0
    if source.blocks is not None:
        assert sum(source.blocks) == count, "every sample is in one block"
        assert min(source.blocks) > 0, "no block is empty"
    assert isinstance(source.fingerprint, str)


def _make(reader: str, arguments: dict[str, Any], *, by_class: bool = False) -> list[Any]:
    function = class_of(reader)(**arguments) if by_class else function_of(reader)
    return list_of(function() if by_class else function(**arguments, name="samples"))


def _take(made: Pipeline, count: int) -> list[Sample]:
    """Return so many samples of the next batches."""
    samples: list[Sample] = []
    while len(samples) < count:
        batch = made.run()
        for place in range(len(batch[0])):
            samples.append(tuple(np.array(output.at(place)) for output in batch))
    return samples[:count]


def read(
    reader: str,
    arguments: dict[str, Any],
    count: int,
    *,
    by_class: bool = False,
    **settings: Any,
) -> list[Sample]:
    """Return the first samples that a pipeline with a reader gives."""
    with pipeline(**settings) as made:
        with made:
            made.set_outputs(*_make(reader, arguments, by_class=by_class))
        return _take(made, count)


def _send_read(sender: Any, form: Format, arguments: dict[str, Any], count: int) -> None:
    add_to_functions(form)
    sender.send(read(form.name, arguments, count))
    sender.close()


def read_in_spawned(form: Format, arguments: dict[str, Any], count: int) -> list[Sample]:
    """Return what a pipeline in a spawned process gives, which gets everything pickled."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_send_read, args=(sender, form, arguments, count))
    process.start()
    sender.close()
    try:
        found: list[Sample] = receiver.recv()
    except EOFError as error:
        raise AssertionError("the spawned process must read the samples") from error
    finally:
        process.join()
    return found


def check_orders(reader: str, arguments: dict[str, Any], expected: Sequence[Sample]) -> None:
    """Every sample comes once in an epoch of all shards, in each order."""
    count = len(expected)
    content = sorted(_key(sample) for sample in expected)
    orders: Sequence[dict[str, Any]] = (
        {},
        {"random_shuffle": True},
        {"sampler": samplers.Blocks(2, sizes=[1] * count)},
        {"random_shuffle": True, "interleaved_shards": True},
    )
    for order in orders:
        for num_shards in (1, 2, 3):
            found = []
            for shard in range(num_shards):
                sharding = {"num_shards": num_shards, "shard_id": shard}
                own = (shard + 1) * count // num_shards - shard * count // num_shards
                if "interleaved_shards" in order:
                    own = len(range(shard, count, num_shards))
                found += read(reader, {**arguments, **order, **sharding}, own, batch_size=1)
            assert sorted(map(_key, found)) == content, (order, num_shards)
    chosen = [count - 1, 0, 0, 3]
    found = read(reader, {**arguments, "sampler": chosen}, len(chosen))
    check_all_equal(found, [expected[index] for index in chosen])


def _key(sample: Sample) -> list[tuple[str, tuple[int, ...], bytes]]:
    return [(part.dtype.str, part.shape, part.tobytes()) for part in sample]


def check_states(reader: str, arguments: dict[str, Any], count: int) -> None:
    """A pipeline resumes at each step of two epochs as if it had never stopped."""
    steps = -(-2 * count // _BATCH)
    states, given = [], []
    with pipeline() as made:
        with made:
            made.set_outputs(*_make(reader, arguments))
        for _ in range(steps):
            states.append(json.dumps(made.state_dict()))
            given.append(_take(made, _BATCH))
    for step, state in enumerate(states):
        with pipeline(num_threads=2) as resumed:
            with resumed:
                resumed.set_outputs(*_make(reader, arguments))
            resumed.load_state_dict(json.loads(state))
            for expected in given[step : step + 2]:
                check_all_equal(_take(resumed, _BATCH), expected)


def check_other_fingerprint(reader: str, arguments: dict[str, Any]) -> None:
    """A state of a data set with another fingerprint is refused."""
    with pipeline() as made:
        with made:
            made.set_outputs(*_make(reader, arguments))
        made.run()
        state = json.loads(json.dumps(made.state_dict()))
        (described,) = state["readers"]
        assert described["fingerprint"]
        described["fingerprint"] += "-other"
        message = expect(StateMismatchError, lambda: made.load_state_dict(state))
        assert "Read the same data set as then" in message


def check_bad_samples(
    reader: str, arguments: dict[str, Any], count: int, damage: Callable[[], dict[int, str]]
) -> None:
    """Damaged samples raise errors that name them; where they are replaced, the others come."""
    good = read(reader, arguments, count)
    with pipeline(batch_size=1, prefetch_queue_depth=1) as made:
        with made:
            made.set_outputs(*_make(reader, arguments))
        made.build()
        bad = damage()
        assert bad, "damage must damage a sample"
        for index in range(count):
            if index in bad:
                message = expect(SampleError, made.run)
                assert bad[index] in message, message
            else:
                check_all_equal(_take(made, 1), [good[index]])
    if len(bad) == count:
        return
    # In one batch, since bad samples are replaced by others of theirs.
    replaced: dict[str, Any] = {
        "batch_size": count,
        "on_sample_error": "replace",
        "max_bad_samples": 1.0,
    }
    try:
        found = read(reader, arguments, count, **replaced)
    except ArgumentValueError:
        return  # the damage is found when the samples are listed
    for index, sample in enumerate(found):
        if index not in bad:
            check_equal(sample, good[index])
    present = {str(_key(sample)) for sample in good}
    assert {str(_key(sample)) for sample in found} <= present


def in_memory_store(folder: Path, arguments: dict[str, Any]) -> dict[str, Any]:
    """Copy a folder into a store in memory, and return the arguments with URLs of it."""
    import fsspec

    # `folder` is absolute, and so the URL has three slashes.
    store = fsspec.filesystem("memory")
    for path in folder.rglob("*"):
        if path.is_file():
            store.pipe_file(f"/suite{path}", path.read_bytes())

    def as_url(value: Any) -> Any:
        if isinstance(value, str) and value.startswith(str(folder)):
            return f"memory://suite{value}"
        if isinstance(value, list):
            return [as_url(entry) for entry in value]
        return value

    return {name: as_url(value) for name, value in arguments.items()}


def check_urls_refused(reader: str, arguments: dict[str, Any]) -> None:
    """A reader of local files says that it cannot read URLs."""
    kinds = (ArgumentTypeError, ArgumentValueError)
    assert "URL" in expect(kinds, lambda: read(reader, arguments, 1)), "a URL must be refused"
