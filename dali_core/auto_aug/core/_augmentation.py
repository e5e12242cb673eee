"""`Augmentation`: a transformation of samples whose strength is chosen by a magnitude bin."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core._call.location import warn_user
from dali_core._graph.node import DataNode
from dali_core.auto_aug.core._magnitudes import (
    MagnitudeRange,
    SignedMagnitudeBin,
    draw_signs,
    magnitudes_of,
    parameter_of,
    signed_bin,
)
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.pipeline.conditionals.conversion import convert_called


class _Unchanged:
    """Stands for an argument that keeps its value."""

    def __repr__(self) -> str:
        return "unchanged"


_UNCHANGED: Final[Any] = _Unchanged()


class Augmentation:
    """A transformation of samples whose strength is chosen by a magnitude bin.

    Use the decorator `augmentation` to make one of a function.

    Parameters
    ----------
    op : callable
        Takes samples and a parameter by position, further arguments by name, and returns samples.
    mag_range, randomly_negate, mag_to_param, param_device, name
        As for the decorator.

    Raises
    ------
    ArgumentTypeError
        If the function cannot be called, or does not take two arguments by position.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        mag_range: MagnitudeRange | None = None,
        randomly_negate: bool | None = None,
        mag_to_param: Callable[[Any], ArrayLike] | None = None,
        param_device: str | None = None,
        name: str | None = None,
    ) -> None:
        self._op = op
        self._settings = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        self._required, self._optional = _keywords_of(op)

    @property
    def op(self) -> Callable[..., Any]:
        """The decorated function."""
        return self._op

    @property
    def name(self) -> str:
        """The name; by default that of the function."""
        name: str | None = self._settings["name"]  # type: ignore[assignment]
        return getattr(self._op, "__name__", repr(self._op)) if name is None else name

    @property
    def mag_range(self) -> MagnitudeRange | None:
        """Both ends of the range of magnitudes, an array of all of them, or None."""
        return self._settings["mag_range"]  # type: ignore[return-value]

    @property
    def randomly_negate(self) -> bool:
        """Whether magnitudes are negated at random."""
        return bool(self._settings["randomly_negate"])

    @property
    def mag_to_param(self) -> Callable[[Any], ArrayLike]:
        """The function that computes a parameter from a magnitude; by default the magnitude."""
        return self._settings["mag_to_param"] or np.asarray  # type: ignore[return-value]

    @property
    def param_device(self) -> str:
        """Where parameters are: ``"cpu"``, ``"gpu"``, or ``"auto"`` for where the samples are."""
        return self._settings["param_device"] or "cpu"  # type: ignore[return-value]

    @property
    def keywords(self) -> tuple[str, ...]:
        """Names of the arguments that the function takes besides samples and parameter."""
        return (*self._required, *self._optional)

    def __call__(
        self,
        data: DataNode,
        *,
        magnitude_bin: int | DataNode | SignedMagnitudeBin | None = None,
        num_magnitude_bins: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Transform samples with the strength of a magnitude bin.

        Parameters
        ----------
        data : DataNode
            The samples.
        magnitude_bin : int, DataNode or SignedMagnitudeBin, optional
            The bin, from 0 to `num_magnitude_bins` - 1. It is needed if the augmentation has a
            range of magnitudes.
        num_magnitude_bins : int, optional
            In how many magnitudes the range is divided; not needed if they are given as an array.
        **kwargs
            Arguments for the function. Those that it does not take are ignored.

        Returns
        -------
        DataNode
            The transformed samples.

        Raises
        ------
        ArgumentTypeError
            If an argument that the function needs is missing.
        ArgumentValueError
            If the bin, or the number of bins, is missing or impossible.
        """
        missing = [name for name in self._required if name not in kwargs]
        if missing:
            raise ArgumentTypeError(
                f"augmentation {self.name!r}: arguments {', '.join(map(repr, missing))} are "
                "required (got none). Pass them by name; functions that apply augmentations hand "
                "named arguments on to those that take them."
            )
        passed = {name: kwargs[name] for name in self.keywords if name in kwargs}
        parameter = self._parameter(data, magnitude_bin, num_magnitude_bins)
        return convert_called(self._op)(data, parameter, **passed)

    def augmentation(
        self,
        mag_range: MagnitudeRange | None = _UNCHANGED,
        randomly_negate: bool | None = _UNCHANGED,
        mag_to_param: Callable[[Any], ArrayLike] | None = _UNCHANGED,
        param_device: str | None = _UNCHANGED,
        name: str | None = _UNCHANGED,
        augmentation_cls: type[Augmentation] | None = None,
    ) -> Augmentation:
        """Return an augmentation of the same function with other settings.

        Parameters
        ----------
        mag_range, randomly_negate, mag_to_param, param_device, name
            As for the decorator. What is not passed stays as it is; None restores the default.
        augmentation_cls : type, optional
            Class of the result; by default that of this augmentation.

        Returns
        -------
        Augmentation
            A new object.
        """
        changes = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        changed = {key: value for key, value in changes.items() if value is not _UNCHANGED}
        settings: dict[str, Any] = {**self._settings, **changed}
        return (augmentation_cls or type(self))(self._op, **settings)

    def __repr__(self) -> str:
        stated = (
            f", {key}={value!r}" for key, value in self._settings.items() if value is not None
        )
        return f"{type(self).__name__}({self._op!r}{''.join(stated)})"

    def _get_magnitudes(self, num_magnitude_bins: int | None) -> NDArray[Any] | None:
        """Return the magnitude of each bin; None without a range. Programs call it, too."""
        mag_range = self.mag_range
        return (
            None if mag_range is None else magnitudes_of(self.name, mag_range, num_magnitude_bins)
        )

    def _map_mag_to_param(self, magnitude: Any) -> ArrayLike:
        """Return the parameter of a magnitude; programs call it, too."""
        return self.mag_to_param(magnitude)

    def _parameter(
        self,
        data: DataNode,
        magnitude_bin: int | DataNode | SignedMagnitudeBin | None,
        num_magnitude_bins: int | None,
    ) -> DataNode | None:
        magnitudes = self._get_magnitudes(num_magnitude_bins)
        if magnitudes is None:
            return None
        if magnitude_bin is None:
            raise ArgumentValueError(
                f"augmentation {self.name!r}: argument 'magnitude_bin' must be given, since the "
                "augmentation has a range of magnitudes (got None). Pass an integer from 0 to "
                f"{len(magnitudes) - 1}, or integers of the pipeline."
            )
        if not self.randomly_negate and isinstance(magnitude_bin, SignedMagnitudeBin):
            magnitude_bin = magnitude_bin.bin
        elif self.randomly_negate and not isinstance(magnitude_bin, SignedMagnitudeBin):
            warn_user(
                f"augmentation {self.name!r}: draws signs of magnitudes of its own, since "
                "'magnitude_bin' has none. Pass signed_bin(magnitude_bin), made before conditions, "
                "to draw them once for several augmentations.",
                UserWarning,
            )
            magnitude_bin = signed_bin(magnitude_bin, draw_signs(None))
        device = self.param_device
        if device == "auto":
            device = getattr(data, "device", "cpu")
        return parameter_of(self.name, magnitudes, self.mag_to_param, magnitude_bin, device)


def _keywords_of(op: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a function's arguments besides the first two: required, optional."""
    if not callable(op):
        raise ArgumentTypeError(
            f"augmentation: must decorate a function (got {op!r}). Pass one that takes samples and "
            "a parameter."
        )
    parameters = list(inspect.signature(op).parameters.values())
    by_position = [one for one in parameters if one.kind in _BY_POSITION]
    if len(by_position) < 2:
        raise ArgumentTypeError(
            "augmentation: a function must take at least two arguments by position, samples and a "
            f"parameter ({getattr(op, '__name__', op)!r} takes {len(by_position)}). Add "
            "the second; it is None if there is no 'mag_range'."
        )
    named = [*by_position[2:], *(one for one in parameters if one.kind is one.KEYWORD_ONLY)]
    return (
        tuple(one.name for one in named if one.default is one.empty),
        tuple(one.name for one in named if one.default is not one.empty),
    )


_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
