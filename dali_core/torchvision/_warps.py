"""Transforms that rotate, shear and distort."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core.errors import ArgumentValueError
from dali_core.torchvision import _arguments as arguments
from dali_core.torchvision import _warping as warping
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._pictures import Picture
from dali_core.torchvision._resampling import InterpolationMode, as_interpolation
from dali_core.torchvision._transform import Transform

_ENGINE = "native (images of Pillow by Pillow)"


def _degrees(value: Any, what: str, name: str = "degrees") -> list[float]:
    """Return a range of angles: a pair, or a number x for the range from -x to x."""
    found = arguments.numbers(value, what, name)
    if not isinstance(value, (list, tuple)):
        if found[0] < 0:
            raise ArgumentValueError(
                f"torchvision.{what}: {name} must not be negative if it is one number (got "
                f"{value}). Pass a pair."
            )
        found = [-found[0], found[0]]
    if len(found) != 2:
        raise ArgumentValueError(
            f"torchvision.{what}: {name} must be a number or a pair (got {value!r:.60})."
        )
    return found


def _center(value: Any, what: str) -> list[float] | None:
    if value is None:
        return None
    found = arguments.numbers(value, what, "center")
    if len(found) != 2:
        raise ArgumentValueError(f"torchvision.{what}: center must be x and y (got {value!r:.60}).")
    return found


class RandomRotation(Transform):
    """Rotate images by a random angle.

    Parameters
    ----------
    degrees : float or (float, float)
        Range of the angle in degrees, counter-clockwise; x stands for the range from -x to x.
    interpolation : InterpolationMode
        How pixels are found.
    expand : bool
        Whether the result is so large that it shows the whole image.
    center : (float, float), optional
        The centre (x, y) in pixels, by default that of the image.
    fill : float or sequence of float
        Value outside of the image.
    device : str
        ``"cpu"``.
    """

    engine = _ENGINE

    def __init__(
        self,
        degrees: float | Sequence[float],
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        expand: bool = False,
        center: Sequence[float] | None = None,
        fill: float | Sequence[float] | None = 0,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        self.degrees = _degrees(degrees, "RandomRotation")
        self.interpolation = as_interpolation(interpolation, "RandomRotation")
        self.expand = bool(expand)
        self.center = _center(center, "RandomRotation")
        self.fill = arguments.fill(fill, "RandomRotation")

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        angle = draws.uniform(*self.degrees)
        return warping.rotate(
            picture, angle, self.interpolation, self.expand, self.center, self.fill
        )


class RandomAffine(Transform):
    """Rotate, move, scale and shear images at random, around their centre.

    Parameters
    ----------
    degrees : float or (float, float)
        Range of the angle in degrees, clockwise; x stands for the range from -x to x.
    translate : (float, float), optional
        Largest moves, in shares of width and height.
    scale : (float, float), optional
        Range of the factor of the size.
    shear : float, sequence of 2 or 4 floats, optional
        Ranges of the angles along x, and along y with four numbers.
    interpolation : InterpolationMode
        How pixels are found.
    fill : float or sequence of float
        Value outside of the image.
    center : (float, float), optional
        The centre (x, y) in pixels.
    device : str
        ``"cpu"``.
    """

    engine = _ENGINE

    def __init__(
        self,
        degrees: float | Sequence[float],
        translate: Sequence[float] | None = None,
        scale: Sequence[float] | None = None,
        shear: float | Sequence[float] | None = None,
        interpolation: InterpolationMode = InterpolationMode.NEAREST,
        fill: float | Sequence[float] | None = 0,
        center: Sequence[float] | None = None,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        what = "RandomAffine"
        self.degrees = _degrees(degrees, what)
        self.translate = None
        if translate is not None:
            self.translate = arguments.numbers(translate, what, "translate")
            if len(self.translate) != 2 or not all(0 <= t <= 1 for t in self.translate):
                raise ArgumentValueError(
                    f"torchvision.{what}: translate must be two shares from 0 to 1 (got "
                    f"{translate!r:.60})."
                )
        self.scale = None if scale is None else arguments.pair(scale, what, "scale", 1e-9)
        self.shear = None
        if shear is not None:
            is_long = isinstance(shear, (list, tuple)) and len(shear) == 4
            found = arguments.numbers(shear, what, "shear")
            self.shear = found if is_long else _degrees(shear, what, "shear")
        self.interpolation = as_interpolation(interpolation, what)
        self.fill = arguments.fill(fill, what)
        self.center = _center(center, what)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        angle = draws.uniform(*self.degrees)
        moves = [0, 0]
        if self.translate is not None:
            extents = (picture.width, picture.height)
            most = [share * e for share, e in zip(self.translate, extents, strict=True)]
            moves = [round(draws.uniform(-m, m)) for m in most]
        scale = 1.0 if self.scale is None else draws.uniform(*self.scale)
        shear = [0.0, 0.0]
        if self.shear is not None:
            shear[0] = draws.uniform(*self.shear[:2])
            if len(self.shear) == 4:
                shear[1] = draws.uniform(*self.shear[2:])
        center = self.center or (picture.width / 2, picture.height / 2)
        matrix = warping.affine_matrix(angle, moves, scale, shear, center)
        return warping.affine(picture, matrix, self.interpolation, self.fill)


class RandomPerspective(Transform):
    """Distort images by moving their corners at random, with a probability.

    Parameters
    ----------
    distortion_scale : float
        How far corners move at most, from 0 to 1 for half of the image.
    p : float
        The probability.
    interpolation : InterpolationMode
        How pixels are found.
    fill : float or sequence of float
        Value outside of the image.
    device : str
        ``"cpu"``.
    """

    engine = _ENGINE

    def __init__(
        self,
        distortion_scale: float = 0.5,
        p: float = 0.5,
        interpolation: InterpolationMode = InterpolationMode.BILINEAR,
        fill: float | Sequence[float] | None = 0,
        device: str = "cpu",
    ) -> None:
        super().__init__(device)
        what = "RandomPerspective"
        self.distortion_scale = float(distortion_scale)
        if not 0 <= self.distortion_scale <= 1:
            raise ArgumentValueError(
                f"torchvision.{what}: distortion_scale must be from 0 to 1 (got "
                f"{distortion_scale})."
            )
        self.p = arguments.probability(p, what)
        self.interpolation = as_interpolation(interpolation, what)
        self.fill = arguments.fill(fill, what)

    def _apply(self, picture: Picture, draws: Draws) -> Picture:
        if draws.unit() >= self.p:
            return picture
        width, height = picture.width, picture.height
        across = int(self.distortion_scale * (width // 2))
        down = int(self.distortion_scale * (height // 2))
        lefts, rights = (0, across + 1), (width - across - 1, width)
        tops, bottoms = (0, down + 1), (height - down - 1, height)
        ranges = ((lefts, tops), (rights, tops), (rights, bottoms), (lefts, bottoms))
        ends = [[draws.integer(*x), draws.integer(*y)] for x, y in ranges]
        right, bottom = width - 1, height - 1
        starts = [[0, 0], [right, 0], [right, bottom], [0, bottom]]
        matrix = warping.perspective_matrix(starts, ends)
        return warping.perspective(picture, matrix, self.interpolation, self.fill)
