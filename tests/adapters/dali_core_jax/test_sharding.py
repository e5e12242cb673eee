"""Global arrays on eight devices of one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError
from tests.adapters.dali_core_jax.pipelines import flat, numbers, shards, source_pipeline

jax = pytest.importorskip("jax", reason="not available: JAX")

from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding  # noqa: E402

from dali_core.plugin.jax import DALIGenericIterator, LastBatchPolicy  # noqa: E402

# Batches that continue with the next epoch, or repeat samples, are allowed, too.
pytestmark = pytest.mark.filterwarnings(
    "ignore::dali_core.plugin.base_iterator.IncompleteEpochWarning"
)

FILL, DROP, PARTIAL = LastBatchPolicy


def sharding(*spec: Any, shape: tuple[int, ...] = (8,)) -> NamedSharding:
    names = ("data", "model")[: len(shape)]
    devices = numpy.array(jax.devices()[: numpy.prod(shape)]).reshape(shape)
    return NamedSharding(Mesh(devices, names), PartitionSpec(*spec))


@pytest.mark.parametrize("num_devices", [1, 2, 8])
def test_every_device_has_its_shard(tmp_path: Path, num_devices: int) -> None:
    where = sharding("data", shape=(num_devices,))
    pipelines = shards(tmp_path, 32, num_devices, batch_size=2)
    iterator = DALIGenericIterator(pipelines, ["x"], reader_name="numbers", sharding=where)
    seen: list[int] = []
    for batch in iterator:
        array = batch["x"]
        assert array.shape == (2 * num_devices, 1)
        assert array.sharding == where
        for index, shard in enumerate(array.addressable_shards):
            assert shard.device == jax.devices()[index]
            assert all(value * num_devices // 32 == index for value in flat(shard.data))
        assert int(jax.jit(lambda x: x.sum())(array)) == sum(flat(array))
        seen += flat(array)
    assert sorted(seen) == list(range(32))


def test_the_order_is_that_of_the_mesh(tmp_path: Path) -> None:
    reverse = Mesh(numpy.array(jax.devices()[:4][::-1]), ("data",))
    where = NamedSharding(reverse, PartitionSpec("data"))
    pipelines = shards(tmp_path, 8, 4, batch_size=2)
    iterator = DALIGenericIterator(pipelines, ["x"], reader_name="numbers", sharding=where)
    array = next(iterator)["x"]
    assert flat(array) == list(range(8))
    assert {s.device.id: flat(s.data) for s in array.addressable_shards}[0] == [6, 7]


def test_other_axes_of_the_mesh_get_the_same_samples(tmp_path: Path) -> None:
    where = sharding("data", shape=(2, 4))
    iterator = DALIGenericIterator(
        shards(tmp_path, 8, 2, batch_size=2), ["x"], reader_name="numbers", sharding=where
    )
    array = next(iterator)["x"]
    assert flat(array) == [0, 1, 4, 5]
    found = [flat(shard.data) for shard in array.addressable_shards]
    assert found == [[0, 1]] * 4 + [[4, 5]] * 4


def test_replicated_batches_need_one_pipeline(tmp_path: Path) -> None:
    iterator = DALIGenericIterator(
        numbers(tmp_path, 8, batch_size=3), ["x"], reader_name="numbers", sharding=sharding()
    )
    array = next(iterator)["x"]
    assert [flat(shard.data) for shard in array.addressable_shards] == [[0, 1, 2]] * 8


def test_other_dimensions_are_divided_too() -> None:
    data = numpy.arange(2 * 3 * 4, dtype=numpy.float32).reshape(2, 3, 4)
    where = sharding("data", None, "model", shape=(2, 4))
    labels = numpy.array([[1], [2]], numpy.int32)
    pipelines = [source_pipeline([data + 100 * i], [labels]) for i in range(2)]
    batch = next(DALIGenericIterator(pipelines, ["x", "y"], size=4, sharding=where))
    assert batch["x"].shape == (4, 3, 4)
    numpy.testing.assert_array_equal(batch["x"], numpy.concatenate([data, data + 100]))
    for shard in batch["x"].addressable_shards:
        assert shard.data.shape == (2, 3, 1)
    # Labels do not have the partitioned dimension.
    assert batch["y"].sharding.spec == PartitionSpec("data", None)
    assert flat(batch["y"]) == [1, 2, 1, 2]


def test_other_kinds_of_sharding(tmp_path: Path) -> None:
    where = SingleDeviceSharding(jax.devices()[6])
    iterator = DALIGenericIterator(
        numbers(tmp_path, 8, batch_size=3), ["x"], reader_name="numbers", sharding=where
    )
    array = next(iterator)["x"]
    assert (flat(array), array.sharding) == ([0, 1, 2], where)


@pytest.mark.parametrize("policy", [FILL, DROP])
@pytest.mark.parametrize("pad", [False, True])
def test_uneven_shards_have_equal_batch_counts(
    tmp_path: Path, policy: LastBatchPolicy, pad: bool
) -> None:
    iterator = DALIGenericIterator(
        shards(tmp_path, 29, 8, batch_size=2, pad_last_batch=pad),
        ["x"],
        reader_name="numbers",
        sharding=sharding("data"),
        last_batch_policy=policy,
        auto_reset=True,
    )
    for _ in range(3):
        length = len(iterator)
        batches = [flat(batch["x"]) for batch in iterator]
        assert [len(batch) for batch in batches] == [16] * length
        given = set().union(*batches)
        assert policy is DROP or not pad or given == set(range(29))


def test_the_number_of_pipelines_must_fit(tmp_path: Path) -> None:
    pipelines = shards(tmp_path, 8, 3, batch_size=2)
    for where, wanted in ((sharding("data"), 8), (sharding("data", shape=(2, 4)), 2)):
        with pytest.raises(ArgumentValueError, match=rf"devices, {wanted} for Named.*\(got 3\)"):
            DALIGenericIterator(pipelines, ["x"], reader_name="numbers", sharding=where)


def test_indivisible_batches_raise() -> None:
    pipeline = source_pipeline([numpy.zeros((2, 3), numpy.float32)])
    with pytest.raises(AdapterError, match=r"global batch of shape \(2, 3\).* divisible"):
        DALIGenericIterator(pipeline, ["x"], sharding=sharding(None, "data"))


def test_other_objects_as_sharding_raise(tmp_path: Path) -> None:
    pipeline = numbers(tmp_path, 8, batch_size=2)
    with pytest.raises(ArgumentTypeError, match=r"jax\.sharding\.Sharding \(got 'data'\)"):
        DALIGenericIterator(pipeline, ["x"], size=8, sharding="data")
    with pytest.raises(ArgumentValueError, match="devices: must not be given together"):
        DALIGenericIterator(
            pipeline, ["x"], size=8, sharding=sharding("data"), devices=jax.devices()
        )
