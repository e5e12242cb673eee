"""The pipeline of demonstrations, and the network that imitates them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from dali_core import fn, pipeline_def
from dali_core.plugin.pytorch import DALIGenericIterator, LastBatchPolicy

from .scene import CAMERAS, FPS, LARGEST_STEP, Array, Image

CHUNK = 4
"""Steps that the network plans at once."""

_NAMES = ("top", "side", "state", "action", "is_pad")


@pipeline_def
def demonstrations(folder: str) -> tuple[Any, ...]:
    """Give both pictures, the state, and the actions from now on, in a random order."""
    data = fn.readers.lerobot(
        root=folder,
        columns=[*CAMERAS, "observation.state", "action"],
        delta_timestamps={"action": [step / FPS for step in range(CHUNK)]},
        random_shuffle=True,
        name="demonstrations",
    )
    pictures = [
        fn.crop_mirror_normalize(
            data[camera], output_layout="FCHW", mean=[127.5] * 3, std=[127.5] * 3
        )
        for camera in CAMERAS
    ]
    return (*pictures, data["observation.state"], data["action"], data["action_is_pad"])


def batches(folder: Path, batch_size: int, threads: int, seed: int) -> DALIGenericIterator:
    """Return an iterator over the batches of an epoch, as dictionaries of tensors."""
    pipeline = demonstrations(
        str(folder), batch_size=batch_size, num_threads=threads, device_id=None, seed=seed
    )
    return DALIGenericIterator(
        pipeline,
        list(_NAMES),
        reader_name="demonstrations",
        last_batch_policy=LastBatchPolicy.PARTIAL,
        auto_reset=True,
    )


class Eye(nn.Module):
    """Finds the places of things in a picture: each channel's mean place, by a spatial softmax."""

    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, channels, 5, stride=2, padding=2),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
        )
        self.sharpness = nn.Parameter(torch.ones(()))

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        """Return places between 0 and 1, shape (N, 2 * channels)."""
        maps = self.layers(pictures)
        shares = (maps * self.sharpness).flatten(2).softmax(2).view_as(maps)
        line = torch.linspace(0, 1, maps.shape[2])
        across, down = (shares.sum(axis) @ line for axis in (2, 3))
        return torch.cat([across, down], 1)


class Policy(nn.Module):
    """Plans steps from two pictures and the place of the gripper."""

    def __init__(self, channels: int = 12) -> None:
        super().__init__()
        self.eyes = nn.ModuleList(Eye(channels) for _ in CAMERAS)
        self.plan = nn.Sequential(
            nn.Linear(3 + 2 * channels * len(CAMERAS), 128), nn.ReLU(), nn.Linear(128, 3 * CHUNK)
        )

    def forward(self, pictures: list[torch.Tensor], state: torch.Tensor) -> torch.Tensor:
        """Return steps in units of the largest one, shape (N, CHUNK, 3)."""
        seen = [eye(picture) for eye, picture in zip(self.eyes, pictures, strict=True)]
        plan: torch.Tensor = self.plan(torch.cat([*seen, state], 1))
        return plan.unflatten(1, (CHUNK, 3))

    @torch.no_grad()
    def act(self, pictures: list[Image], state: Array) -> Array:
        """Return the next step."""
        inputs = [
            torch.from_numpy(picture.astype(np.float32) / 127.5 - 1).permute(2, 0, 1)[None]
            for picture in pictures
        ]
        plan = self(inputs, torch.from_numpy(state)[None])
        return np.asarray(plan[0, 0].numpy() * LARGEST_STEP)


def loss_of(policy: Policy, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Return the mean squared error of steps that the teacher has shown."""
    pictures = [batch[name][:, 0] for name in ("top", "side")]
    planned = policy(pictures, batch["state"])
    shown = ~batch["is_pad"].bool()
    return ((planned - batch["action"] / LARGEST_STEP) ** 2)[shown].mean()
