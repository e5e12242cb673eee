"""The loader of JAX: arrays on one device, or spread over several."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import dali_core
from dali_core import DataNode, adapters, fn, pipeline_def
from dali_core.errors import AdapterError, ArgumentTypeError
from dali_core.jax import Loader
from tests.folders import make_folders
from tests.loaders.pipelines import images, numbers


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_folders(folder, (6, 6, 6))
    return folder


def test_names_of_the_loader(root: Path) -> None:
    assert dali_core.jax.Loader is Loader
    made = adapters.get_adapter("jax").loader(images(root), ("a", "b"), as_dict=True)
    assert type(made) is Loader
    assert made.names == ["a", "b"]


def test_epochs(root: Path) -> None:
    loader = Loader(images(root, random_shuffle=True))
    for _ in range(2):
        labels = []
        for pixels, label in loader:
            assert isinstance(pixels, jax.Array)
            assert label.dtype == jnp.int32
            assert label.shape == pixels.shape[:1]
            assert (pixels[:, 0, 0, 0] == label).all()
            labels += label.tolist()
        assert sorted(labels) == [0] * 6 + [1] * 6 + [2] * 6
    assert loader.classes == ["class_0", "class_1", "class_2"]


def test_a_device(root: Path) -> None:
    device = jax.devices()[-1]
    loader = Loader(images(root), ("image", "label"), device=device, as_dict=True)
    for array in next(iter(loader)).values():
        assert array.devices() == {device}
    with pytest.raises(ArgumentTypeError, match=r"device: must be a jax\.Device or a jax\.shard"):
        Loader(images(root), device="cpu")


def test_a_sharding(root: Path) -> None:
    devices = jax.devices()[:2]
    sharding = NamedSharding(Mesh(np.array(devices), ("batch",)), PartitionSpec("batch", None))
    loader = Loader(images(root), device=sharding, last_batch="drop")
    for pixels, label in loader:
        assert pixels.shape[0] == 4
        for array in (pixels, label):
            assert [piece.device for piece in array.addressable_shards] == devices
            assert {piece.data.shape[0] for piece in array.addressable_shards} == {2}
        assert (pixels[:, 0, 0, 0] == label).all()
    partial = Loader(numbers(root, 9, 4), device=sharding)
    with pytest.raises(AdapterError, match="last_batch='drop' or 'pad'"):
        list(partial)


def test_several_pipelines_are_joined(root: Path) -> None:
    pipelines = [numbers(root, 10, 3, num_shards=2, shard_id=shard) for shard in (0, 1)]
    epoch = [number for (number,) in Loader(pipelines)]
    assert [len(batch) for batch in epoch] == [6, 4]
    assert sorted(jnp.concatenate(epoch).tolist()) == list(range(10))


def test_channels_last(root: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def define() -> DataNode:
        _, label = fn.readers.file(file_root=str(root))
        return fn.reshape(fn.zeros(shape=[3, 6, 8]) + label, layout="CHW")

    (pixels,) = next(iter(Loader(define(), channels_last=True)))
    assert pixels.shape == (2, 6, 8, 3)


def test_numbers_that_jax_cannot_hold_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "large.npy", np.array([2**40]))

    @pipeline_def(batch_size=1, num_threads=1)
    def define() -> DataNode:
        return fn.readers.numpy(files=[str(tmp_path / "large.npy")])

    with pytest.raises(AdapterError, match="output 'large': values of type int64 must fit"):
        list(Loader(define(), ("large",)))
