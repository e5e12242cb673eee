"""Random numbers of transforms: those of PyTorch's generators, in the order of torchvision.

With the same seed, a transform therefore draws the same parameters as the one of torchvision.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from dali_core._runtime.random import mix_seed
from dali_core.errors import ArgumentTypeError
from dali_core.torchvision._frameworks import torch


class Draws:
    """Random numbers for one image.

    Parameters
    ----------
    generator : torch.Generator, optional
        Where they come from; by default the generator that `torch.manual_seed` sets.
    """

    __slots__ = ("generator",)

    def __init__(self, generator: Any = None) -> None:
        self.generator = generator

    def uniform(self, low: float, high: float) -> float:
        """Draw a number of float32 between two."""
        drawn: float = torch().empty(1).uniform_(low, high, generator=self.generator).item()
        return drawn

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from `low` to ``high - 1``."""
        drawn: int = torch().randint(low, high, (1,), generator=self.generator).item()
        return drawn

    def unit(self) -> float:
        """Draw a number in [0, 1)."""
        drawn: float = torch().rand(1, generator=self.generator).item()
        return drawn

    def permutation(self, count: int) -> list[int]:
        """Draw an order of the first integers."""
        drawn: list[int] = torch().randperm(count, generator=self.generator).tolist()
        return drawn

    def weighted(self, weights: Sequence[float]) -> int:
        """Draw the place of a weight, with a probability that is proportional to it."""
        table = torch().tensor(weights)
        drawn: int = torch().multinomial(table, 1, generator=self.generator).item()
        return drawn

    def normal(self, shape: Sequence[int]) -> Any:
        """Draw a tensor of the standard normal distribution."""
        return torch().empty(list(shape)).normal_(generator=self.generator)

    def dirichlet(self, concentration: float, count: int) -> Any:
        """Draw shares that sum to 1."""
        table = torch().full((count,), float(concentration))
        return torch()._sample_dirichlet(table, generator=self.generator)


def seeded(seed: int, *numbers: int) -> Draws:
    """Return the random numbers of one image of those that share a seed.

    Parameters
    ----------
    seed : int
        The seed.
    *numbers : int
        Which image it is.
    """
    for number in numbers:
        seed = mix_seed(seed & (2**64 - 1), number)
    # PyTorch takes seeds of 64 bits; those below 2^63 in any version.
    return Draws(torch().Generator().manual_seed(seed >> 1))


class Source:
    """Where the calls of a transform get their random numbers.

    Inside of a worker of `torch.utils.data.DataLoader`, and without a seed, that is the generator
    of PyTorch that `torch.manual_seed` sets. With a seed, every image has numbers of its own, which
    depend on the seed and on how many images came before it.

    Parameters
    ----------
    seed : int, optional
        The seed.
    position : int
        How many images came before.
    """

    def __init__(self, seed: int | None = None, position: int = 0) -> None:
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int)):
            raise ArgumentTypeError(
                f"torchvision.Compose: seed must be an integer (got {seed!r:.60}, a "
                f"{type(seed).__name__}). Convert it."
            )
        self.seed = None if seed is not None and seed < 0 else seed
        self._position = position
        self._lock = threading.Lock()

    def next(self) -> Draws:
        """Return the random numbers of the next image."""
        if self.seed is None or _is_worker():
            return Draws()
        with self._lock:
            self._position += 1
            return seeded(self.seed, self._position)

    def __reduce__(self) -> tuple[Any, ...]:
        return Source, (self.seed, self._position)


def _is_worker() -> bool:
    import sys

    data = sys.modules.get("torch.utils.data")
    return data is not None and data.get_worker_info() is not None
