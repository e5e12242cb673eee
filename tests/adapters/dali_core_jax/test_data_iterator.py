"""`data_iterator`: iterators made from a function, on any number of devices."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import DataNode, Pipeline
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.adapters.dali_core_jax.pipelines import flat, read_numbers

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from dali_core.plugin.jax import (  # noqa: E402
    DALIGenericIterator,
    LastBatchPolicy,
    clu,
    data_iterator,
)

# Partial batches without padding are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

OPTIONS: dict[str, Any] = {"output_map": ["x"], "reader_name": "numbers"}


def sharding(*shape: int) -> NamedSharding:
    devices = numpy.array(jax.devices()[: numpy.prod(shape)]).reshape(shape)
    return NamedSharding(Mesh(devices, ("data", "model")[: len(shape)]), PartitionSpec("data"))


def sharded(folder: Path, num_samples: int, shard_id: int, num_shards: int) -> DataNode:
    """Read numbers."""
    return read_numbers(folder, num_samples, shard_id, num_shards)


def whole(folder: Path, num_samples: int) -> DataNode:
    return read_numbers(folder, num_samples)


class TestForms:
    def test_decorator_with_and_without_arguments(self, tmp_path: Path) -> None:
        for make in (
            data_iterator(whole, **OPTIONS),
            data_iterator(**OPTIONS)(whole),
            data_iterator(pipeline_fn=whole, **OPTIONS),
            data_iterator(whole, ["x"], -1, "numbers"),
        ):
            iterator = make(tmp_path, num_samples=6, batch_size=3, num_threads=1)
            assert type(iterator) is DALIGenericIterator
            assert [batch["x"].tolist() for batch in iterator] == [[[0], [1], [2]], [[3], [4], [5]]]

    def test_peekable(self, tmp_path: Path) -> None:
        make = clu.peekable_data_iterator(**OPTIONS)(whole)
        iterator = make(tmp_path, 6, batch_size=3)
        assert type(iterator) is clu.DALIGenericPeekableIterator
        assert flat(iterator.peek()["x"]) == flat(next(iterator)["x"]) == [0, 1, 2]

    def test_the_function_keeps_its_name(self) -> None:
        made = data_iterator(sharded, **OPTIONS)
        assert (made.__name__, made.__doc__) == ("sharded", "Read numbers.")

    def test_options_reach_the_iterator(self, tmp_path: Path) -> None:
        make = data_iterator(
            **OPTIONS,
            auto_reset=True,
            last_batch_policy=LastBatchPolicy.PARTIAL,
            mask_name="mask",
        )(whole)
        iterator = make(tmp_path, 4, batch_size=3)
        for _ in range(2):
            assert [flat(batch["mask"])[-1] for batch in iterator] == [True, False]

    def test_arguments_are_those_of_the_reference(self) -> None:
        names = ["pipeline_fn", "output_map", "size", "reader_name", "auto_reset"]
        names += ["last_batch_padded", "last_batch_policy", "prepare_first_batch", "sharding"]
        names += ["devices", "pmap_compatible", "mask_name"]
        for decorator in (data_iterator, clu.peekable_data_iterator):
            assert list(inspect.signature(decorator).parameters) == names


class TestDevices:
    def test_the_batch_is_divided(self, tmp_path: Path) -> None:
        for count in (1, 2, 8):
            make = data_iterator(sharded, **OPTIONS, devices=jax.devices()[:count])
            array = next(make(tmp_path, 32, batch_size=16))["x"]
            assert array.shape == (count, 16 // count, 1)
            for index, shard in enumerate(array.addressable_shards):
                assert shard.device == jax.devices()[index]
                first = 32 // count * index
                assert flat(shard.data) == list(range(first, first + 16 // count))

    def test_sharding(self, tmp_path: Path) -> None:
        make = data_iterator(sharded, **OPTIONS, sharding=sharding(8))
        iterator = make(tmp_path, 32, batch_size=16)
        seen = [flat(batch["x"]) for batch in iterator]
        assert [len(batch) for batch in seen] == [16, 16]
        assert seen[0][:4] == [0, 1, 4, 5]
        assert sorted(seen[0] + seen[1]) == list(range(32))

    def test_shards_of_a_mesh_with_another_axis(self, tmp_path: Path) -> None:
        make = data_iterator(sharded, **OPTIONS, sharding=sharding(2, 4))
        array = next(make(tmp_path, 32, batch_size=8))["x"]
        assert flat(array) == [0, 1, 2, 3, 16, 17, 18, 19]

    def test_shard_parameters_are_optional_without_sharding(self, tmp_path: Path) -> None:
        make = data_iterator(whole, **OPTIONS, devices=jax.devices()[:1])
        assert flat(next(make(tmp_path, 4, batch_size=2))["x"]) == [0, 1]
        make = data_iterator(whole, **OPTIONS, sharding=sharding(2))
        with pytest.raises(ArgumentTypeError, match="parameters shard_id and num_shards .* 2 sh"):
            make(tmp_path, 4, batch_size=2)

    def test_device_id(self, tmp_path: Path) -> None:
        told = []

        def define(device_id: int, shard_id: int = 0, num_shards: int = 1) -> DataNode:
            told.append((device_id, shard_id, num_shards, Pipeline.current().device_id))
            return read_numbers(tmp_path, 8, shard_id, num_shards)

        data_iterator(define, **OPTIONS)(batch_size=4)
        data_iterator(define, **OPTIONS, devices=jax.devices()[2:4])(batch_size=4)
        data_iterator(define, **OPTIONS, sharding=sharding(2))(batch_size=4)
        # The CPU is not a device of a pipeline.
        assert told == [
            (0, 0, 1, None),
            *[(0, 0, 2, None), (1, 1, 2, None)],
            *[(0, 0, 2, None), (1, 1, 2, None)],
        ]

    def test_device_id_none_is_accepted(self, tmp_path: Path) -> None:
        for options in ({}, {"devices": jax.devices()[:2]}):
            make = data_iterator(sharded, **OPTIONS, **options)
            shard = {} if options else {"shard_id": 0, "num_shards": 1}
            batch = next(make(tmp_path, 4, batch_size=2, device_id=None, **shard))
            assert flat(batch["x"]) == ([0, 2] if options else [0, 1])


class TestErrors:
    def test_sharding_and_devices(self) -> None:
        with pytest.raises(ArgumentValueError, match="devices: must not be given together"):
            data_iterator(sharded, **OPTIONS, sharding=sharding(8), devices=jax.devices())

    @pytest.mark.parametrize("name", ["reader_name", "output_map", "sharding", "mask_name"])
    def test_options_in_the_call(self, tmp_path: Path, name: str) -> None:
        make = data_iterator(whole, **OPTIONS)
        with pytest.raises(ArgumentTypeError, match=f"whole: {name} must be given to the decor"):
            make(tmp_path, 4, batch_size=2, **{name: None})

    @pytest.mark.parametrize("name", ["device_id", "shard_id", "num_shards"])
    def test_arguments_derived_from_devices_raise(self, tmp_path: Path, name: str) -> None:
        make = data_iterator(sharded, **OPTIONS, devices=jax.devices())
        with pytest.raises(ArgumentTypeError, match=rf"sharded: {name} must be left out .*=1\)"):
            make(tmp_path, 8, batch_size=8, **{name: 1})

    def test_batch_sizes(self, tmp_path: Path) -> None:
        make = data_iterator(sharded, **OPTIONS, devices=jax.devices()[:3])
        with pytest.raises(ArgumentValueError, match=r"batch_size: .* 3 shards \(got 2\)"):
            make(tmp_path, 9, batch_size=2)
        with pytest.warns(UserWarning, match="8 cannot be divided among 3 .* have 6 samples"):
            iterator = make(tmp_path, 9, batch_size=8)
        assert next(iterator)["x"].shape == (3, 2, 1)

    def test_checkpoints(self, tmp_path: Path) -> None:
        make = data_iterator(sharded, **OPTIONS, devices=jax.devices()[:3])
        for wrong in ("{}", ["{}"], []):
            with pytest.raises(ArgumentValueError, match="checkpoints: .* each of 3 pipelines"):
                make(tmp_path, 9, batch_size=3, checkpoints=wrong)
