"""A small single-shot detector: anchors of three sizes of cells, a network, its loss and its boxes.

Liu et al., "SSD: Single Shot MultiBox Detector", ECCV 2016.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

from .shapes import CLASSES

SIDE = 96
"""Height and width of the images that the network takes."""

STDS = (0.1, 0.1, 0.2, 0.2)
"""Standard deviations by which deltas are divided, as for `fn.box_encoder`."""

_CELLS = {12: (0.16, 0.24), 6: (0.34, 0.46), 3: (0.6, 0.8)}  # cells in a row: sides of anchors
_NEGATIVES = 3  # anchors without a box that count, for each one with a box


def make_anchors() -> torch.Tensor:
    """Return the anchors (left, top, right, bottom): float32 of shape (anchors, 4).

    They are squares around the middle of each cell; the extents of the image are 1.
    """
    anchors = []
    for cells, sides in _CELLS.items():
        middles = (torch.arange(cells) + 0.5) / cells
        y, x = torch.meshgrid(middles, middles, indexing="ij")
        half = torch.tensor(sides) / 2
        x, y = x[..., None].expand(-1, -1, len(sides)), y[..., None].expand(-1, -1, len(sides))
        anchors.append(torch.stack([x - half, y - half, x + half, y + half], -1).reshape(-1, 4))
    return torch.cat(anchors)


class Detector(nn.Module):
    """Convolutions that halve the resolution, with a head at the last three resolutions."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(_block(3, 16, 2), _block(16, 32, 2), _block(32, 32, 1))
        self.stages, self.heads = nn.ModuleList(), nn.ModuleList()
        width = 32
        for sides in _CELLS.values():
            self.stages.append(nn.Sequential(_block(width, 64, 2), _block(64, 64, 1)))
            width = 64
            outputs = len(sides) * (4 + 1 + len(CLASSES))
            self.heads.append(nn.Conv2d(width, outputs, 3, padding=1))

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return, for each anchor, four deltas and the scores of no box and of each class."""
        features = self.stem(images)
        found = []
        for stage, head in zip(self.stages, self.heads, strict=True):
            features = stage(features)
            rows = head(features).permute(0, 2, 3, 1)
            found.append(rows.reshape(len(images), -1, 4 + 1 + len(CLASSES)))
        both = torch.cat(found, dim=1)
        return both[..., :4], both[..., 4:]


def _block(inputs: int, outputs: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
        nn.BatchNorm2d(outputs),
        nn.ReLU(),
    )


def detection_loss(
    deltas: torch.Tensor, scores: torch.Tensor, true_deltas: torch.Tensor, classes: torch.Tensor
) -> torch.Tensor:
    """Return the loss of boxes and classes, divided by the number of anchors with a box.

    Anchors without a box are far more than others; those with the largest loss count.
    """
    has_box = classes > 0
    count = has_box.sum(1, keepdim=True)
    of_boxes = functional.smooth_l1_loss(deltas[has_box], true_deltas[has_box], reduction="sum")
    of_classes = functional.cross_entropy(scores.transpose(1, 2), classes, reduction="none")
    ranks = of_classes.detach().masked_fill(has_box, 0).argsort(1, descending=True).argsort(1)
    counted = has_box | (ranks < _NEGATIVES * count)
    return (of_boxes + of_classes[counted].sum()) / count.sum().clamp(min=1)


def decode(deltas: torch.Tensor, anchors: torch.Tensor) -> torch.Tensor:
    """Return the boxes (left, top, right, bottom) that deltas of anchors stand for."""
    sizes = anchors[:, 2:] - anchors[:, :2]
    scaled = deltas * torch.tensor(STDS)
    middles = (anchors[:, :2] + anchors[:, 2:]) / 2 + scaled[..., :2] * sizes
    halves = scaled[..., 2:].clamp(max=4).exp() * sizes / 2
    return torch.cat([middles - halves, middles + halves], dim=-1)
