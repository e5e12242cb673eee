"""Train a detector on images with annotations in the format of COCO.

python detection.py --images images --annotations annotations.json
dali-core show detection.py:pipeline          # the boxes on the crops
dali-core bench detection.py:pipeline         # how fast images and boxes are loaded
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.pytorch import Loader

SIDE = 256
STRIDE = 16
"""Pixels between the cells in which the network looks for objects."""


@pipeline_def(batch_size=16, num_threads=4, device_id=None, seed=1)
def pipeline(
    images: str = "images", annotations: str = "annotations.json"
) -> tuple[DataNode, DataNode, DataNode]:
    """Return images of shape (3, SIDE, SIDE), boxes, and labels from 1.

    Boxes are (left, top, right, bottom) in units of the extents of the image. Where a sample has
    fewer than others of the batch, boxes and labels of -1 follow.
    """
    encoded, boxes, labels = fn.readers.coco(
        file_root=images,
        annotations_file=annotations,
        ratio=True,
        ltrb=True,
        skip_empty=True,
        random_shuffle=True,
    )
    start, extent, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        bbox_layout="xyXY",
        thresholds=[0.3, 0.5, 0.9],
        scaling=[0.5, 1.0],
        aspect_ratio=[0.7, 1.4],
    )
    mirror = fn.random.coin_flip()
    image = fn.decoders.image_slice(encoded, start, extent, output_type=types.RGB)
    image = fn.resize(image, size=[SIDE, SIDE])
    image = fn.crop_mirror_normalize(
        image, mirror=mirror, mean=[128.0], std=[64.0], dtype=types.FLOAT, output_layout="CHW"
    )
    boxes = fn.bb_flip(boxes, horizontal=mirror, ltrb=True)
    return image, fn.pad(boxes, axes=[0], fill_value=-1), fn.pad(labels, fill_value=-1)


def make_model(num_classes: int) -> nn.Module:
    """Stack a few convolutions; replace them by the model of your choice.

    For each cell, it returns scores of the classes, 0 being the background, and a box.
    """
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(64, num_classes + 1 + 4, 1))


def loss_of(found: torch.Tensor, boxes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Compare what the cells have found with the objects whose centres are in them."""
    num_cells = SIDE // STRIDE
    sample, number = torch.nonzero(labels > 0, as_tuple=True)
    objects = boxes[sample, number]
    centres = (objects[:, :2] + objects[:, 2:]) / 2
    column, row = (centres * num_cells).long().clamp(0, num_cells - 1).unbind(1)
    wanted = torch.zeros(len(found), num_cells, num_cells, dtype=torch.long, device=found.device)
    wanted[sample, row, column] = labels[sample, number].long()
    loss = nn.functional.cross_entropy(found[:, :-4], wanted)
    if len(objects):
        loss = loss + nn.functional.l1_loss(found[sample, -4:, row, column], objects)
    return loss


def main() -> None:
    """Train, and print the loss after each epoch."""
    parser = argparse.ArgumentParser(description="Train a detector.")
    parser.add_argument("--images", default="images", help="folder of images (%(default)s)")
    parser.add_argument("--annotations", default="annotations.json", help="(%(default)s)")
    parser.add_argument("--num-classes", type=int, default=80, help="(%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = Loader(pipeline(options.images, options.annotations), device=device)
    model = make_model(options.num_classes).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        loss = torch.zeros(())
        for images, boxes, labels in loader:
            loss = loss_of(model(images), boxes, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
