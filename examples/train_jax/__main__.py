"""Train a tiny network on JPEG files with only JAX, and measure its accuracy.

    pip install "dali_core[jax]" matplotlib pillow
    python -m examples.train_jax                     # four classes of generated photos
    python -m examples.train_jax --data FOLDER       # one folder of photos for each class

Batches are dictionaries of arrays that share the memory of the pipeline. The held-out photos do not
fill their last batch: it keeps its shape, so nothing is recompiled for it, and a mask marks the
photos that count. ``train_jax.png``, in the work folder, shows training samples.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from dali_core import DataNode, fn, types
from dali_core.plugin.jax import LastBatchPolicy, data_iterator
from examples.photos import generate
from examples.shared import class_folders, options, sample_grid

CLASSES = ("bricks", "clouds", "dunes", "marbles")
SIDE = 32
MEAN, STANDARD_DEVIATION = 128.0, 64.0
Parameters = dict[str, jax.Array]


def training_photos(photos: class_folders.Photos) -> tuple[DataNode, DataNode]:
    """Decode a random crop of each photo, resize it, and mirror at random."""
    encoded, label = fn.readers.file(
        files=photos.files, labels=photos.labels, random_shuffle=True, name="photos"
    )
    image = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=[0.5, 1.0], random_aspect_ratio=[0.8, 1.25]
    )
    return _normalise(fn.resize(image, size=[SIDE, SIDE]), fn.random.coin_flip()), label


def held_out_photos(photos: class_folders.Photos) -> tuple[DataNode, DataNode]:
    """Decode the photo and crop the square in its centre."""
    encoded, label = fn.readers.file(
        files=photos.files, labels=photos.labels, pad_last_batch=True, name="photos"
    )
    image = fn.decoders.image(encoded, output_type=types.RGB)
    return _normalise(fn.resize(image, resize_shorter=SIDE), 0), label


def _normalise(image: DataNode, mirror: DataNode | int) -> DataNode:
    return fn.crop_mirror_normalize(
        image,
        crop=[SIDE, SIDE],
        mirror=mirror,
        mean=[MEAN] * 3,
        std=[STANDARD_DEVIATION] * 3,
        dtype=types.FLOAT,
        output_layout="HWC",
    )


def make_parameters(key: jax.Array, num_classes: int) -> Parameters:
    """Draw the weights of three convolutions and of the classification layer."""
    shapes = {
        "convolution_1": (3, 3, 3, 16),
        "convolution_2": (3, 3, 16, 32),
        "convolution_3": (3, 3, 32, 32),
        "classes": (64, num_classes),
    }
    keys = jax.random.split(key, len(shapes))
    scale = jax.nn.initializers.he_normal()
    return {
        name: scale(key, shape) for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def scores(parameters: Parameters, images: jax.Array) -> jax.Array:
    """Return the scores of all classes for each image."""
    hidden = images
    for index in (1, 2, 3):
        kernel = parameters[f"convolution_{index}"]
        hidden = jax.lax.conv_general_dilated(
            hidden, kernel, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        hidden = jax.nn.relu(_normalise_pixels(hidden))
    seen = jnp.concatenate([hidden.mean((1, 2)), hidden.max((1, 2))], axis=-1)
    return seen @ parameters["classes"]


def _normalise_pixels(hidden: jax.Array) -> jax.Array:
    """Normalise the channels of each pixel to a mean of 0 and a variance of 1."""
    centred = hidden - hidden.mean(axis=-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)


def loss_of(parameters: Parameters, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the mean cross entropy of a batch, without padding."""
    logarithms = jax.nn.log_softmax(scores(parameters, batch["image"]))
    found = jnp.take_along_axis(logarithms, batch["label"], axis=1)
    return -found.mean(where=batch["mask"][:, None])


@jax.jit
def step(
    parameters: Parameters, momentum: Parameters, batch: dict[str, jax.Array], rate: float
) -> tuple[Parameters, Parameters, jax.Array]:
    """Update the weights on one batch."""
    loss, gradients = jax.value_and_grad(loss_of)(parameters, batch)
    momentum = jax.tree.map(lambda m, g: 0.9 * m + g, momentum, gradients)
    return jax.tree.map(lambda p, m: p - rate * m, parameters, momentum), momentum, loss


@jax.jit
def count_right(parameters: Parameters, batch: dict[str, jax.Array]) -> jax.Array:
    """Return the number of photos that are classified correctly, without padding."""
    found = scores(parameters, batch["image"]).argmax(axis=1)
    return ((found == batch["label"][:, 0]) & batch["mask"]).sum()


def main() -> None:
    """Find or generate the photos, train, measure."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.train_jax", description="Train a tiny network with JAX."
    )
    parser.add_argument("--data", type=Path, help="class folders (default: generated photos)")
    options.add_work_folder(parser)
    numbers = {
        "epochs": (12, 1, "passes over the photos"),
        "batch-size": (32, 1, "photos in a batch"),
    }
    arguments = options.read_with_numbers(parser, numbers)
    arguments.work.mkdir(parents=True, exist_ok=True)
    data = arguments.data or generate(arguments.work / "four_classes", CLASSES, per_class=80)
    split = class_folders.find(data)

    settings: dict[str, Any] = {
        "output_map": ["image", "label"],
        "reader_name": "photos",
        "auto_reset": True,
        "last_batch_policy": LastBatchPolicy.PARTIAL,
        "mask_name": "mask",
    }
    per_pipeline = {"batch_size": arguments.batch_size, "num_threads": 2, "seed": 1}
    training = data_iterator(training_photos, **settings)(split.train, **per_pipeline)
    held_out = data_iterator(held_out_photos, **settings)(split.held_out, **per_pipeline)

    picture = arguments.work / "train_jax.png"
    parameters = make_parameters(jax.random.key(0), len(split.classes))
    momentum = jax.tree.map(jnp.zeros_like, parameters)
    for epoch in range(arguments.epochs):
        losses = []
        for batch in training:
            if not picture.exists():
                pixels = np.asarray(batch["image"]) * STANDARD_DEVIATION + MEAN
                labels = batch["label"][:, 0].tolist()
                sample_grid.draw_by_class(pixels, labels, split.classes, picture)
            parameters, momentum, loss = step(parameters, momentum, batch, 0.02)
            losses.append(float(loss))
        print(f"epoch {epoch + 1}: loss {sum(losses) / len(losses):.3f}")
    print(f"picture: {picture}")
    right = sum(int(count_right(parameters, batch)) for batch in held_out)
    print(f"accuracy: {100 * right / len(split.held_out):.1f} %")


if __name__ == "__main__":
    main()
