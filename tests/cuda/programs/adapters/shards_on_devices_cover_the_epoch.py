"""Shards on devices cover the epoch."""

import json
import sys

from tests.cuda.address_adapter import AddressAdapter
from tests.cuda.programs.adapters.iterators import FILES, iterator, readings, wanted
from tests.cuda.simulated_driver import control

num_devices = json.loads(sys.argv[2])
number = num_devices
batches = iterator(number, AddressAdapter())
expected = wanted(number, epochs=2)
for epoch in range(2):
    given = [readings(batch) for batch in batches]
    labels = [
        label for parts in given for part in parts for label in part["label"].result().ravel()
    ]
    assert sorted(labels) == list(range(len(FILES)))
    for parts, arrays in zip(given, expected[epoch], strict=True):
        for shard, (part, array) in enumerate(zip(parts, arrays, strict=True)):
            assert part["image"].stream == batches.adapter.streams[shard]
            assert (part["image"].result() == array["image"]).all()
assert control.counts().get("cuCtxSynchronize", 0) == 0
