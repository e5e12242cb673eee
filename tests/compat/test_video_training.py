"""A loader of training clips for NVIDIA DALI runs unmodified."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.compat.outputs import run_with

PROGRAM = """
import os
import sys

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin import pytorch


@pipeline_def
def clips_of(sequence_length, files, size):
    frames = fn.readers.video(
        device="cpu", filenames=files, sequence_length=sequence_length, normalized=False,
        random_shuffle=True, image_type=types.RGB, dtype=types.UINT8, initial_fill=16,
        pad_last_batch=True, name="Reader",
    )
    frames = fn.crop(
        frames, crop=size, dtype=types.FLOAT,
        crop_pos_x=fn.random.uniform(range=(0.0, 1.0)),
        crop_pos_y=fn.random.uniform(range=(0.0, 1.0)),
    )
    return fn.transpose(frames, perm=[3, 0, 1, 2])


class Loader:
    def __init__(self, batch_size, folder, sequence_length, size):
        files = [folder + "/" + name for name in os.listdir(folder)]
        self.pipeline = clips_of(
            batch_size=batch_size, sequence_length=sequence_length, num_threads=2,
            device_id=None, files=files, size=size,
        )
        self.pipeline.build()
        self.epoch_size = self.pipeline.epoch_size("Reader")
        self.batches = pytorch.DALIGenericIterator(
            self.pipeline, ["data"], reader_name="Reader",
            last_batch_policy=pytorch.LastBatchPolicy.PARTIAL, auto_reset=True,
        )

    def __len__(self):
        return int(self.epoch_size)

    def __iter__(self):
        return self.batches.__iter__()


loader = Loader(4, sys.argv[1], 6, [32, 40])
print("length", len(loader))
for epoch in range(2):
    for batch in loader:
        data = batch[0]["data"]
        bounds = float(data.min() >= 0), float(data.max() > 200)
        print("batch", *data.shape, data.dtype, *bounds)
"""


def test_video_super_resolution_loader(video: Callable[[str], Path], tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="not available: PyTorch")
    folder = tmp_path / "train"
    folder.mkdir()
    for name in ("h264.mp4", "vp9.webm"):
        (folder / name).write_bytes(video(name).read_bytes())
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.replace("sys.argv[1]", repr(str(folder))))
    output = run_with("-W", "error", "-m", "dali_core.compat", program=program, cwd=tmp_path)
    batch = "batch {} 3 6 32 40 torch.float32 1.0 1.0"
    # 30 frames make 5 clips of 6, so two videos fill two batches and half of a third.
    epoch = [batch.format(size) for size in (4, 4, 2)]
    assert output.splitlines() == ["length 10", *epoch * 2]
