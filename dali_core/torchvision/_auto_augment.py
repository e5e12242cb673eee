"""Automatic augmentation: AutoAugment, RandAugment, TrivialAugmentWide and AugMix."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from dali_core.errors import ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _augmentation_policies as policies
from dali_core.torchvision import _colors as colors
from dali_core.torchvision import _warping as warping
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._pictures import Picture
from dali_core.torchvision._resampling import InterpolationMode, as_integers, as_interpolation
from dali_core.torchvision._transform import Transform

Fill: TypeAlias = "float | Sequence[float] | None"
Magnitudes: TypeAlias = "Callable[[int, int, int], Any] | None"
"""Of the number of bins, height and width: the magnitudes. None: there are none."""
Space: TypeAlias = "dict[str, tuple[Magnitudes, bool]]"
"""Of the name of an operation: its magnitudes, and whether they are negative half of the time."""


def _up_to(most: float) -> Magnitudes:
    return lambda bins, height, width: np.linspace(0.0, most, bins, dtype=np.float32)


def _across(share: float) -> Magnitudes:
    return lambda bins, height, width: np.linspace(0.0, share * width, bins, dtype=np.float32)


def _down(share: float) -> Magnitudes:
    return lambda bins, height, width: np.linspace(0.0, share * height, bins, dtype=np.float32)


def _bits(most: int, loss: int) -> Magnitudes:
    return lambda bins, height, width: most - np.round(np.arange(bins) / ((bins - 1) / loss))


def _falling(bins: int, height: int, width: int) -> Any:
    return np.linspace(1.0, 0.0, bins, dtype=np.float32)


def _space(
    shear: Magnitudes, x: Magnitudes, y: Magnitudes, rotate: Magnitudes, color: Magnitudes,
    bits: Magnitudes,
) -> Space:  # fmt: skip
    return {
        "Identity": (None, False),
        "ShearX": (shear, True),
        "ShearY": (shear, True),
        "TranslateX": (x, True),
        "TranslateY": (y, True),
        "Rotate": (rotate, True),
        "Brightness": (color, True),
        "Color": (color, True),
        "Contrast": (color, True),
        "Sharpness": (color, True),
        "Posterize": (bits, False),
        "Solarize": (_falling, False),
        "AutoContrast": (None, False),
        "Equalize": (None, False),
        "Invert": (None, False),
    }


def _without(space: Space, *names: str) -> Space:
    return {name: entry for name, entry in space.items() if name not in names}


_SMALL = _space(
    _up_to(0.3), _across(150 / 331), _down(150 / 331), _up_to(30.0), _up_to(0.9), _bits(8, 4)
)
_WIDE = _space(_up_to(0.99), _up_to(32.0), _up_to(32.0), _up_to(135.0), _up_to(0.99), _bits(8, 6))
_MIXED = _space(_up_to(0.3), _across(1 / 3), _down(1 / 3), _up_to(30.0), _up_to(0.9), _bits(4, 4))
_COLORS = ("Brightness", "Color", "Contrast", "Sharpness")

AUTO_SPACE = _without(_SMALL, "Identity")
RAND_SPACE = _without(_SMALL, "Invert")
TRIVIAL_SPACE = _without(_WIDE, "Invert")
_MIX_SHAPES = _without(_MIXED, "Identity", "Invert", *_COLORS)
MIX_SPACE = {**_MIX_SHAPES, **{name: _MIXED[name] for name in _COLORS}}


class _AutoAugment(Transform):
    """The base: an operation with a magnitude, on a picture."""

    engine = "native (equalisation by NumPy; it and warps by Pillow for its images)"

    def __init__(self, interpolation: Any, fill: Any, device: str) -> None:
        super().__init__(device)
        what = type(self).__name__
        self.interpolation = as_interpolation(interpolation, what)
        self.fill = arguments.fill(fill, what)

    def _drawn(self, space: Space, draws: Draws) -> str:
        names = list(space)
        return names[draws.integer(0, len(names))]

    def _magnitude(
        self, entry: tuple[Magnitudes, bool], which: Callable[[], int], bins: int, size: Any,
        draws: Draws,
    ) -> float:  # fmt: skip
        magnitudes, is_signed = entry
        if magnitudes is None:
            return 0.0
        magnitude = float(magnitudes(bins, *size)[which()])
        return -magnitude if is_signed and draws.unit() <= 0.5 else magnitude

    def _operate(self, picture: Picture, name: str, magnitude: float) -> Picture:
        return self._operation(picture, name, magnitude).settled()

    def _operation(self, picture: Picture, name: str, magnitude: float) -> Picture:
        if name == "Identity":
            return picture
        if name == "Rotate":
            return warping.rotate(picture, magnitude, self.interpolation, fill=self.fill)
        if name.startswith(("Shear", "Translate")):
            along_x = name.endswith("X")
            if name.startswith("Shear"):
                angle = math.degrees(math.atan(magnitude))
                shear, move = ((angle, 0.0) if along_x else (0.0, angle)), (0, 0)
            else:
                step = int(magnitude)
                shear, move = (0.0, 0.0), ((step, 0) if along_x else (0, step))
            matrix = warping.affine_matrix(0.0, move, 1.0, shear, (0.0, 0.0))
            return warping.affine(picture, matrix, self.interpolation, self.fill)
        if name in _FACTORS:
            return _FACTORS[name](picture, 1.0 + magnitude)
        if name == "Posterize":
            return colors.posterize(picture, int(magnitude))
        if name == "Solarize":
            return colors.solarize(picture, picture.bound * magnitude)
        return _PLAIN[name](picture)


_FACTORS = {
    "Brightness": colors.brightness,
    "Color": colors.saturation,
    "Contrast": colors.contrast,
    "Sharpness": colors.sharpness,
}
_PLAIN = {
    "AutoContrast": colors.autocontrast,
    "Equalize": colors.equalize,
    "Invert": colors.invert,
}


class AutoAugmentPolicy(enum.Enum):
    """Policies of `AutoAugment`, by the data set that they were learned for."""

    IMAGENET = "imagenet"
    CIFAR10 = "cifar10"
    SVHN = "svhn"


class AutoAugment(_AutoAugment):
    """Apply a random one of several learned pairs of operations.

    Parameters
    ----------
    policy : AutoAugmentPolicy
        The policy.
    interpolation : InterpolationMode
        How warps find pixels.
    fill : float, sequence of float or None
        Value outside of warped images.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        policy: Any = AutoAugmentPolicy.IMAGENET,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(interpolation, fill, device)
        name = getattr(policy, "value", policy)
        known = {entry.value: entry for entry in AutoAugmentPolicy}
        if name not in known:
            raise ArgumentValueError(
                f"torchvision.AutoAugment: policy must be an AutoAugmentPolicy (got "
                f"{policy!r:.60})."
            )
        self.policy = known[name]
        self._policies = policies.sub_policies(getattr(policies, self.policy.name))

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        size = (picture.height, picture.width)
        picture = picture.settled()
        for name, p, which in self._policies[draws.integer(0, len(self._policies))]:
            if draws.unit() > p:
                continue
            magnitude = self._magnitude(AUTO_SPACE[name], partial(int, which), 10, size, draws)
            picture = self._operate(picture, name, magnitude)
        return picture


