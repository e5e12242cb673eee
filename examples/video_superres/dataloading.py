"""Load clips of videos: random crops of them, as float with the channels first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.plugin import pytorch

READER = "Reader"


@pipeline_def
def create_video_reader_pipeline(
    sequence_length: int, files: Sequence[str], crop_size: Sequence[int], shuffle: bool = True
) -> DataNode:
    """Read clips, and crop them, each frame in the same way."""
    images = fn.readers.video(
        device="cpu",
        filenames=files,
        sequence_length=sequence_length,
        normalized=False,
        random_shuffle=shuffle,
        image_type=types.RGB,
        dtype=types.UINT8,
        initial_fill=16,
        pad_last_batch=True,
        name=READER,
    )
    images = fn.crop(
        images,
        crop=crop_size,
        dtype=types.FLOAT,
        crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
        crop_pos_y=fn.random.uniform(range=(0.0, 1.0)),
    )
    return fn.transpose(images, perm=[3, 0, 1, 2])


class DALILoader:
    """Clips of all videos in a folder, in batches of shape [B, C, F, H, W].

    Parameters
    ----------
    batch_size : int
        Clips in a batch; the last one of an epoch may have fewer.
    file_root : path
        Folder with the videos.
    sequence_length : int
        Frames in a clip.
    crop_size : (int, int)
        Height and width of the crop.
    """

    def __init__(
        self,
        batch_size: int,
        file_root: Path,
        sequence_length: int,
        crop_size: Sequence[int],
        shuffle: bool = True,
        num_threads: int = 2,
        seed: int = 0,
    ) -> None:
        files = [str(file_root / name) for name in sorted(os.listdir(file_root))]
        self.pipeline = create_video_reader_pipeline(
            batch_size=batch_size,
            sequence_length=sequence_length,
            num_threads=num_threads,
            device_id=None,
            seed=seed,
            files=files,
            crop_size=crop_size,
            shuffle=shuffle,
        )
        self.pipeline.build()
        self.epoch_size = self.pipeline.epoch_size(READER)
        self.dali_iterator = pytorch.DALIGenericIterator(
            self.pipeline,
            ["data"],
            reader_name=READER,
            last_batch_policy=pytorch.LastBatchPolicy.PARTIAL,
            auto_reset=True,
        )

    def __len__(self) -> int:
        """Return the number of clips in an epoch."""
        return int(self.epoch_size)

    def __iter__(self) -> Iterator[list[dict[str, torch.Tensor]]]:
        return iter(self.dali_iterator)
