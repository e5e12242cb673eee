"""Transforms of torchvision, by their classes' names: the module itself is not imported."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from dali_core.errors import ArgumentTypeError, DaliCoreError
from dali_core.torchvision._transform import Lambda, Transform

_ATTRIBUTES = MappingProxyType(
    {
        "AugMix": "severity mixture_width chain_depth alpha all_ops interpolation fill",
        "AutoAugment": "policy interpolation fill",
        "CenterCrop": "size",
        "ColorJitter": "brightness contrast saturation hue",
        "ConvertImageDtype": "dtype",
        "GaussianBlur": "kernel_size sigma",
        "Grayscale": "num_output_channels",
        "Identity": "",
        "Lambda": "lambd",
        "Normalize": "mean std",
        "PILToTensor": "",
        "Pad": "padding fill padding_mode",
        "RandAugment": "num_ops magnitude num_magnitude_bins interpolation fill",
        "RandomAdjustSharpness": "sharpness_factor p",
        "RandomAffine": "degrees translate scale shear interpolation fill center",
        "RandomAutocontrast": "p",
        "RandomCrop": "size padding pad_if_needed fill padding_mode",
        "RandomEqualize": "p",
        "RandomErasing": "p scale ratio value",
        "RandomGrayscale": "p",
        "RandomHorizontalFlip": "p",
        "RandomInvert": "p",
        "RandomPerspective": "distortion_scale p interpolation fill",
        "RandomPosterize": "bits p",
        "RandomResizedCrop": "size scale ratio interpolation antialias",
        "RandomRotation": "degrees interpolation expand center fill",
        "RandomSolarize": "threshold p",
        "RandomVerticalFlip": "p",
        "Resize": "size interpolation max_size antialias",
        "ToDtype": "dtype scale",
        "ToImage": "",
        "ToPILImage": "mode",
        "ToPureTensor": "",
        "ToTensor": "",
        "TrivialAugmentWide": "num_magnitude_bins interpolation fill",
        "Compose": "transforms",
        "RandomApply": "transforms p",
        "RandomChoice": "transforms p",
        "RandomOrder": "transforms",
    }
)
"""For each class of torchvision that is known, the attributes that its arguments are in."""


def converted(transform: Any, what: str) -> Transform:
    """Return a transform as ours: one of torchvision that is known, or a function.

    Parameters
    ----------
    transform : callable
        The transform.
    what : str
        How messages call the transform that applies it.

    Raises
    ------
    ArgumentTypeError
        If it is not callable.
    """
    if isinstance(transform, Transform):
        return transform
    if not callable(transform):
        raise ArgumentTypeError(
            f"torchvision.{what}: transforms must be callable (got a {type(transform).__name__})."
        )
    return of_torchvision(transform) or Lambda(transform)


def of_torchvision(transform: Any) -> Transform | None:
    """Return our transform for one of torchvision; None if it is unknown, or differs.

    Subclasses of users are unknown.
    """
    from dali_core import torchvision

    kind = type(transform)
    if not kind.__module__.startswith("torchvision.transforms."):
        return None
    attributes = _ATTRIBUTES.get(kind.__name__)
    if attributes is None:
        return None
    names = attributes.split()
    if not all(hasattr(transform, name) for name in names):
        return None
    values = {name: _plain(getattr(transform, name)) for name in names}
    try:
        made: Transform = getattr(torchvision, kind.__name__)(**values)
    except (DaliCoreError, NotImplementedError, TypeError, ValueError):
        return None
    return made


def _plain(value: Any) -> Any:
    """Return a list for a list of modules."""
    return list(value) if type(value).__name__ == "ModuleList" else value
