"""Train a classifier with JAX on photos, in a folder for each class: photos/cat/1.jpg.

python train_jax.py --data photos
dali-core show train_jax.py:pipeline            # what the augmentation does
dali-core bench train_jax.py:pipeline           # how fast the photos are loaded
"""

from __future__ import annotations

import argparse

import jax
import jax.numpy as jnp

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.jax import Loader

SIDE = 64
Parameters = dict[str, jax.Array]


@pipeline_def(batch_size=32, num_threads=4, device_id=None, seed=1)
def pipeline(data: str = "photos") -> tuple[DataNode, DataNode]:
    """Return images of shape (SIDE, SIDE, 3) and the numbers of their classes."""
    encoded, label = fn.readers.file(file_root=data, random_shuffle=True)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.random_resized_crop(image, size=[SIDE, SIDE])
    image = fn.crop_mirror_normalize(
        image,
        mirror=fn.random.coin_flip(),
        mean=[128.0],
        std=[64.0],
        dtype=types.FLOAT,
        output_layout="HWC",
    )
    return image, label


def make_parameters(key: jax.Array, num_classes: int) -> Parameters:
    """Draw the weights of two convolutions and a linear layer; replace them by your model."""
    shapes = {"first": (3, 3, 3, 16), "second": (3, 3, 16, 32), "classes": (32, num_classes)}
    initialize = jax.nn.initializers.he_normal()
    keys = jax.random.split(key, len(shapes))
    return {
        name: initialize(own_key, shape)
        for own_key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def loss_of(parameters: Parameters, images: jax.Array, labels: jax.Array) -> jax.Array:
    """Return the mean cross entropy of a batch."""
    hidden = images
    for name in ("first", "second"):
        hidden = jax.lax.conv_general_dilated(
            hidden, parameters[name], (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        hidden = jax.nn.relu(hidden)
    logarithms = jax.nn.log_softmax(hidden.mean((1, 2)) @ parameters["classes"])
    return -jnp.take_along_axis(logarithms, labels[:, None], axis=1).mean()


@jax.jit
def step(
    parameters: Parameters, images: jax.Array, labels: jax.Array
) -> tuple[Parameters, jax.Array]:
    """Update the weights on one batch."""
    loss, gradients = jax.value_and_grad(loss_of)(parameters, images, labels)
    return jax.tree.map(lambda p, g: p - 0.05 * g, parameters, gradients), loss


def main() -> None:
    """Train, and print the loss after each epoch."""
    parser = argparse.ArgumentParser(description="Train a classifier with JAX.")
    parser.add_argument("--data", default="photos", help="folder of photos (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    # Batches of one shape, so that nothing is compiled again: the last photo of an epoch is
    # repeated to fill its last batch.
    loader = Loader(pipeline(options.data), last_batch="pad")
    parameters = make_parameters(jax.random.key(0), len(loader.classes))
    for epoch in range(options.epochs):
        loss = jnp.zeros(())
        for images, labels in loader:
            parameters, loss = step(parameters, images, labels)
        print(f"epoch {epoch}: loss {float(loss):.3f}")


if __name__ == "__main__":
    main()
