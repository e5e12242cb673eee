"""Magnitude bins, with and without a sign, and the parameters that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dali_core import fn, types
from dali_core._graph.node import DataNode
from dali_core.auto_aug.core._checks import SIGN_SEED, derived_seed, is_integer
from dali_core.errors import ArgumentConflictError, ArgumentValueError

MagnitudeRange: TypeAlias = "tuple[float, float] | NDArray[Any]"


class SignedMagnitudeBin:
    """A magnitude bin, and for each sample whether its magnitude is negated.

    Parameters
    ----------
    magnitude_bin : int or DataNode
        The bin.
    random_sign : DataNode
        Integers of 0 and 1; 1 negates.

    Attributes
    ----------
    bin : int or DataNode
        The bin.
    random_sign : DataNode
        The signs.
    """

    def __init__(self, magnitude_bin: int | DataNode, random_sign: DataNode) -> None:
        self.bin = magnitude_bin
        self.random_sign = random_sign
        # Computed here, since a call of an augmentation may be in one branch only.
        self._row: DataNode = (
            fn.cast(magnitude_bin, dtype=types.INT32) * 2 + random_sign
            if isinstance(magnitude_bin, DataNode)
            else random_sign
        )

    @property
    def row(self) -> DataNode:
        """Row of a table that has, for each possible bin, the parameter for both signs."""
        return self._row

    def __getitem__(self, index: int | slice) -> SignedMagnitudeBin:
        """Return the bin with one of several signs per sample; see `signed_bin`."""
        bins, signs = self.bin, self.random_sign
        picked = bins[index] if isinstance(bins, DataNode) else bins
        return SignedMagnitudeBin(picked, signs[index])


def signed_bin(
    magnitude_bin: int | DataNode,
    random_sign: DataNode | None = None,
    seed: int | None = None,
    shape: Sequence[int] | int | None = None,
) -> SignedMagnitudeBin:
    """Give a magnitude bin a random sign.

    Augmentations with ``randomly_negate=True`` take the sign from it. Otherwise each of them draws
    its own.

    Parameters
    ----------
    magnitude_bin : int or DataNode
        The bin, from 0 to the number of bins less one; also one per sample.
    random_sign : DataNode, optional
        Integers, one per sample: 0 for magnitudes as they are, 1 for negated ones. They are drawn
        with equal chances by default.
    seed : int, optional
        Seed of the drawing.
    shape : int or sequence of int, optional
        Shape of the signs that are drawn for each sample; one scalar by default. Index the result
        to get at them, such as ``signed_bin(3, shape=(2,))[0]``.

    Returns
    -------
    SignedMagnitudeBin
        What augmentations take as `magnitude_bin`.

    Raises
    ------
    ArgumentValueError
        If the bin is neither an integer nor a value of a pipeline.
    ArgumentConflictError
        If there is a `random_sign`, and a `seed` or a `shape`.
    """
    if not is_integer(magnitude_bin) and not isinstance(magnitude_bin, DataNode):
        raise ArgumentValueError(
            "signed_bin: argument 'magnitude_bin' must be an integer, or a value of the pipeline "
            f"that holds integers (got {magnitude_bin!r}). Pass an int or a result of an operator."
        )
    if random_sign is None:
        return SignedMagnitudeBin(magnitude_bin, draw_signs(seed, shape))
    if seed is not None or shape is not None:
        raise ArgumentConflictError(
            "signed_bin: arguments 'seed' and 'shape' must not be passed with 'random_sign' (got "
            f"seed={seed!r}, shape={shape!r}). They are about signs that are drawn: leave them out."
        )
    return SignedMagnitudeBin(magnitude_bin, random_sign)


def draw_signs(seed: int | None, shape: Sequence[int] | int | None = None) -> DataNode:
    """Draw 0 or 1 with equal chances, as INT32."""
    drawn: dict[str, Any] = {"dtype": types.INT32, "seed": derived_seed(seed, SIGN_SEED)}
    if shape is not None:
        drawn["shape"] = [shape] if isinstance(shape, int) else list(shape)
    result: DataNode = fn.random.coin_flip(**drawn)
    return result


def magnitudes_of(name: str, mag_range: Any, num_magnitude_bins: int | None) -> NDArray[Any]:
    """Return the magnitude of each bin, as numbers of NumPy.

    Parameters
    ----------
    name : str
        Name of the augmentation, for errors.
    mag_range : object
        Both ends of the range, or an array of the magnitudes themselves.
    num_magnitude_bins : int or None
        How many there are.
    """
    if isinstance(mag_range, np.ndarray):
        if num_magnitude_bins is not None and len(mag_range) != num_magnitude_bins:
            raise ArgumentValueError(
                f"augmentation {name!r}: argument 'num_magnitude_bins' must be the length of the "
                f"array of magnitudes, {len(mag_range)} (got {num_magnitude_bins!r}). Pass that, "
                "or give the augmentation a range of two numbers."
            )
        return mag_range
    if num_magnitude_bins is None:
        raise ArgumentValueError(
            f"augmentation {name!r}: argument 'num_magnitude_bins' must be given, since the "
            f"augmentation has a range of magnitudes (got None). Pass it with 'magnitude_bin'."
        )
    try:
        low, high = mag_range
        return np.linspace(low, high, num_magnitude_bins, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ArgumentValueError(
            f"augmentation {name!r}: 'mag_range' must be two numbers or a NumPy array of all "
            f"magnitudes, and the number of bins positive (got {mag_range!r}, "
            f"{num_magnitude_bins!r} bins). Use augmentation(mag_range=...) to change the range."
        ) from error


def parameter_of(
    name: str,
    magnitudes: NDArray[Any],
    mag_to_param: Callable[[Any], ArrayLike],
    magnitude_bin: int | DataNode | SignedMagnitudeBin,
    device: str,
) -> DataNode:
    """Return the parameter for each sample.

    Parameters
    ----------
    name : str
        Name of the augmentation, for errors.
    magnitudes : array
        Magnitude of each bin.
    mag_to_param : callable
        Computes the parameter of a magnitude.
    magnitude_bin : int, DataNode or SignedMagnitudeBin
        The bin; with signs, magnitudes are negated accordingly.
    device : str
        Where the parameter has to be.
    """
    plain = magnitude_bin.bin if isinstance(magnitude_bin, SignedMagnitudeBin) else magnitude_bin
    if isinstance(plain, DataNode):
        wanted = list(magnitudes)
    else:
        wanted = [_magnitude(name, magnitudes, plain)]
    if isinstance(magnitude_bin, SignedMagnitudeBin):
        wanted = [signed for magnitude in wanted for signed in (magnitude, -magnitude)]
    table = _table(name, [mag_to_param(magnitude) for magnitude in wanted])
    if isinstance(magnitude_bin, SignedMagnitudeBin):
        return _constant(table, device)[magnitude_bin.row]
    if isinstance(plain, DataNode):
        return _constant(table, device)[plain]
    return _constant(table[0], device)


def _magnitude(name: str, magnitudes: NDArray[Any], number: int) -> Any:
    if not is_integer(number) or not 0 <= number < len(magnitudes):
        raise ArgumentValueError(
            f"augmentation {name!r}: argument 'magnitude_bin' must be an integer from 0 to "
            f"{len(magnitudes) - 1} (got {number!r}). Pass one of these, or more bins."
        )
    return magnitudes[number]


def _table(name: str, parameters: list[ArrayLike]) -> NDArray[Any]:
    try:
        arrays = [np.asarray(parameter) for parameter in parameters]
        table = np.stack(arrays)
    except (TypeError, ValueError) as error:
        raise ArgumentValueError(
            f"augmentation {name!r}: 'mag_to_param' must return numbers or arrays of one shape for "
            f"all magnitudes ({error}). Correct the function."
        ) from error
    if table.dtype.kind not in "biuf":
        raise ArgumentValueError(
            f"augmentation {name!r}: 'mag_to_param' must return numbers (got {parameters[0]!r}). "
            "Correct the function."
        )
    return table


def _constant(table: NDArray[Any], device: str) -> DataNode:
    # Types of Python's own numbers become those of operators.
    wide = {"float64": np.float32, "int64": np.int32}.get(table.dtype.name)
    value: DataNode = types.Constant(table if wide is None else table.astype(wide), device=device)
    return value
