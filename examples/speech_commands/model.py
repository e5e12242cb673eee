"""A small convolutional network for spectrograms, and its accuracy."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from examples.shared.loader import Loader

from .sounds import WORDS


class Network(nn.Sequential):
    """Three convolutions, of which each halves the resolution, and a mean over time."""

    def __init__(self) -> None:
        widths = (1, 16, 32, 32)
        blocks: list[nn.Module] = []
        for before, after in pairwise(widths):
            blocks += [
                nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
            ]
        # Times keep their places: the order of the tones makes a word.
        super().__init__(*blocks, nn.Flatten(), nn.Linear(widths[-1] * 5 * 10, len(WORDS)))


@torch.no_grad()
def accuracy(model: Network, loader: Loader) -> float:
    """Return the part of the words that the network tells correctly."""
    model.eval()
    correct = total = 0
    for batch in loader:
        scores = model(batch["spectra"][:, None])
        correct += int((scores.argmax(1) == batch["labels"][:, 0]).sum())
        total += len(scores)
    model.train()
    return correct / total
