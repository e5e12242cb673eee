"""Train a segmentation network on images and masks with the same names, in two folders.

    python segmentation.py --images images --masks masks
    dali-core show segmentation.py:pipeline       # the same crop of both
    dali-core bench segmentation.py:pipeline      # how fast they are loaded

A mask is an image of one channel, such as a PNG file, whose pixels are the numbers of classes.
"""

from __future__ import annotations

import argparse
from typing import Any

import torch
from torch import nn

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.loaders import paired_files
from dali_core.pytorch import Loader

SIDE = 128


@pipeline_def(batch_size=8, num_threads=4, device_id=None, seed=1)
def pipeline(
    images: str = "images", masks: str = "masks", training: bool = True
) -> tuple[DataNode, DataNode]:
    """Return images of shape (3, SIDE, SIDE) and the classes of their pixels."""
    image_files, mask_files = paired_files(images, masks)
    # Both readers have the same seed, so that they shuffle in the same way.
    options: dict[str, Any] = {"random_shuffle": training, "seed": 1}
    encoded, _ = fn.readers.file(files=image_files, **options)
    encoded_mask, _ = fn.readers.file(files=mask_files, **options)
    image = fn.decoders.image(encoded, output_type=types.RGB)
    mask = fn.decoders.image(encoded_mask, output_type=types.GRAY)
    image = fn.resize(image, size=[SIDE, SIDE])
    mask = fn.resize(mask, size=[SIDE, SIDE], interp_type=types.INTERP_NN)
    if training:
        mirror = fn.random.coin_flip()
        image, mask = fn.flip(image, horizontal=mirror), fn.flip(mask, horizontal=mirror)
    image = fn.crop_mirror_normalize(
        image, mean=[128.0], std=[64.0], dtype=types.FLOAT, output_layout="CHW"
    )
    return image, mask


def make_model(num_classes: int) -> nn.Module:
    """Stack a few convolutions; replace them by the model of your choice."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=2, dilation=2),
        nn.ReLU(),
        nn.Conv2d(32, num_classes, 1),
    )


def main() -> None:
    """Train, and print the loss after each epoch."""
    parser = argparse.ArgumentParser(description="Train a segmentation network.")
    parser.add_argument("--images", default="images", help="folder of images (%(default)s)")
    parser.add_argument("--masks", default="masks", help="folder of masks (%(default)s)")
    parser.add_argument("--num-classes", type=int, default=21, help="(%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = Loader(pipeline(options.images, options.masks), device=device)
    model = make_model(options.num_classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        loss = torch.zeros(())
        for images, masks in loader:
            classes = masks.squeeze(3).long()
            # Borders of objects are often 255: they have no class.
            loss = nn.functional.cross_entropy(model(images), classes, ignore_index=255)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
