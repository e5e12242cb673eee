"""Select the boxes that a network found, and measure how many of the true ones are among them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from examples.shared.loader import Loader

from .model import Detector, decode

DETECTIONS = 5
"""How many boxes of an image count."""

IOU = 0.5
"""Least intersection over union of a box that is found and a true one."""

_CANDIDATES = 50
_OVERLAP = 0.4  # intersection over union of two boxes, of which one is dropped


@dataclass(frozen=True)
class Detections:
    """Boxes of an image, float32 of shape (N, 4), their labels and scores, best first."""

    boxes: torch.Tensor
    labels: torch.Tensor
    scores: torch.Tensor


def iou(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Return the intersection over union of each of N boxes and each of M: shape (N, M)."""
    start = torch.maximum(one[:, None, :2], other[None, :, :2])
    end = torch.minimum(one[:, None, 2:], other[None, :, 2:])
    common = (end - start).clamp(min=0).prod(-1)
    areas = [(boxes[:, 2:] - boxes[:, :2]).prod(-1) for boxes in (one, other)]
    return common / (areas[0][:, None] + areas[1][None] - common)


def select(boxes: torch.Tensor, scores: torch.Tensor) -> Detections:
    """Return the boxes with the highest scores, without those that overlap a better one.

    Parameters
    ----------
    boxes : tensor of shape (anchors, 4)
    scores : tensor of shape (anchors, 1 + classes)
        As the network gives them.
    """
    best, labels = scores.softmax(-1)[:, 1:].max(-1)
    order = best.argsort(descending=True)[:_CANDIDATES]
    overlaps = iou(boxes[order], boxes[order]) > _OVERLAP
    kept: list[int] = []
    for place in range(len(order)):
        if not overlaps[place, kept].any():
            kept.append(place)
    chosen = order[kept[:DETECTIONS]]
    return Detections(boxes[chosen], labels[chosen] + 1, best[chosen])


@torch.no_grad()
def detect(model: Detector, images: torch.Tensor, anchors: torch.Tensor) -> list[Detections]:
    """Return what the network finds in each image."""
    model.eval()
    deltas, scores = model(images)
    model.train()
    return [select(*both) for both in zip(decode(deltas, anchors), scores, strict=True)]


def recall(model: Detector, loader: Loader, anchors: torch.Tensor) -> float:
    """Return the share of true boxes that a box of the same label among the best ones covers."""
    found = total = 0
    for batch in loader:
        detections = detect(model, batch["images"], anchors)
        for ours, boxes, labels in zip(detections, batch["boxes"], batch["labels"], strict=True):
            true, names = boxes[labels > 0], labels[labels > 0]
            hits = (iou(true, ours.boxes) >= IOU) & (names[:, None] == ours.labels[None])
            found += int(hits.any(1).sum())
            total += len(true)
    return found / total
