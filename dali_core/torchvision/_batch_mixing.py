"""Mixtures of the images of a batch: MixUp and CutMix."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from dali_core.dynamic._devices import check_host
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._frameworks import is_torch, torch


class _Mixing:
    """The base: images and labels of a batch are mixed with those of the sample before."""

    engine = "PyTorch"

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        num_classes: int | None = None,
        labels_getter: Callable[[Any], Any] | str | None = "default",
        device: str = "cpu",
    ) -> None:
        what = type(self).__name__
        check_host(device, f"torchvision.{what}")
        (self.alpha,) = arguments.numbers(alpha, what, "alpha")
        if self.alpha <= 0:
            raise ArgumentValueError(f"torchvision.{what}: alpha must be positive (got {alpha}).")
        self.num_classes = num_classes
        self._labels_getter = labels_getter

    def __call__(self, *inputs: Any) -> Any:
        """Mix a batch: images NCHW and labels, or a list, tuple or dict that has both."""
        sample = inputs[0] if len(inputs) == 1 else inputs
        labels = self._labels(sample)
        images = _images(sample, labels, type(self).__name__)
        mix, share = self._drawn(images, Draws())

        def replaced(value: Any) -> Any:
            if value is labels:
                return self._mixed_labels(labels, share)
            if value is images:
                return mix(images)
            if isinstance(value, (list, tuple)):
                return type(value)(map(replaced, value))
            if isinstance(value, dict):
                return {name: replaced(entry) for name, entry in value.items()}
            return value

        return replaced(sample)

    def _drawn(self, images: Any, draws: Draws) -> tuple[Callable[[Any], Any], float]:
        """Return how to mix images, and the share that an image keeps."""
        raise NotImplementedError

    def _labels(self, sample: Any) -> Any:
        if callable(self._labels_getter):
            return self._labels_getter(sample)
        if self._labels_getter is None:
            return None
        found = [v for v in _leaves(sample) if is_torch(v) and v.ndim in (1, 2)]
        if len(found) != 1:
            raise ArgumentValueError(
                f"torchvision.{type(self).__name__}: the batch must have one tensor of labels (got "
                f"{len(found)}). Pass labels_getter."
            )
        return found[0]

    def _mixed_labels(self, labels: Any, share: float) -> Any:
        framework = torch()
        if labels.ndim == 1:
            if self.num_classes is None:
                raise ArgumentValueError(
                    f"torchvision.{type(self).__name__}: num_classes must be given if labels are "
                    "class numbers."
                )
            labels = framework.nn.functional.one_hot(labels.long(), self.num_classes)
        labels = labels if labels.is_floating_point() else labels.float()
        return labels * share + labels.roll(1, 0) * (1.0 - share)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(alpha={self.alpha}, num_classes={self.num_classes})"


def _leaves(sample: Any) -> list[Any]:
    if isinstance(sample, dict):
        sample = list(sample.values())
    if isinstance(sample, (list, tuple)):
        return [leaf for entry in sample for leaf in _leaves(entry)]
    return [sample]


def _images(sample: Any, labels: Any, what: str) -> Any:
    found = [v for v in _leaves(sample) if is_torch(v) and v.ndim == 4]
    if len(found) != 1:
        raise ArgumentTypeError(
            f"torchvision.{what}: the batch must have one tensor of images NCHW (got {len(found)})."
        )
    if labels is not None and len(labels) != len(found[0]):
        raise ArgumentValueError(
            f"torchvision.{what}: there must be as many labels as images (got {len(labels)} and "
            f"{len(found[0])})."
        )
    return found[0]


class MixUp(_Mixing):
    """Mix each image of a batch, and its label, with those before it.

    Reference: Zhang, Cisse, Dauphin, Lopez-Paz, "mixup", https://arxiv.org/abs/1710.09412.

    Parameters
    ----------
    alpha : float
        Parameter of the distribution of the share.
    num_classes : int, optional
        Number of classes; it must be given if labels are class numbers.
    labels_getter : callable or None, optional
        Returns the labels of a batch; by default the only tensor of one or two dimensions.
    device : str
        ``"cpu"``.
    """

    def _drawn(self, images: Any, draws: Draws) -> tuple[Callable[[Any], Any], float]:
        share = float(draws.dirichlet(self.alpha, 2)[0])
        if not images.is_floating_point():
            raise ArgumentTypeError(
                f"torchvision.MixUp: images must be of floating point (got {images.dtype}). Use "
                "ToDtype before."
            )
        return lambda batch: batch * share + batch.roll(1, 0) * (1.0 - share), share


class CutMix(_Mixing):
    """Replace a window of each image of a batch by that of the image before it; mix the labels.

    Reference: Yun, Han, Oh, Chun, Choe, Yoo, "CutMix", https://arxiv.org/abs/1905.04899.

    Parameters
    ----------
    alpha : float
        Parameter of the distribution of the window's area.
    num_classes : int, optional
        Number of classes; it must be given if labels are class numbers.
    labels_getter : callable or None, optional
        Returns the labels of a batch; by default the only tensor of one or two dimensions.
    device : str
        ``"cpu"``.
    """

    def _drawn(self, images: Any, draws: Draws) -> tuple[Callable[[Any], Any], float]:
        share = float(draws.dirichlet(self.alpha, 2)[0])
        height, width = images.shape[-2:]
        x, y = draws.integer(0, width), draws.integer(0, height)
        half = 0.5 * math.sqrt(1.0 - share)
        across, down = int(half * width), int(half * height)
        left, right = max(x - across, 0), min(x + across, width)
        top, bottom = max(y - down, 0), min(y + down, height)

        def mix(batch: Any) -> Any:
            made = batch.clone()
            made[..., top:bottom, left:right] = batch.roll(1, 0)[..., top:bottom, left:right]
            return made

        return mix, 1.0 - (right - left) * (bottom - top) / (width * height)
