"""Transforms that apply others."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from dali_core.errors import ArgumentKeyError, ArgumentTypeError, ArgumentValueError
from dali_core.pipeline import Pipeline
from dali_core.torchvision._arguments import probability
from dali_core.torchvision._draws import Draws, Source
from dali_core.torchvision._known import converted
from dali_core.torchvision._transform import Container, Transform, applied, transformed


def as_transforms(transforms: Any, what: str) -> list[Transform]:
    """Return transforms: those of torchvision as ours, and other callables as functions.

    Raises
    ------
    ArgumentTypeError
        If one is not callable.
    """
    is_modules = type(transforms).__name__ == "ModuleList"
    if not isinstance(transforms, (list, tuple)) and not is_modules:
        raise ArgumentTypeError(
            f"torchvision.{what}: transforms must be a list (got a {type(transforms).__name__}). "
            "Put it in brackets."
        )
    return [converted(transform, what) for transform in transforms]


class Compose(Container):
    """Apply transforms one after the other.

    It is called with an image of Pillow, a tensor ``CHW`` or ``NCHW``, an array ``HWC``, or a list
    of these, from any number of threads, and can be pickled. Everything between two functions of
    Python is computed as one program.

    Parameters
    ----------
    op_list : list of callable
        Transforms: these, those of torchvision, which are computed by these where they are known,
        and any other callables.
    batch_size : int, optional
        Largest number of images in one call; by default any.
    num_threads : int
        How many images of a batch are computed at the same time, if there is a seed.
    seed : int, optional
        Seed of the random numbers. Without one, and always in workers of
        `torch.utils.data.DataLoader`, `torch.manual_seed` governs them.
    **pipeline : object
        Other arguments of pipelines, which are accepted for compatibility.
    """

    engine = "native"

    def __init__(
        self,
        op_list: Sequence[Any] = (),
        batch_size: int | None = None,
        num_threads: int = 1,
        seed: int | None = None,
        **pipeline: Any,
    ) -> None:
        if "transforms" in pipeline:
            op_list = pipeline.pop("transforms")
        super().__init__(pipeline.pop("device", "cpu"))
        for name in pipeline:
            if name not in _PIPELINE_ARGUMENTS:
                raise ArgumentKeyError(
                    f"torchvision.Compose: unknown argument {name!r}. Known ones are those of "
                    "Pipeline."
                )
        for name, value in (("batch_size", batch_size), ("num_threads", num_threads)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise ArgumentValueError(
                    f"torchvision.Compose: {name} must be a positive integer (got {value!r})."
                )
        self.transforms = as_transforms(op_list, "Compose")
        self._batch_size = batch_size
        self._num_threads = num_threads
        self._source = Source(seed)

    def __call__(self, image: Any) -> Any:
        """Transform an image, a batch, or a list of images."""
        return transformed(self, image, self._source, self._num_threads, self._batch_size)

    def _apply(self, picture: Any, draws: Draws) -> Any:
        for transform in self.transforms:
            picture = applied(transform, picture, draws)
        return picture

    def _lines(self) -> list[str]:
        return [line for transform in self.transforms for line in transform._lines()]

    def __repr__(self) -> str:
        entries = "".join(f"    {transform!r}\n" for transform in self.transforms)
        return f"Compose(\n{entries})"


_PIPELINE_ARGUMENTS = frozenset(inspect.signature(Pipeline.__init__).parameters) - {"self"}


class RandomApply(Container):
    """Apply transforms with a probability, or none of them.

    Parameters
    ----------
    op_list : list of callable
        The transforms.
    p : float
        The probability.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self,
        op_list: Sequence[Any] = (),
        p: float = 0.5,
        device: str = "cpu",
        *,
        transforms: Sequence[Any] | None = None,
    ) -> None:
        super().__init__(device)
        self.transforms = as_transforms(
            op_list if transforms is None else transforms, "RandomApply"
        )
        self.p = probability(p, "RandomApply")

    def _apply(self, picture: Any, draws: Draws) -> Any:
        if draws.unit() >= self.p:
            return picture
        for transform in self.transforms:
            picture = applied(transform, picture, draws)
        return picture

    def _lines(self) -> list[str]:
        return _inner(f"RandomApply(p={self.p})", self.transforms)


class RandomChoice(Container):
    """Apply one of several transforms.

    Parameters
    ----------
    transforms : list of callable
        The transforms.
    p : list of float, optional
        Their weights, by default equal ones.
    device : str
        ``"cpu"``.
    """

    def __init__(
        self, transforms: Sequence[Any], p: Sequence[float] | None = None, device: str = "cpu"
    ) -> None:
        super().__init__(device)
        self.transforms = as_transforms(transforms, "RandomChoice")
        weights = [1.0] * len(self.transforms) if p is None else [float(w) for w in p]
        if len(weights) != len(self.transforms) or not sum(weights) > 0 or min(weights) < 0:
            raise ArgumentValueError(
                "torchvision.RandomChoice: p must have a weight for each transform, of which one "
                f"is positive (got {p!r:.60} for {len(self.transforms)})."
            )
        self.p = [weight / sum(weights) for weight in weights]

    def _apply(self, picture: Any, draws: Draws) -> Any:
        return applied(self.transforms[draws.weighted(self.p)], picture, draws)

    def _lines(self) -> list[str]:
        return _inner("RandomChoice", self.transforms)


class RandomOrder(Container):
    """Apply transforms in a random order.

    Parameters
    ----------
    transforms : list of callable
        The transforms.
    device : str
        ``"cpu"``.
    """

    def __init__(self, transforms: Sequence[Any], device: str = "cpu") -> None:
        super().__init__(device)
        self.transforms = as_transforms(transforms, "RandomOrder")

    def _apply(self, picture: Any, draws: Draws) -> Any:
        for index in draws.permutation(len(self.transforms)):
            picture = applied(self.transforms[index], picture, draws)
        return picture

    def _lines(self) -> list[str]:
        return _inner("RandomOrder", self.transforms)


def _inner(title: str, transforms: Sequence[Transform]) -> list[str]:
    lines = [line for transform in transforms for line in transform._lines()]
    return [f"{title}:", *(f"  {line}" for line in lines)]
