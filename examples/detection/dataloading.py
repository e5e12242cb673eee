"""Load pictures with boxes: augmented and encoded to train on, as they are to evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dali_core import DataNode, fn, pipeline_def, types
from examples.shared.loader import READER

from .coco import ANNOTATIONS
from .model import SIDE, STDS

_MEAN, _STD = 110.0, 60.0


def read(folder: Path, **options: Any) -> list[DataNode]:
    """Read files, boxes (left, top, right, bottom in units of the extents), labels from 1."""
    nodes: list[DataNode] = fn.readers.coco(
        file_root=str(folder),
        annotations_file=str(folder / ANNOTATIONS),
        ratio=True,
        ltrb=True,
        name=READER,
        **options,
    )
    return nodes


def augment(
    files: DataNode, boxes: DataNode, labels: DataNode, masks: DataNode | None = None
) -> tuple[DataNode, ...]:
    """Take a random window with some of the boxes; change its size and colours; mirror it.

    Returns
    -------
    tuple of DataNode
        Images, uint8; boxes and labels of what is left; the masks, if there were some.
    """
    start, extent, boxes, labels = fn.random_bbox_crop(
        boxes,
        labels,
        bbox_layout="xyXY",
        threshold_type="overlap",
        thresholds=[0.5, 0.75, 1.0],
        all_boxes_above_threshold=False,
        bbox_prune_threshold=0.4,
        scaling=[0.5, 1.0],
        aspect_ratio=[0.7, 1.4],
        total_num_attempts=50,
    )
    mirror = fn.random.coin_flip()
    images = fn.decoders.image_slice(files, start, extent)
    images = fn.resize(images, size=[SIDE, SIDE])
    images = fn.color_twist(
        images,
        brightness=fn.random.uniform(range=[0.7, 1.3]),
        contrast=fn.random.uniform(range=[0.7, 1.3]),
        saturation=fn.random.uniform(range=[0.6, 1.4]),
        hue=fn.random.uniform(range=[-30.0, 30.0]),
    )
    images = fn.flip(images, horizontal=mirror)
    boxes = fn.bb_flip(boxes, horizontal=mirror, ltrb=True)
    if masks is None:
        return images, boxes, labels
    masks = fn.slice(masks, start, extent)
    masks = fn.resize(masks, size=[SIDE, SIDE], interp_type=types.INTERP_NN)
    return images, boxes, labels, fn.flip(masks, horizontal=mirror)


def normalize(images: DataNode) -> DataNode:
    """Give images mean 0 and deviation 1, about, with the channels first."""
    return fn.crop_mirror_normalize(images, mean=_MEAN, std=_STD)


@pipeline_def
def training_pipeline(folder: Path, anchors: Sequence[float], order: int) -> tuple[DataNode, ...]:
    """Give images, and for each anchor the deltas and the label that the network should predict."""
    images, boxes, labels = augment(*read(folder, random_shuffle=True, seed=order))
    deltas, classes = fn.box_encoder(boxes, labels, anchors=anchors, offset=True, stds=STDS)
    return normalize(images), deltas, classes


@pipeline_def
def held_out_pipeline(folder: Path) -> tuple[DataNode, ...]:
    """Give whole images, and their boxes and labels, filled up with label 0 to equal numbers."""
    files, boxes, labels = read(folder, pad_last_batch=True)
    images = fn.resize(fn.decoders.image(files), size=[SIDE, SIDE])
    return normalize(images), fn.pad(boxes, axes=[0]), fn.pad(labels, axes=[0])


@pipeline_def
def sample_pipeline(folder: Path) -> tuple[DataNode, ...]:
    """Give images, boxes, labels and masks: the original four, then the four after augmentation."""
    files, *objects = read(folder, pixelwise_masks=True)
    return fn.decoders.image(files), *objects, *augment(files, *objects)