class RandAugment(_AutoAugment):
    """Apply random operations of one magnitude.

    Reference: Cubuk, Zoph, Shlens, Le, "RandAugment", https://arxiv.org/abs/1909.13719.

    Parameters
    ----------
    num_ops : int
        How many.
    magnitude : int
        The bin of the magnitude.
    num_magnitude_bins : int
        Number of bins.
    interpolation : InterpolationMode
        How warps find pixels.
    fill : float, sequence of float or None
        Value outside of warped images.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(interpolation, fill, device)
        found = as_integers([num_ops, magnitude, num_magnitude_bins], "RandAugment", "arguments")
        self.num_ops, self.magnitude, self.num_magnitude_bins = found
        if self.num_ops < 0 or not 0 <= self.magnitude < max(self.num_magnitude_bins, 2):
            raise ArgumentValueError(
                "torchvision.RandAugment: magnitude must be below num_magnitude_bins, and num_ops "
                f"not negative (got {magnitude}, {num_magnitude_bins} and {num_ops})."
            )

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        size = (picture.height, picture.width)
        picture = picture.settled()
        for _ in range(self.num_ops):
            name = self._drawn(RAND_SPACE, draws)
            magnitude = self._magnitude(
                RAND_SPACE[name], lambda: self.magnitude, self.num_magnitude_bins, size, draws
            )
            picture = self._operate(picture, name, magnitude)
        return picture


class TrivialAugmentWide(_AutoAugment):
    """Apply one random operation of a random magnitude.

    Reference: Mueller, Hutter, "TrivialAugment", https://arxiv.org/abs/2103.10158.

    Parameters
    ----------
    num_magnitude_bins : int
        Number of magnitudes.
    interpolation : InterpolationMode
        How warps find pixels.
    fill : float, sequence of float or None
        Value outside of warped images.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Any = InterpolationMode.NEAREST,
        fill: Fill = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(interpolation, fill, device)
        (bins,) = as_integers(num_magnitude_bins, "TrivialAugmentWide", "num_magnitude_bins")
        if bins < 2:
            raise ArgumentValueError(
                f"torchvision.TrivialAugmentWide: num_magnitude_bins must be at least 2 (got "
                f"{bins})."
            )
        self.num_magnitude_bins = bins

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        size = (picture.height, picture.width)
        name = self._drawn(TRIVIAL_SPACE, draws)
        bins = self.num_magnitude_bins
        magnitude = self._magnitude(
            TRIVIAL_SPACE[name], lambda: draws.integer(0, bins), bins, size, draws
        )
        return self._operate(picture.settled(), name, magnitude)


