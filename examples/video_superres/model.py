"""A small network that doubles the resolution of the middle frame of a clip."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional

SCALE = 2


def shrink(clips: torch.Tensor) -> torch.Tensor:
    """Halve the resolution of clips: the input of the network.

    Parameters
    ----------
    clips : tensor of shape (clips, channels, frames, height, width)
        Numbers from 0 to 1.

    Returns
    -------
    tensor of shape (clips, channels, frames, height / 2, width / 2)
        With 8-bit precision, like stored videos.
    """
    count, channels, frames, height, width = clips.shape
    images = clips.reshape(count, channels * frames, height, width)
    small = functional.interpolate(
        images, scale_factor=1 / SCALE, mode="bicubic", antialias=True
    ).clamp(0, 1)
    return (small * 255).round().div(255).unflatten(1, (channels, frames))


def middle(clips: torch.Tensor) -> torch.Tensor:
    """Return the middle frame of each clip."""
    return clips[:, :, clips.shape[2] // 2]


def enlarge(images: torch.Tensor) -> torch.Tensor:
    """Double the resolution of images by bicubic interpolation."""
    return functional.interpolate(images, scale_factor=SCALE, mode="bicubic").clamp(0, 1)


class SuperResolution(nn.Module):
    """Bicubic enlargement plus a residual that convolutions compute from the neighbouring frames.

    The last one returns four values per channel and pixel, which are the four pixels of the result
    (Shi et al., "Real-Time Single Image and Video Super-Resolution Using an Efficient Sub-Pixel
    Convolutional Neural Network", 2016).
    """

    def __init__(self, frames: int, width: int = 32, depth: int = 3) -> None:
        super().__init__()
        layers: list[nn.Module] = [nn.Conv2d(3 * frames, width, 3, padding=1), nn.ReLU()]
        for _ in range(depth):
            layers += [nn.Conv2d(width, width, 3, padding=1), nn.ReLU()]
        last = nn.Conv2d(width, 3 * SCALE**2, 3, padding=1)
        nn.init.zeros_(last.weight)  # training starts at the bicubic enlargement
        assert last.bias is not None
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(*layers, last, nn.PixelShuffle(SCALE))
        self.to(memory_format=torch.channels_last)

    def forward(self, clips: torch.Tensor) -> torch.Tensor:
        """Enlarge the middle frame of clips that `shrink` returned."""
        images = clips.flatten(1, 2).contiguous(memory_format=torch.channels_last)
        residual: torch.Tensor = self.layers(images - 0.5)
        return enlarge(middle(clips)) + residual


def psnr(images: torch.Tensor, truth: torch.Tensor) -> torch.Tensor:
    """Return the peak signal-to-noise ratio of each image in decibels, at 8-bit precision."""
    rounded = (images.clamp(0, 1) * 255).round()
    error = (rounded - (truth * 255).round()).square().flatten(1).mean(1)
    return 10 * torch.log10(255**2 / error.clamp(min=1e-9))
