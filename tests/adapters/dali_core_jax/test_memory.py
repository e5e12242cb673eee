"""Arrays share the memory of the pipeline, and referenced memory is never overwritten."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core import Pipeline, fn, types
from tests.adapters.dali_core_jax.pipelines import flat, shards

jax = pytest.importorskip("jax", reason="not available: JAX")

from dali_core_jax.adapter import copied  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy  # noqa: E402

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

STEPS: tuple[Callable[[Any], Any], ...] = (
    lambda array: array * 0,
    lambda array: array.at[0].set(77),
    lambda array: jax.lax.fori_loop(0, 3, lambda i, x: x + i + 1, array),
)


def sharding(num_devices: int = 8) -> NamedSharding:
    return NamedSharding(Mesh(jax.devices()[:num_devices], ("batch",)), PartitionSpec("batch"))


def address(array: Any) -> int:
    return int(array.unsafe_buffer_pointer())


def twins(num_batches: int, batch_size: int = 4) -> Pipeline:
    """Return the same memory as two outputs, with distinct numbers."""
    pipeline = Pipeline(batch_size=batch_size, num_threads=2)
    batches = [
        numpy.arange(batch_size * 64, dtype=numpy.float32).reshape(batch_size, 64) + 1000 * batch
        for batch in range(num_batches)
    ]
    with pipeline:
        node = fn.external_source(source=iter(batches), batch=True)
        pipeline.set_outputs(node, node)
    return pipeline


def expected(batch: int, batch_size: int = 4) -> list[float]:
    return [1000.0 * batch + i for i in range(batch_size * 64)]


class Spy(DALIGenericIterator):
    """Records the addresses of the batches of its pipelines."""

    def _convert(self, outputs: Any, num_valid: int) -> Any:
        self.addresses = getattr(self, "addresses", [])
        self.addresses.append([output.as_tensor().data_ptr() for output in outputs])
        return super()._convert(outputs, num_valid)


class TestNothingIsCopied:
    def test_zero_copy_on_one_device(self) -> None:
        iterator = Spy(twins(3), ["x", "y"])
        for batch, where in zip(iterator, iterator.addresses, strict=False):
            assert [address(batch["x"]), address(batch["y"])] == where

    def test_zero_copy_on_every_device_of_a_sharding(self) -> None:
        iterator = Spy([twins(2) for _ in range(8)], ["x", "y"], size=64, sharding=sharding())
        batch = next(iterator)
        for index, shard in enumerate(batch["x"].addressable_shards):
            assert shard.device == jax.devices()[index]
            assert address(shard.data) == iterator.addresses[index][0]

    def test_zero_copy_on_every_device_of_a_leading_axis(self) -> None:
        devices = jax.devices()[2:5]
        iterator = Spy([twins(2) for _ in devices], ["x", "y"], size=24, devices=devices)
        for index, shard in enumerate(next(iterator)["y"].addressable_shards):
            assert shard.device == devices[index]
            assert address(shard.data) == iterator.addresses[index][1]

    def test_zero_copy_on_replicated_devices(self) -> None:
        mesh = Mesh(numpy.array(jax.devices()).reshape(2, 4), ("data", "model"))
        where = NamedSharding(mesh, PartitionSpec("data"))
        iterator = Spy([twins(2) for _ in range(2)], ["x", "y"], size=16, sharding=where)
        found = {address(shard.data) for shard in next(iterator)["x"].addressable_shards}
        assert found == {addresses[0] for addresses in iterator.addresses}


class TestNothingChanges:
    @pytest.mark.parametrize("num_devices", [1, 8])
    def test_retained_arrays_are_not_overwritten(self, num_devices: int) -> None:
        iterator = DALIGenericIterator(
            [twins(30) for _ in range(num_devices)],
            ["x", "y"],
            size=30 * 4 * num_devices,
            sharding=sharding(num_devices),
        )
        held = [batch["x"] for batch in iterator]
        assert len(held) == 30
        for index, array in enumerate(held):
            assert flat(array) == expected(index) * num_devices

    def test_retained_random_numbers_are_not_overwritten(self) -> None:
        def pipeline() -> Pipeline:
            made = Pipeline(batch_size=3, num_threads=2, seed=5)
            with made:
                made.set_outputs(fn.random.uniform(range=[0, 1], shape=[100], dtype=types.FLOAT))
            return made

        held = [batch["x"] for batch in DALIGenericIterator(pipeline(), ["x"], size=120)]
        again = pipeline()
        for array in held:
            numpy.testing.assert_array_equal(array, again.run()[0].as_array())

    def test_jax_does_reuse_donated_memory(self) -> None:
        # Otherwise the tests below would prove nothing.
        own = jax.numpy.arange(256.0) + 1
        before = address(own)
        assert address(jax.jit(STEPS[0], donate_argnums=0)(own)) == before

    @pytest.mark.parametrize("step", STEPS)
    def test_donating_an_array_leaves_those_that_share_its_memory(
        self, step: Callable[[Any], Any]
    ) -> None:
        donate = jax.jit(step, donate_argnums=0)
        kept, views = [], []
        for batch in DALIGenericIterator(twins(20), ["x", "y"]):
            assert address(batch["x"]) == address(batch["y"])
            views.append(numpy.asarray(batch["y"]))
            result = donate(batch["x"])
            assert batch["x"].is_deleted()
            assert address(result) != address(batch["y"])
            kept.append(batch["y"])
        for index, (array, view) in enumerate(zip(kept, views, strict=True)):
            assert flat(array) == flat(view) == expected(index)

    def test_donating_on_several_devices(self) -> None:
        donate = jax.jit(STEPS[0], donate_argnums=0)
        iterator = DALIGenericIterator(
            [twins(6) for _ in range(8)], ["x", "y"], size=6 * 32, sharding=sharding()
        )
        kept = []
        for batch in iterator:
            assert not flat(donate(batch["x"]))[0]
            kept.append(batch["y"])
        assert [flat(array) for array in kept] == [expected(index) * 8 for index in range(6)]

    def test_donating_to_the_next_step_of_a_training(self) -> None:
        # The first state shares memory of the pipeline.
        update = jax.jit(lambda total, x: (total + x, x * 0), donate_argnums=(0, 1))
        total, batches = None, []
        for batch in DALIGenericIterator(twins(8), ["x", "y"]):
            batches.append(batch["y"])
            total = batch["x"] if total is None else update(total, batch["x"])[0]
        assert flat(total) == [sum(column) for column in zip(*map(expected, range(8)), strict=True)]
        assert [flat(array) for array in batches] == [expected(index) for index in range(8)]

    def test_padding_repeats_samples_without_sharing_them(self, tmp_path: Path) -> None:
        donate = jax.jit(STEPS[1], donate_argnums=0)
        (pipeline,) = shards(tmp_path, 5, 1, batch_size=4, pad_last_batch=True)
        iterator = DALIGenericIterator(
            pipeline, ["x"], reader_name="numbers", last_batch_policy=LastBatchPolicy.FILL
        )
        assert [flat(donate(batch["x"])) for batch in iterator] == [[77, 1, 2, 3], [77, 4, 4, 4]]

    def test_arrays_outlive_the_pipeline(self) -> None:
        held = [batch["x"] for batch in DALIGenericIterator(twins(3), ["x", "y"])]
        others = [twins(1).run() for _ in range(9)]
        assert [flat(array) for array in held] == [expected(index) for index in range(3)]
        assert len(others) == 9


def test_memory_is_reused() -> None:
    pipeline = Pipeline(batch_size=4, num_threads=1)
    with pipeline:
        pipeline.set_outputs(fn.random.uniform(range=[0, 1], shape=[1000]))
    iterator = DALIGenericIterator(pipeline, ["x"], size=4 * 200)
    # How many are in flight depends on the threads, and not on the number of batches.
    assert len({address(batch["x"]) for batch in iterator}) < 50


class TestCopiesOfImportedArrays:
    """As arrays on a GPU are taken over, but on devices that JAX makes of the processor."""

    @pytest.mark.parametrize("index", [0, 3])
    def test_memory_is_owned_by_the_copy(self, index: int) -> None:
        array = jax.device_put(numpy.arange(64.0, dtype="float32"), jax.devices()[index])
        copy = copied(array)
        assert copy.devices() == array.devices() == {jax.devices()[index]}
        assert address(copy) != address(array)
        assert flat(copy) == flat(array)

    def test_the_source_is_released_with_the_next_copy(self) -> None:
        known = []
        for number in range(3):
            array = jax.device_put(numpy.full(64, number, "float32"), jax.devices()[1])
            known.append(weakref.ref(array))
            result = copied(array)
            result.block_until_ready()
            if number == 1:  # as by a computation that it is donated to; it cannot tell then
                result.delete()
            del array
        assert [reference() is None for reference in known] == [True, False, False]
        copied(jax.device_put(numpy.zeros(1), jax.devices()[1])).block_until_ready()
        gc.collect()
        assert [reference() is None for reference in known] == [True, True, True]