class AugMix(_AutoAugment):
    """Mix an image with several random chains of operations on it.

    Reference: Hendrycks, Mu, Cubuk, Zoph, Gilmer, Lakshminarayanan, "AugMix",
    https://arxiv.org/abs/1912.02781.

    Parameters
    ----------
    severity : int
        Number of the magnitudes that are drawn from, of 10.
    mixture_width : int
        Number of chains.
    chain_depth : int
        Operations in a chain; a random number from 1 to 3 if it is not positive.
    alpha : float
        Concentration of the distribution of the shares.
    all_ops : bool
        Whether brightness, contrast, saturation and sharpness change as well.
    interpolation : InterpolationMode
        How warps find pixels.
    fill : float, sequence of float or None
        Value outside of warped images.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        severity: int = 3,
        mixture_width: int = 3,
        chain_depth: int = -1,
        alpha: float = 1.0,
        all_ops: bool = True,
        interpolation: Any = InterpolationMode.BILINEAR,
        fill: Fill = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(interpolation, fill, device)
        found = as_integers([severity, mixture_width, chain_depth], "AugMix", "arguments")
        self.severity, self.mixture_width, self.chain_depth = found
        if not 1 <= self.severity <= 10 or self.mixture_width < 1:
            raise ArgumentValueError(
                "torchvision.AugMix: severity must be from 1 to 10, and mixture_width positive "
                f"(got {severity} and {mixture_width})."
            )
        (self.alpha,) = arguments.numbers(alpha, "AugMix", "alpha")
        if self.alpha <= 0:
            raise ArgumentValueError(f"torchvision.AugMix: alpha must be positive (got {alpha}).")
        self.all_ops = bool(all_ops)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        space = MIX_SPACE if self.all_ops else _MIX_SHAPES
        size = (picture.height, picture.width)
        # Chains are computed by the rules of tensors, also those of images of Pillow.
        base = picture.settled().with_kind("tensor")
        kept, mixed = draws.dirichlet(self.alpha, 2).tolist()
        shares = (draws.dirichlet(self.alpha, self.mixture_width) * mixed).tolist()
        total = kept * base.array().astype(np.float32)
        for share in shares:
            depth = self.chain_depth if self.chain_depth > 0 else draws.integer(1, 4)
            made = base
            for _ in range(depth):
                name = self._drawn(space, draws)
                magnitude = self._magnitude(
                    space[name], lambda: draws.integer(0, self.severity), 10, size, draws
                )
                made = self._operate(made, name, magnitude)
            total += np.float32(share) * made.array()
        return picture.by_array(lambda array: total.astype(array.dtype))
