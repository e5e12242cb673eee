"""Load volumes with labels: patches that are augmented to train on, whole ones to measure with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dali_core import DataNode, fn, math, pipeline_def, types
from examples.shared.loader import READER

PATCH = 24
"""Extent of a patch along each axis."""

_RANGE = 250.0  # what is beyond is air or bone


def read(folder: Path, **order: Any) -> tuple[DataNode, DataNode]:
    """Read volumes and labels, both with a channel; equal orders give what belongs together."""
    both = []
    for folder_name, reader in (("images", READER), ("labels", "labels")):
        volume, _ = fn.readers.nifti(file_root=str(folder / folder_name), name=reader, **order)
        both.append(fn.expand_dims(fn.reshape(volume, layout="DHW"), axes=3, new_axis_names="C"))
    return both[0], fn.cast(both[1], dtype=types.UINT8)


def normalize(image: DataNode) -> DataNode:
    """Bring numbers near to the range from -1 to 1, with the channel first."""
    return fn.transpose(math.clamp(image / _RANGE, -1.0, 1.0), perm=[3, 0, 1, 2])


@pipeline_def
def training_pipeline(folder: Path, order: int, positive: float) -> tuple[DataNode, ...]:
    """Give patches of volumes, turned and mirrored, and the labels of their voxels."""
    image, labels = read(folder, random_shuffle=True, seed=order)
    start = fn.random_patch(labels, shape=[PATCH] * 3, positive=positive, classes=[1, 2])
    angle = fn.random.uniform(range=[-15.0, 15.0])
    mirror = fn.random.coin_flip()
    patches = []
    for volume, interpolation in ((image, types.INTERP_LINEAR), (labels, types.INTERP_NN)):
        patch = fn.slice(volume, start=start, shape=[PATCH] * 3, axis_names="DHW")
        patch = fn.rotate(
            patch, angle=angle, axis=[0, 0, 1], keep_size=True, interp_type=interpolation
        )
        patches.append(fn.flip(patch, depthwise=mirror))
    image, labels = patches
    return normalize(fn.noise.gaussian(image, stddev=10.0)), labels


@pipeline_def
def held_out_pipeline(folder: Path) -> tuple[DataNode, ...]:
    """Give whole volumes, and the labels of their voxels."""
    image, labels = read(folder, pad_last_batch=True)
    return normalize(image), labels
