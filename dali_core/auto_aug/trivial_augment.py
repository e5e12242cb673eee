"""TrivialAugment: one random augmentation of a random strength.

Reference: Müller, Hutter, "TrivialAugment: Tuning-free Yet State-of-the-Art Data Augmentation",
https://arxiv.org/abs/2103.10158.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dali_core import fn, types
from dali_core._graph.node import DataNode
from dali_core.auto_aug import augmentations as a
from dali_core.auto_aug._translations import translations
from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.auto_aug.core._checks import (
    BIN_SEED,
    SELECTION_SEED,
    check_bins,
    derived_seed,
)
from dali_core.auto_aug.core._magnitudes import signed_bin
from dali_core.auto_aug.core._select import select
from dali_core.auto_aug.core._suites import check_unused, without_excluded
from dali_core.errors import ArgumentValueError


def trivial_augment_wide(
    data: DataNode,
    num_magnitude_bins: int = 31,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
    seed: int | None = None,
    excluded: list[str] | None = None,
) -> DataNode:
    """Apply one random augmentation of TrivialAugment's wide suite to each sample.

    Parameters
    ----------
    data : DataNode
        Images (HWC) or sequences of frames (FHWC), UINT8.
    num_magnitude_bins : int
        How many magnitudes the ranges are divided into; one of them is drawn for each sample.
    shape : DataNode or (int, int), optional
        Height and width of the samples, such as from `fn.peek_image_shape`. Translations are then
        relative to it.
    fill_value : int, optional
        Value of pixels from outside after rotation, shear and translation; None repeats the border.
    interp_type : DALIInterpType, optional
        Interpolation of these: INTERP_LINEAR, the default, or INTERP_NN.
    max_translate_abs : int or (int, int), optional
        Largest translation in pixels, or those along height and width; 32 by default. Only without
        `shape`.
    max_translate_rel : float or (float, float), optional
        Largest translation relative to `shape`; 1 by default. Only with `shape`.
    seed : int, optional
        Seed of what is drawn.
    excluded : list of str, optional
        Names of augmentations that are not used.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentValueError
        If `num_magnitude_bins` or `excluded` is impossible.
    ArgumentConflictError
        If `max_translate_abs` is passed with `shape`, or `max_translate_rel` without.
    ArgumentTypeError
        If `excluded` leaves no augmentation that takes `fill_value` and `interp_type`, or `shape`.
    """
    suite = get_trivial_augment_wide_suite(shape is not None, max_translate_abs, max_translate_rel)
    keywords: dict[str, Any] = {"fill_value": fill_value, "interp_type": interp_type}
    if shape is not None:
        keywords["shape"] = shape
    used = without_excluded("trivial_augment_wide", suite, excluded)
    return apply_trivial_augment(used, data, num_magnitude_bins, seed=seed, **keywords)


def apply_trivial_augment(
    augmentations: Sequence[Augmentation],
    data: DataNode,
    num_magnitude_bins: int = 31,
    seed: int | None = None,
    **kwargs: Any,
) -> DataNode:
    """Apply one random augmentation of a list to each sample, with a random magnitude bin.

    Parameters
    ----------
    augmentations : list of Augmentation
        What is drawn from, with equal chances.
    data : DataNode
        The samples.
    num_magnitude_bins, seed
        As in `trivial_augment_wide`.
    **kwargs
        Arguments for the augmentations that take them, such as `shape` or `fill_value`.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentValueError
        If `num_magnitude_bins` is impossible, or there is no augmentation.
    ArgumentTypeError
        If an argument is needed, or is not taken by any augmentation.
    """
    where = "apply_trivial_augment"
    check_bins(where, num_magnitude_bins)
    if len(augmentations) == 0:
        raise ArgumentValueError(
            f"{where}: argument 'augmentations' must have at least one augmentation (got none). "
            "Pass get_trivial_augment_wide_suite()."
        )
    check_unused(where, augmentations, kwargs)
    magnitude_bin: Any = fn.random.choice(num_magnitude_bins, seed=derived_seed(seed, BIN_SEED))
    if any(one.randomly_negate for one in augmentations):
        magnitude_bin = signed_bin(magnitude_bin, seed=seed)
    chosen = fn.random.choice(len(augmentations), seed=derived_seed(seed, SELECTION_SEED))
    result: DataNode = select(
        augmentations,
        chosen,
        data,
        magnitude_bin=magnitude_bin,
        num_magnitude_bins=num_magnitude_bins,
        **kwargs,
    )
    return result


def get_trivial_augment_wide_suite(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> list[Augmentation]:
    """Return the augmentations of TrivialAugment's wide space.

    Parameters
    ----------
    use_shape : bool
        Whether translations are relative to the shape of a sample; they take `shape` then.
    max_translate_abs, max_translate_rel
        Largest translation, as in `trivial_augment_wide`.

    Returns
    -------
    list of Augmentation
        14 augmentations.
    """
    return [
        *translations(use_shape, 32, 1.0, max_translate_abs, max_translate_rel),
        a.shear_x.augmentation(mag_range=(0, 0.99)),
        a.shear_y.augmentation(mag_range=(0, 0.99)),
        a.rotate.augmentation(mag_range=(0, 135)),
        *(
            one.augmentation(mag_range=(0.01, 0.99))
            for one in (a.brightness, a.contrast, a.color, a.sharpness)
        ),
        a.posterize.augmentation(mag_range=(8, 2)),
        a.solarize.augmentation(mag_range=(256, 0)),
        *(a.equalize, a.auto_contrast, a.identity),
    ]
