"""Batches that are arrays of JAX already, as those on a GPU are. Here, devices are processors."""

from __future__ import annotations

import types

import numpy
import pytest

jax = pytest.importorskip("jax", reason="not available: JAX")

from dali_core_jax import adapter  # noqa: E402
from dali_core_jax.placement import OnEachDevice, OnOneDevice, Sharded, Stacked  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

from tests.cuda.simulated_driver import run_simulated  # noqa: E402


def parts(count: int) -> list[jax.Array]:
    """Return a batch for each pipeline, each on its own device."""
    return [
        jax.device_put(numpy.arange(12.0).reshape(4, 3) + 100 * number, jax.devices()[number])
        for number in range(count)
    ]


def test_batch_on_the_same_device_is_zero_copy() -> None:
    (part,) = parts(1)
    placed = OnOneDevice(jax.devices()[0]).place([part])
    assert placed.unsafe_buffer_pointer() == part.unsafe_buffer_pointer()


def test_batch_is_transferred_to_another_device() -> None:
    (part,) = parts(1)
    placed = OnOneDevice(jax.devices()[3]).place([part])
    assert placed.devices() == {jax.devices()[3]}
    numpy.testing.assert_array_equal(placed, part)


def test_several_batches_are_stacked() -> None:
    given = parts(3)
    placed = Stacked().place(given)
    numpy.testing.assert_array_equal(placed, numpy.stack(list(map(numpy.asarray, given))))


def test_each_batch_on_its_device() -> None:
    given = parts(4)
    placed = OnEachDevice(jax.devices()[:4]).place(given)
    assert placed.shape == (4, 4, 3)
    for shard in placed.addressable_shards:
        number = shard.index[0].start or 0
        assert shard.device == jax.devices()[number]
        numpy.testing.assert_array_equal(shard.data[0], given[number])


@pytest.mark.parametrize("axes", [("batch",), ("batch", "model")])
def test_sharded_batches(axes: tuple[str, ...]) -> None:
    """With a second axis, devices of other columns get their slice of the sample."""
    if len(axes) == 1:
        mesh = Mesh(numpy.array(jax.devices()[:4]), ("batch",))
    else:
        mesh = Mesh(numpy.array(jax.devices()[:6]).reshape(2, 3), ("batch", "model"))
    sharding = NamedSharding(mesh, PartitionSpec(*axes))
    given = parts(4 if len(axes) == 1 else 2)
    placed = Sharded(sharding).place(given)
    assert placed.sharding == sharding
    numpy.testing.assert_array_equal(placed, numpy.concatenate(list(map(numpy.asarray, given))))
    if len(axes) == 1:
        assert [shard.data.unsafe_buffer_pointer() for shard in placed.addressable_shards] == [
            part.unsafe_buffer_pointer() for part in given
        ]


def test_stream_belongs_to_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    devices = [
        types.SimpleNamespace(
            local_hardware_id=number, get_stream_for_external_ready_events=lambda n=number: 70 + n
        )
        for number in range(2)
    ]
    assert adapter.stream(0) is None
    monkeypatch.setattr(jax, "local_devices", lambda backend: devices)
    assert [adapter.stream(number) for number in range(3)] == [70, 71, None]


def test_batches_are_copied_if_jax_has_no_gpu() -> None:
    pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")
    run_simulated(
        """
import numpy as np
from dali_core import Pipeline, fn
from dali_core.plugin.jax import DALIGenericIterator

def batches():
    for number in range(4):
        yield np.full((2, 3), number, np.float32)

pipeline = Pipeline(batch_size=2, num_threads=1, device_id=0)
with pipeline:
    pipeline.set_outputs(fn.external_source(source=batches, device="gpu"))
given = [batch["data"] for batch in DALIGenericIterator(pipeline, ["data"])]
assert [np.asarray(array).tolist() for array in given] == [[[n] * 3] * 2 for n in range(4)]
""",
        delay=0.002,
        env={"JAX_PLATFORMS": "cpu"},
    )
