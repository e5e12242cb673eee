"""`augmentation`: makes augmentations of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from numpy.typing import ArrayLike

from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.auto_aug.core._magnitudes import MagnitudeRange
from dali_core.errors import ArgumentTypeError


@overload
def augmentation(
    function: Callable[..., Any],
    *,
    mag_range: MagnitudeRange | None = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], ArrayLike] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Augmentation: ...


@overload
def augmentation(
    function: None = None,
    *,
    mag_range: MagnitudeRange | None = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], ArrayLike] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Callable[[Callable[..., Any]], Augmentation]: ...


def augmentation(
    function: Callable[..., Any] | None = None,
    *,
    mag_range: MagnitudeRange | None = None,
    randomly_negate: bool | None = None,
    mag_to_param: Callable[[Any], ArrayLike] | None = None,
    param_device: str | None = None,
    name: str | None = None,
    augmentation_cls: type[Augmentation] | None = None,
) -> Augmentation | Callable[[Callable[..., Any]], Augmentation]:
    """Make an augmentation of a function that transforms samples.

    Parameters
    ----------
    function : callable
        Takes samples (a `DataNode`) and a parameter by position, and returns the transformed
        samples. Further arguments reach it by name, from calls of the augmentation or of policies.
    mag_range : (number, number) or numpy.ndarray, optional
        Magnitudes for the first and the last bin; those between are evenly spaced. An array has the
        magnitude of each bin. Without a range, the parameter is None.
    randomly_negate : bool, optional
        Negate the magnitude for each sample with a chance of one half.
    mag_to_param : callable, optional
        Computes the parameter, numbers or an array of them, from a magnitude, which may be negated.
        It runs while the pipeline is defined. By default, the parameter is the magnitude.
    param_device : {"cpu", "gpu", "auto"}, optional
        Where the parameter has to be; ``"auto"`` for where the samples are, ``"cpu"`` by default.
    name : str, optional
        The name; by default that of the function.
    augmentation_cls : type, optional
        Class of the result; by default `Augmentation`.

    Returns
    -------
    Augmentation
        The augmentation, or a decorator if there is no `function`.

    Raises
    ------
    ArgumentTypeError
        If the function cannot be called, does not take two arguments by position, or is an
        augmentation.
    """
    made = augmentation_cls or Augmentation

    def decorate(function: Callable[..., Any]) -> Augmentation:
        if isinstance(function, Augmentation):
            raise ArgumentTypeError(
                f"augmentation: must decorate a function (got the augmentation {function.name!r}). "
                f"Call {function.name}.augmentation(...) to change settings."
            )
        return made(function, mag_range, randomly_negate, mag_to_param, param_device, name)

    return decorate if function is None else decorate(function)
