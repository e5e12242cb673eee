"""A convolutional network for sounds of any duration."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import nn

from dali_core.pytorch import Loader
from examples.speech_commands.sounds import WORDS

from .dataloading import FILTERS


class Network(nn.Module):
    """Convolutions of spectra, of which each halves the resolution, one over times, and a mean."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        channels = (1, 16, width, width)
        self.blocks = nn.ModuleList(
            nn.Sequential(
                nn.Conv2d(before, after, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(after),
                nn.ReLU(),
            )
            for before, after in pairwise(channels)
        )
        # About as long as a word: the order of its tones tells it from others.
        self.words = nn.Conv1d(width * FILTERS // 8, 2 * width, 9, padding=4)
        self.scores = nn.Linear(2 * width, len(WORDS))

    def forward(self, spectra: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Return scores of words for spectra of shape (sounds, times, filters).

        Padding is 0 before each layer, as what is beyond the ends.
        """
        x, times = spectra.transpose(1, 2)[:, None], mask[:, None, None].float()
        for block in self.blocks:
            x, times = block(x * times), times[..., ::2]
        x = torch.relu(self.words((x * times).flatten(1, 2)))
        times = times[:, 0]
        scores: torch.Tensor = self.scores((x * times).sum(2) / times.sum(2))
        return scores


@torch.no_grad()
def accuracy(model: Network, loader: Loader) -> float:
    """Return the part of the sounds whose word the network finds."""
    model.eval()
    correct = total = 0
    for spectra, mask, labels in loader:
        correct += int((model(spectra, mask).argmax(1) == labels).sum())
        total += len(labels)
    model.train()
    return correct / total
