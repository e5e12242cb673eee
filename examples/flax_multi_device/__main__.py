"""Train with Flax on several devices of one or more processes, and resume after a crash.

    pip install "dali_core[jax]" flax optax matplotlib pillow
    python -m examples.flax_multi_device --simulated-devices 8

One process for each machine, or two on this one:

    python -m examples.flax_multi_device --coordinator localhost:9876 --processes 2 --process 0 &
    python -m examples.flax_multi_device --coordinator localhost:9876 --processes 2 --process 1

Every device reads its own shard; JAX sees one array for each global batch and partitions the work
accordingly. The devices of a process determine the shards that it reads. The checkpoint is one
small file, written by the first process; all processes resume from it, in the same order of photos.
``flax_multi_device.png``, in the work folder, shows what the first device got first.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from flax import linen, serialization
from flax.training.train_state import TrainState
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from dali_core import DataNode, fn, types
from dali_core.plugin.jax import LastBatchPolicy, data_iterator
from examples.photos import generate
from examples.shared import class_folders, options, sample_grid

CLASSES = ("bricks", "clouds", "dunes", "marbles")
SIDE = 32
MEAN, STANDARD_DEVIATION = 128.0, 64.0


class Network(linen.Module):
    """Two convolutions, and a classification layer."""

    num_classes: int

    @linen.compact
    def __call__(self, images: jax.Array) -> jax.Array:
        """Return the scores of all classes for each image."""
        hidden = images
        for features in (16, 32):
            hidden = linen.relu(linen.Conv(features, (5, 5), strides=3)(hidden))
        seen = jnp.concatenate([hidden.mean((1, 2)), hidden.max((1, 2))], axis=-1)
        return linen.Dense(self.num_classes)(seen)


def photos(data: class_folders.Photos, shard_id: int, num_shards: int) -> tuple[DataNode, DataNode]:
    """Read a shard: decode a random crop of each photo, resize it, and mirror at random.

    The shards are interleaved, so that the photos of a global batch do not depend on the number of
    devices, and training can resume with more or fewer of them.
    """
    encoded, label = fn.readers.file(
        files=data.files,
        labels=data.labels,
        random_shuffle=True,
        shard_id=shard_id,
        num_shards=num_shards,
        interleaved_shards=True,
        pad_last_batch=True,
        name="photos",
    )
    image = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=[0.5, 1.0], random_aspect_ratio=[0.8, 1.25]
    )
    image = fn.crop_mirror_normalize(
        fn.resize(image, size=[SIDE, SIDE]),
        mirror=fn.random.coin_flip(),
        mean=[MEAN] * 3,
        std=[STANDARD_DEVIATION] * 3,
        dtype=types.FLOAT,
        output_layout="HWC",
    )
    return image, label


@jax.jit
def step(state: TrainState, batch: dict[str, jax.Array]) -> tuple[TrainState, jax.Array]:
    """Update the weights on one global batch; padding samples do not count."""

    def loss_of(parameters: Any) -> jax.Array:
        scores = state.apply_fn(parameters, batch["image"])
        losses = optax.softmax_cross_entropy_with_integer_labels(scores, batch["label"][:, 0])
        return losses.mean(where=batch["mask"])

    loss, gradients = jax.value_and_grad(loss_of)(state.params)
    return state.apply_gradients(grads=gradients), loss


def save(file: Path, state: TrainState, data: dict[str, Any]) -> None:
    """Save the weights and the state of the loader, atomically."""
    if jax.process_index() != 0:
        return
    content = {"model": serialization.to_bytes(state), "data": json.dumps(data).encode()}
    beside = file.with_suffix(".new")
    beside.write_bytes(serialization.msgpack_serialize(content))
    os.replace(beside, file)


def draw(batch: dict[str, jax.Array], classes: Sequence[str], picture: Path) -> None:
    """Draw the samples that the first device of this process has got, by class."""
    images, labels = (np.asarray(batch[name].addressable_data(0)) for name in ("image", "label"))
    pixels = images * STANDARD_DEVIATION + MEAN
    sample_grid.draw_by_class(pixels, labels[:, 0].tolist(), classes, picture)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.flax_multi_device",
        description="Train with Flax on several devices.",
    )
    parser.add_argument("--data", type=Path, help="class folders (default: generated photos)")
    options.add_work_folder(parser)
    parser.add_argument("--simulated-devices", type=int, help="devices to make of the processor")
    parser.add_argument("--coordinator", help="address of the first process, for several")
    parser.add_argument("--processes", type=int, help="number of processes")
    parser.add_argument("--process", type=int, help="number of this process, from 0")
    numbers = {
        "epochs": (8, 1, "passes over the photos"),
        "batch-size": (32, 1, "photos in a batch of all devices"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Join the other processes, find or generate the photos, train, save after every batch."""
    arguments = read_arguments()
    if arguments.simulated_devices:
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_num_cpu_devices", arguments.simulated_devices)
    if arguments.coordinator:
        jax.distributed.initialize(arguments.coordinator, arguments.processes, arguments.process)
    first = jax.process_index() == 0
    arguments.work.mkdir(parents=True, exist_ok=True)
    # Each process generates the same photos, in its own folder, since it may be another machine.
    folder = arguments.work / f"four_classes_{jax.process_index()}"
    data = arguments.data or generate(folder, CLASSES, per_class=80)
    split = class_folders.find(data)

    mesh = Mesh(jax.devices(), ("data",))
    whole = NamedSharding(mesh, PartitionSpec())
    loader = data_iterator(
        photos,
        output_map=["image", "label"],
        reader_name="photos",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy.PARTIAL,
        mask_name="mask",
        sharding=NamedSharding(mesh, PartitionSpec("data")),
    )(split.train, batch_size=arguments.batch_size, num_threads=2, seed=1)

    network = Network(len(split.classes))
    state = TrainState.create(
        apply_fn=network.apply,
        params=jax.jit(network.init)(jax.random.key(0), jnp.zeros((1, SIDE, SIDE, 3))),
        tx=optax.adam(3e-3),
    )
    saved = arguments.work / "training.msgpack"
    if saved.exists():
        content = serialization.msgpack_restore(saved.read_bytes())
        state = serialization.from_bytes(state, content["model"])
        loader.load_state_dict(json.loads(content["data"]))
    state = jax.device_put(state, whole)
    picture = arguments.work / "flax_multi_device.png"

    if first:
        print(f"{jax.device_count()} devices, from batch {int(state.step)}")
    while int(state.step) < arguments.epochs * len(loader):
        losses = []
        for batch in loader:
            if first and not picture.exists():
                draw(batch, split.classes, picture)
            state, loss = step(state, batch)
            losses.append(float(loss))
            save(saved, jax.device_get(state), loader.state_dict())
        if first:
            done = int(state.step) // len(loader)
            print(f"epoch {done}: loss {sum(losses) / len(losses):.3f} in {len(losses)} batches")
    if first:
        print(f"picture: {picture}")


if __name__ == "__main__":
    main()
