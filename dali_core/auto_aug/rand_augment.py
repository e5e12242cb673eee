"""RandAugment: a fixed number of random augmentations of one strength.

Reference: Cubuk, Zoph, Shlens, Le, "RandAugment: Practical automated data augmentation with a
reduced search space", https://arxiv.org/abs/1909.13719.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core import fn, types
from dali_core._call.location import warn_user
from dali_core._graph.node import DataNode
from dali_core.auto_aug import augmentations as a
from dali_core.auto_aug._translations import translations
from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.auto_aug.core._checks import (
    SELECTION_SEED,
    check_bins,
    derived_seed,
    is_integer,
)
from dali_core.auto_aug.core._magnitudes import signed_bin
from dali_core.auto_aug.core._select import select
from dali_core.auto_aug.core._suites import check_unused, without_excluded
from dali_core.errors import ArgumentValueError


def rand_augment(
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
    seed: int | None = None,
    monotonic_mag: bool = True,
    excluded: list[str] | None = None,
) -> DataNode:
    """Apply random augmentations of RandAugment's suite to each sample.

    Parameters
    ----------
    data : DataNode
        Images (HWC) or sequences of frames (FHWC), UINT8.
    n : int
        How many augmentations are applied to a sample, one after the other. Each is drawn from all.
    m : int
        Magnitude bin of all of them, from 0 to `num_magnitude_bins` - 1.
    num_magnitude_bins : int
        How many magnitudes the ranges are divided into.
    shape : DataNode or (int, int), optional
        Height and width of the samples, such as from `fn.peek_image_shape`. Translations are then
        relative to it.
    fill_value : int, optional
        Value of pixels from outside after rotation, shear and translation; None repeats the border.
    interp_type : DALIInterpType, optional
        Interpolation of these: INTERP_LINEAR, the default, or INTERP_NN.
    max_translate_abs : int or (int, int), optional
        Largest translation in pixels, or those along height and width; 100 by default. Only without
        `shape`.
    max_translate_rel : float or (float, float), optional
        Largest translation relative to `shape`; 100/224 by default. Only with `shape`.
    seed : int, optional
        Seed of what is drawn.
    monotonic_mag : bool
        Whether larger bins always are stronger. See `get_rand_augment_non_monotonic_suite`.
    excluded : list of str, optional
        Names of augmentations that are not used.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentValueError
        If `n`, `m`, `num_magnitude_bins` or `excluded` is impossible.
    ArgumentConflictError
        If `max_translate_abs` is passed with `shape`, or `max_translate_rel` without.
    ArgumentTypeError
        If `excluded` leaves no augmentation that takes `fill_value` and `interp_type`, or `shape`.
    """
    make = get_rand_augment_suite if monotonic_mag else get_rand_augment_non_monotonic_suite
    suite = make(shape is not None, max_translate_abs, max_translate_rel)
    keywords: dict[str, Any] = {"fill_value": fill_value, "interp_type": interp_type}
    if shape is not None:
        keywords["shape"] = shape
    used = without_excluded("rand_augment", suite, excluded)
    return apply_rand_augment(used, data, n, m, num_magnitude_bins, seed=seed, **keywords)


def apply_rand_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    n: int,
    m: int,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """Apply random augmentations of a list to each sample.

    Parameters
    ----------
    augmentations : list of Augmentation
        What is drawn from, with equal chances.
    data : DataNode
        The samples.
    n, m, num_magnitude_bins, seed
        As in `rand_augment`. With `n` = 0, the samples stay as they are, and a warning is issued.
    **kwargs
        Arguments for the augmentations that take them, such as `shape` or `fill_value`.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentValueError
        If `n`, `m` or `num_magnitude_bins` is impossible, or there is no augmentation.
    ArgumentTypeError
        If an argument is needed, or is not taken by any augmentation.
    """
    where = "apply_rand_augment"
    if not is_integer(n) or n < 0:
        raise ArgumentValueError(
            f"{where}: argument 'n' must be an integer of at least 0 (got {n!r}). Pass one."
        )
    check_bins(where, num_magnitude_bins)
    if not is_integer(m) or not 0 <= m < num_magnitude_bins:
        raise ArgumentValueError(
            f"{where}: argument 'm' must be an integer from 0 to {num_magnitude_bins - 1} (got "
            f"{m!r}). Pass one of these, or more bins."
        )
    if n == 0:
        warn_user(f"{where}: n=0 leaves the samples as they are.", UserWarning)
        return data
    if len(augmentations) == 0:
        raise ArgumentValueError(
            f"{where}: argument 'augmentations' must have at least one augmentation (got none). "
            "Pass get_rand_augment_suite(), or n=0 to change nothing."
        )
    check_unused(where, augmentations, kwargs)
    chosen = fn.random.choice(
        len(augmentations), shape=[n], seed=derived_seed(seed, SELECTION_SEED)
    )
    is_signed = any(one.randomly_negate for one in augmentations)
    signed = signed_bin(m, seed=seed, shape=[n]) if is_signed else None
    for step in range(n):
        data = select(
            augmentations,
            chosen[step],
            data,
            magnitude_bin=m if signed is None else signed[step],
            num_magnitude_bins=num_magnitude_bins,
            **kwargs,
        )
    return data


def get_rand_augment_suite(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> list[Augmentation]:
    """Return the augmentations of RandAugment.

    Parameters
    ----------
    use_shape : bool
        Whether translations are relative to the shape of a sample; they take `shape` then.
    max_translate_abs, max_translate_rel
        Largest translation, as in `rand_augment`.

    Returns
    -------
    list of Augmentation
        14 augmentations.
    """
    return [
        *translations(use_shape, 100, 100 / 224, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation(mag_range=(0, 0.3)),
        a.shear_y.augmentation(mag_range=(0, 0.3)),
        a.rotate.augmentation(mag_range=(0, 30)),
        *(
            one.augmentation(mag_range=(0, 0.9))
            for one in (a.brightness, a.contrast, a.color, a.sharpness)
        ),
        a.posterize.augmentation(mag_range=(8, 4)),
        a.solarize.augmentation(mag_range=(256, 0)),
        *(a.equalize, a.auto_contrast, a.identity),
    ]


def get_rand_augment_non_monotonic_suite(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> list[Augmentation]:
    """Return the augmentations of RandAugment, with AutoAugment's ranges for colours.

    Brightness, contrast, colour and sharpness change least in the middle of their range, and
    posterize and solarize less for larger magnitude bins.

    Parameters
    ----------
    use_shape, max_translate_abs, max_translate_rel
        As in `get_rand_augment_suite`.

    Returns
    -------
    list of Augmentation
        14 augmentations.
    """
    others = {
        "brightness": a.brightness.augmentation((0.1, 1.9), False, None),
        "contrast": a.contrast.augmentation((0.1, 1.9), False, None),
        "color": a.color.augmentation((0.1, 1.9), False, None),
        "sharpness": a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
        "posterize": a.posterize.augmentation((0, 4)),
        "solarize": a.solarize.augmentation((0, 256)),
    }
    suite = get_rand_augment_suite(use_shape, max_translate_abs, max_translate_rel)
    return [others.get(one.name, one) for one in suite]
