"""Train a classifier on videos, in a folder for each class: videos/run/1.mp4, videos/walk/1.mp4.

pip install av                            # decodes the videos
python video.py --data videos
dali-core show video.py:pipeline          # frames of the clips
dali-core bench video.py:pipeline         # how fast clips are loaded
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.pytorch import Loader

FRAMES, STRIDE = 8, 2
"""Frames of a clip, and the distance between them."""
SIDE = 112


@pipeline_def(batch_size=4, num_threads=4, device_id=None, seed=1)
def pipeline(data: str = "videos") -> tuple[DataNode, DataNode]:
    """Return clips of shape (3, FRAMES, SIDE, SIDE) and the numbers of their classes."""
    frames, label = fn.readers.video(
        file_root=data,
        sequence_length=FRAMES,
        stride=STRIDE,
        random_shuffle=True,
    )
    frames = fn.resize(frames, resize_shorter=SIDE)
    frames = fn.crop_mirror_normalize(
        frames,
        crop=[SIDE, SIDE],
        crop_pos_x=fn.random.uniform(range=[0.0, 1.0]),
        crop_pos_y=fn.random.uniform(range=[0.0, 1.0]),
        mirror=fn.random.coin_flip(),
        mean=[128.0],
        std=[64.0],
        dtype=types.FLOAT,
        output_layout="CFHW",
    )
    return frames, label


def make_model(num_classes: int) -> nn.Module:
    """Stack a few convolutions; replace them by the model of your choice."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((3, 16), (16, 32), (32, 64)):
        layers += [nn.Conv3d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(64, num_classes))


def main() -> None:
    """Train, and print the loss after each epoch."""
    parser = argparse.ArgumentParser(description="Train a classifier of videos.")
    parser.add_argument("--data", default="videos", help="folder of videos (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = Loader(pipeline(options.data), device=device)
    model = make_model(len(loader.classes)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        loss = torch.zeros(())
        for clips, labels in loader:
            loss = nn.functional.cross_entropy(model(clips), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
