"""The base of transforms, and how they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dali_core._runtime.thread_start import map_in_threads
from dali_core.dynamic._devices import check_host
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.torchvision._draws import Draws, Source
from dali_core.torchvision._frameworks import is_torch, torch
from dali_core.torchvision._pictures import Picture, of


class Transform:
    """A transform of images.

    A subclass says in `_apply` which operators compute its result. It is called with an image of
    Pillow, a tensor ``CHW`` or ``NCHW``, an array ``HWC``, or a list of these. Every image of a
    batch has random numbers of its own.

    Parameters
    ----------
    device : str
        ``"cpu"``.
    """

    engine = "native"
    """Computed by operators of this library: ``"native"``, or with others for some images."""

    def __init__(self, device: str = "cpu") -> None:
        check_host(device, f"torchvision.{type(self).__name__}")

    def _apply(self, picture: Picture, draws: Draws) -> Any:
        """Return the picture that this transform makes of another one."""
        raise NotImplementedError

    def __call__(self, image: Any) -> Any:
        """Transform an image, a batch, or a list of images."""
        return transformed(self, image, _NO_SEED)

    def plan(self) -> str:
        """Return a text with a line for each transform: what computes it."""
        return "\n".join(self._lines())

    def _lines(self) -> list[str]:
        return [f"{self!r}: {self.engine}"]

    def __repr__(self) -> str:
        entries = ", ".join(
            f"{name}={value!r}" for name, value in vars(self).items() if not name.startswith("_")
        )
        return f"{type(self).__name__}({entries})"


_NO_SEED = Source()


class Lambda(Transform):
    """Call a function, with the image as the program would see it at this place.

    Parameters
    ----------
    lambd : callable
        Takes an image of Pillow, a tensor or an array, and returns an image, or anything if
        only functions follow.
    *types : type
        Accepted for compatibility.
    """

    engine = "Python function"

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        if not callable(lambd):
            raise ArgumentTypeError(
                f"torchvision.Lambda: lambd must be callable (got a {type(lambd).__name__}). Pass "
                "a function."
            )
        self.lambd = lambd

    def _apply(self, picture: Picture, draws: Draws) -> Any:
        return self.lambd(finished(picture))

    def __repr__(self) -> str:
        name = getattr(self.lambd, "__qualname__", None) or repr(self.lambd)
        return f"Lambda({name})"


def finished(value: Any) -> Any:
    """Return an image as the program sees it, and other values as they are."""
    return value.finish() if isinstance(value, Picture) else value


def applied(transform: Transform, value: Any, draws: Draws) -> Any:
    """Apply a transform to a picture, or to what a function has returned."""
    if not isinstance(value, Picture) and not isinstance(transform, (Lambda, Container)):
        value = of(value, type(transform).__name__)
    return transform._apply(value, draws)


class Container(Transform):
    """A transform that applies others: their inputs are checked by these."""


def transformed(
    transform: Transform, image: Any, source: Source, num_threads: int = 1, most: int | None = None
) -> Any:
    """Apply a transform to an image, a batch, or a list of images.

    Parameters
    ----------
    transform : Transform
        The transform.
    image : PIL.Image.Image, torch.Tensor, numpy.ndarray, list or tuple
        Images.
    source : Source
        Random numbers.
    num_threads : int
        How many images are computed at the same time.
    most : int, optional
        Largest number of images.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If it is no image, or there are more.
    """
    if isinstance(image, (list, tuple)):
        found = _each(transform, image, source, num_threads, most)
        return type(image)(found) if type(image) in (list, tuple) else found
    if is_torch(image) and image.ndim == 4:
        found = _each(transform, list(image), source, num_threads, most)
        is_uniform = found and all(is_torch(f) and f.shape == found[0].shape for f in found)
        return torch().stack(found) if is_uniform else found if found else image
    if isinstance(image, np.ndarray) and image.ndim == 4:
        found = _each(transform, list(image), source, num_threads, most)
        return np.stack(found) if all(isinstance(f, np.ndarray) for f in found) else found
    return one(transform, image, source.next())


def one(transform: Transform, image: Any, draws: Draws) -> Any:
    """Apply a transform to one image, and compute the result."""
    name = type(transform).__name__
    value = image if isinstance(image, Picture) else of(image, name)
    return finished(applied(transform, value, draws))


def _each(
    transform: Transform, images: Sequence[Any], source: Source, num_threads: int, most: int | None
) -> list[Any]:
    if most is not None and len(images) > most:
        raise ArgumentValueError(
            f"torchvision.Compose: batches must have at most batch_size={most} images (got "
            f"{len(images)}). Pass a larger batch_size."
        )
    # Random numbers are taken in order, whatever the threads do.
    pairs = [(image, source.next()) for image in images]
    if num_threads == 1 or len(images) < 2 or source.seed is None:
        return [one(transform, image, draws) for image, draws in pairs]
    threads = min(num_threads, len(images))
    return list(map_in_threads(lambda pair: one(transform, *pair), pairs, threads))
