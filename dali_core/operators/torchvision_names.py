"""Operators that do what transforms of torchvision do, whose names are not alike."""

from __future__ import annotations

TORCHVISION_NAMES = {
    "CenterCrop": "crop",
    "ColorJitter": "color_twist",
    "Grayscale": "color_space_conversion",
    "RandomAffine": "warp_affine",
    "RandomErasing": "erase",
    "RandomHorizontalFlip": "flip",
    "RandomRotation": "rotate",
    "RandomVerticalFlip": "flip",
    "ToTensor": "crop_mirror_normalize",
}
"""The operator for each transform, which errors about unknown names suggest."""
