"""Iterators over pipelines on devices, without any framework."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.generated_images import jpeg, photo_like

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

NUM_FILES = 37

PRELUDE = """
import gc, json, sys
from pathlib import Path
import numpy as np
from dali_core import Pipeline, fn, types
from dali_core.plugin.base_iterator import BaseIterator, LastBatchPolicy
from tests.cuda.address_adapter import AddressAdapter
from tests.cuda.other_library import new_stream
from tests.cuda.simulated_driver import control

FOLDER = Path(sys.argv[1])
FILES = sorted(map(str, FOLDER.glob("*.jpg")))

def pipeline(shard, num_shards, device):
    pipeline = Pipeline(
        batch_size=3, num_threads=2, device_id=device, seed=1, prefetch_queue_depth=2
    )
    with pipeline:
        jpegs, labels = fn.readers.file(
            files=FILES, labels=list(range(len(FILES))), shard_id=shard, num_shards=num_shards,
            random_shuffle=True, pad_last_batch=True, name="reader",
        )
        images = fn.decoders.image(jpegs)
        if device is not None:
            images = images.gpu()
            labels = labels.gpu()
        images = fn.crop_mirror_normalize(
            images, crop=(8, 8), mirror=fn.random.coin_flip(), mean=[100.0], std=[50.0],
            dtype=types.FLOAT, output_layout="CHW",
        )
        pipeline.set_outputs(images, labels)
    return pipeline

def iterator(num_shards, adapter, devices=True, pipelines=None):
    pipelines = pipelines or [
        pipeline(shard, num_shards, shard if devices else None) for shard in range(num_shards)
    ]
    return BaseIterator(
        pipelines, ["image", "label"], adapter, reader_name="reader", auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )

class OnHost(AddressAdapter):
    name = "host"
    def from_tensor(self, tensor):
        return np.asarray(tensor)
    def stream(self, device_id):
        raise AssertionError("there is no device")

def wanted(num_shards, epochs):
    batches = iterator(num_shards, OnHost(), devices=False)
    return [[batch for batch in batches] for _ in range(epochs)]

def same(given, expected):
    assert len(given) == len(expected)
    return all(
        (reading.result() == array[name]).all()
        for parts, arrays in zip(given, expected, strict=True)
        for part, array in zip(parts, arrays, strict=True)
        for name, reading in part.items()
    )

def readings(batch):
    return [{name: array.read() for name, array in part.items()} for part in batch]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with small images."""
    path = tmp_path_factory.mktemp("images")
    for number in range(NUM_FILES):
        image = photo_like(9 + number % 3, 10 + number % 4, seed=number)
        (path / f"{number:03}.jpg").write_bytes(jpeg(image.astype(np.uint8)))
    return str(path)


def run(program: str, folder: str = "", **options: object) -> str:
    begin = f"import sys; sys.argv[1:] = [{folder!r}]\n"
    return run_simulated(begin + PRELUDE + program, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("num_devices", [1, 2, 8])
def test_shards_on_devices_cover_the_epoch(folder: str, num_devices: int) -> None:
    """One pipeline per device, read in streams of the adapter: the results of the host."""
    run(
        f"""
number = {num_devices}
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
""",
        folder,
        devices=num_devices,
        delay=0.0005,
    )


def test_streams_wait_for_batches(folder: str) -> None:
    """With slow devices: a missing wait results in wrong data; without a stream the host waits."""
    run(
        """
class Forgets(AddressAdapter):
    # Says one stream, and uses another.
    def from_tensor(self, tensor):
        array = super().from_tensor(tensor)
        array.stream = others[tensor.device_id()]
        array.is_known = False
        return array

others = [new_stream(device) for device in range(2)]
expected = wanted(2, epochs=1)[0]
for adapter in (AddressAdapter(), AddressAdapter(has_streams=False)):
    batches = iter(iterator(2, adapter))
    control.set_delay(0.005)
    for stream in adapter.streams.values():
        control.set_delay(0.0, stream)
    assert same([readings(batch) for batch in batches], expected)
    control.set_delay(0.0)

for adapter, is_right in ((AddressAdapter(), True), (Forgets(), False)):
    pipelines = [pipeline(shard, 2, shard) for shard in range(2)]
    for each in pipelines:
        each.build()
    with control.held(*(each.output_stream().handle for each in pipelines)):
        given = readings(next(iterator(2, adapter, pipelines=pipelines)))
        if not is_right:
            assert not same([given], expected[:1])
    if is_right:
        assert same([given], expected[:1])
""",
        folder,
        devices=2,
    )


def test_resume_in_mid_epoch_from_checkpoint(folder: str) -> None:
    run(
        """
batches = iterator(2, AddressAdapter())
for _ in range(3):
    next(batches)
state = json.dumps(batches.state_dict())
rest = [readings(batch) for batch in batches]
resumed = iterator(2, AddressAdapter())
resumed.load_state_dict(json.loads(state))
again = [readings(batch) for batch in resumed]
assert len(rest) == len(again) == len(wanted(2, 1)[0]) - 3
expected = wanted(2, epochs=1)[0][3:]
assert same(rest, expected) and same(again, expected)
""",
        folder,
        devices=2,
        delay=0.0005,
    )


@pytest.mark.parametrize("suite", ["Suite", "SuiteWithoutStreams"])
def test_adapter_contract(suite: str, tmp_path: Path) -> None:
    """The checks of `dali_core.testing`, run one by one, with batches on a device."""
    output = run(
        f"""
import inspect
from dali_core import adapters
from tests.cuda.address_adapter import {suite} as Suite

class Point:
    name, value = "address", "tests.cuda.address_adapter:Suite.adapter"
    def load(self):
        return Suite.adapter

adapters._entry_points = lambda: dict(address=Point())
tests = [name for name in dir(Suite) if name.startswith("test_")]
for name in tests:
    suite = Suite()
    suite.setup_method()
    folder = FOLDER / name
    folder.mkdir()
    test = getattr(suite, name)
    test(**({{"tmp_path": folder}} if "tmp_path" in inspect.signature(test).parameters else {{}}))
print(len(tests))
""",
        str(tmp_path),
        delay=0.0005,
    )
    assert int(output) >= 18
