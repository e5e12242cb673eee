"""A small U-Net for volumes, its loss, and the overlap of what it finds."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from examples.shared.loader import Loader

from .organs import ORGANS

_WEIGHTS = (1.0, 3.0, 12.0)  # of voxels of the background, and of the organs


def _block(inputs: int, outputs: int, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv3d(inputs, outputs, 3, stride, padding=1),
        nn.GroupNorm(4, outputs),
        nn.ReLU(),
        nn.Conv3d(outputs, outputs, 3, padding=1),
        nn.GroupNorm(4, outputs),
        nn.ReLU(),
    )


class UNet(nn.Module):
    """Three sizes with connections between them; extents must be multiples of 4."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.first = _block(1, width)
        self.second = _block(width, 2 * width, 2)
        self.third = _block(2 * width, 4 * width, 2)
        self.after_third = _block(6 * width, 2 * width)
        self.after_second = _block(3 * width, width)
        self.scores = nn.Conv3d(width, 1 + len(ORGANS), 1)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Return scores of the labels of each voxel: (batch, labels, D, H, W)."""
        large = self.first(image)
        middle = self.second(large)
        small = functional.interpolate(self.third(middle), scale_factor=2)
        middle = self.after_third(torch.cat([small, middle], 1))
        large = self.after_second(
            torch.cat([functional.interpolate(middle, scale_factor=2), large], 1)
        )
        found: torch.Tensor = self.scores(large)
        return found


def loss_of(scores: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return cross entropy plus 1 minus the soft overlap, for labels of (batch, D, H, W)."""
    wanted = functional.one_hot(labels, scores.shape[1]).movedim(-1, 1)
    likely = scores.softmax(1)
    overlap = (likely * wanted).sum((0, 2, 3, 4))
    whole = (likely + wanted).sum((0, 2, 3, 4))
    dice = (2 * overlap + 1) / (whole + 1)
    # Kidneys have few voxels, which would hardly count otherwise.
    return functional.cross_entropy(scores, labels, torch.tensor(_WEIGHTS)) + 1 - dice.mean()


@torch.no_grad()
def overlaps(model: UNet, loader: Loader) -> list[float]:
    """Return the Dice overlap of each organ in all volumes: twice what both have, of all voxels."""
    both, all_voxels = torch.zeros(len(ORGANS)), torch.zeros(len(ORGANS))
    for batch in loader:
        found, labels = model(batch["image"]).argmax(1), batch["labels"][..., 0]
        for organ in range(len(ORGANS)):
            mine, theirs = found == organ + 1, labels == organ + 1
            both[organ] += (mine & theirs).sum()
            all_voxels[organ] += mine.sum() + theirs.sum()
    dice: list[float] = (2 * both / all_voxels.clamp(min=1)).tolist()
    return dice
