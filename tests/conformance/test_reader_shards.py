"""Shards of all readers hold the same samples as in NVIDIA DALI, in every way to read them.

Natural orders are the same. Random ones differ, but not how many samples a shard has in an epoch,
how often, and that all shards have each sample of the data set once. Where this library differs on
purpose: with `random_shuffle` the order is another one in every epoch, and with `stick_to_shard`
it is that of the part alone.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

import dali_core
import dali_core.fn
from tests.conformance.comparing import reference
from tests.conformance.reader_shards import NEVER_AFTER_EPOCH, READERS, Way, description, shards

WAYS = [
    Way(random_shuffle, after, stick, pad)
    for random_shuffle, after, stick, pad in itertools.product((False, True), repeat=4)
    if not (after and (random_shuffle or stick))
]


def check(
    reader: str, arguments: dict[str, Any], batch_size: int, num_shards: int, way: Way
) -> None:
    theirs, ours = (
        shards(library, reader, arguments, batch_size, num_shards, way)
        for library in (reference, dali_core)
    )
    case = reader, batch_size, num_shards, way
    assert ours[0] == theirs[0], case
    assert description(ours[1]) == description(theirs[1]), case
    if way.is_natural:
        assert ours[1] == theirs[1], case


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("count", [3, 7, 10])
def test_files(count: int, way: Way, tmp_path: Path) -> None:
    arguments = READERS["file"](tmp_path, count)
    for num_shards, batch_size in itertools.product((1, 2, 3), (1, 2, 4, 11)):
        check("file", arguments, batch_size, num_shards, way)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("reader", sorted(set(READERS) - {"file"}))
def test_other_readers(reader: str, tmp_path: Path) -> None:
    arguments = READERS[reader](tmp_path, 7)
    for way in WAYS:
        if way.shuffle_after_epoch and reader in NEVER_AFTER_EPOCH:
            continue
        for num_shards, batch_size in ((3, 2), (2, 5)):
            check(reader, arguments, batch_size, num_shards, way)
