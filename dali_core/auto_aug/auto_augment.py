"""AutoAugment: a random one of several learned sequences of augmentations.

Reference: Cubuk, Zoph, Mane, Vasudevan, Le, "AutoAugment: Learning Augmentation Policies from
Data", https://arxiv.org/abs/1805.09501.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dali_core import fn, types
from dali_core._graph.node import DataNode
from dali_core.auto_aug import _sub_policies
from dali_core.auto_aug import augmentations as a
from dali_core.auto_aug._translations import translations
from dali_core.auto_aug.core._augmentation import Augmentation
from dali_core.auto_aug.core._checks import (
    PROBABILITY_SEED,
    SELECTION_SEED,
    derived_seed,
)
from dali_core.auto_aug.core._magnitudes import signed_bin
from dali_core.auto_aug.core._select import select
from dali_core.auto_aug.core._suites import check_unused
from dali_core.auto_aug.core.policy import Policy
from dali_core.errors import ArgumentConflictError, ArgumentKeyError, ArgumentValueError


def auto_augment(
    data: DataNode,
    policy_name: str = "image_net",
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
    seed: int | None = None,
) -> DataNode:
    """Apply one of AutoAugment's policies to each sample.

    Parameters
    ----------
    data : DataNode
        Images (HWC) or sequences of frames (FHWC), UINT8.
    policy_name : {"image_net", "reduced_image_net", "svhn", "reduced_cifar10"}
        The policy.
    shape : DataNode or (int, int), optional
        Height and width of the samples, such as from `fn.peek_image_shape`. Translations are then
        relative to it. ``"reduced_image_net"`` has none.
    fill_value : int, optional
        Value of pixels from outside after rotation, shear and translation; None repeats the border.
    interp_type : DALIInterpType, optional
        Interpolation of these: INTERP_LINEAR, the default, or INTERP_NN.
    max_translate_abs : int or (int, int), optional
        Largest translation in pixels, or those along height and width; 250 by default. Only without
        `shape`.
    max_translate_rel : float or (float, float), optional
        Largest translation relative to `shape`; 1 by default. Only with `shape`.
    seed : int, optional
        Seed of what is drawn.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentKeyError
        If there is no policy of that name.
    ArgumentConflictError
        If `max_translate_abs` is passed with `shape`, or `max_translate_rel` without, or one of the
        three for a policy without translations.
    """
    makers = {
        "image_net": get_image_net_policy,
        "reduced_image_net": None,
        "svhn": get_svhn_policy,
        "reduced_cifar10": get_reduced_cifar10_policy,
    }
    if policy_name not in makers:
        raise ArgumentKeyError(
            f"auto_augment: argument 'policy_name' must be one of {', '.join(map(repr, makers))} "
            f"(got {policy_name!r}). Pass one of these, or a policy to apply_auto_augment."
        )
    keywords: dict[str, Any] = {"fill_value": fill_value, "interp_type": interp_type}
    make = makers[policy_name]
    if make is not None:
        policy = make(shape is not None, max_translate_abs, max_translate_rel)
        if shape is not None:
            keywords["shape"] = shape
        return apply_auto_augment(policy, data, seed=seed, **keywords)
    about_translations = {
        "shape": shape,
        "max_translate_abs": max_translate_abs,
        "max_translate_rel": max_translate_rel,
    }
    for name, value in about_translations.items():
        if value is not None:
            raise ArgumentConflictError(
                f"auto_augment: argument {name!r} must not be passed for the policy "
                f"{policy_name!r}, which has no translations (got {value!r}). Leave it out."
            )
    return apply_auto_augment(get_reduced_image_net_policy(), data, seed=seed, **keywords)


def auto_augment_image_net(
    data: DataNode,
    shape: DataNode | tuple[int, int] | None = None,
    fill_value: int | None = 128,
    interp_type: types.DALIInterpType | None = None,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
    seed: int | None = None,
) -> DataNode:
    """Apply AutoAugment's policy for ImageNet to each sample.

    Parameters
    ----------
    data, shape, fill_value, interp_type, max_translate_abs, max_translate_rel, seed
        As in `auto_augment`.

    Returns
    -------
    DataNode
        The transformed samples.
    """
    return auto_augment(
        data,
        "image_net",
        shape,
        fill_value,
        interp_type,
        max_translate_abs,
        max_translate_rel,
        seed,
    )


def apply_auto_augment(
    policy: Policy, data: DataNode, seed: int | None = None, **kwargs: Any
) -> DataNode:
    """Apply a random sub-policy of a policy to each sample.

    Parameters
    ----------
    policy : Policy
        The policy.
    data : DataNode
        The samples.
    seed : int, optional
        Seed of what is drawn.
    **kwargs
        Arguments for the augmentations that take them, such as `shape` or `fill_value`.

    Returns
    -------
    DataNode
        The transformed samples.

    Raises
    ------
    ArgumentValueError
        If the policy has no sub-policies.
    ArgumentTypeError
        If an argument is needed, or is not taken by any augmentation.
    """
    where = "apply_auto_augment"
    sub_policies = policy.sub_policies
    if not sub_policies:
        raise ArgumentValueError(
            f"{where}: argument 'policy' must have at least one sub-policy (got {policy!r}). Add "
            "sub-policies; one without steps leaves samples as they are."
        )
    used = list(policy.augmentations.values())
    check_unused(where, used, kwargs)
    num_steps = max(map(len, sub_policies))
    if num_steps == 0:
        return data
    # Row r, column c: which of the branches of column c step c of sub-policy r takes.
    branches: list[list[Augmentation]] = [[a.identity] for _ in range(num_steps)]
    taken = np.zeros((len(sub_policies), num_steps), dtype=np.int32)
    chances = np.zeros(taken.shape, dtype=np.float32)
    bins = np.zeros(taken.shape, dtype=np.int32)
    for row, steps in enumerate(sub_policies):
        for column, (one, chance, number) in enumerate(steps):
            if one not in branches[column]:
                branches[column].append(one)
            taken[row, column] = branches[column].index(one)
            chances[row, column], bins[row, column] = chance, number or 0
    chosen = fn.random.choice(len(sub_policies), seed=derived_seed(seed, SELECTION_SEED))
    drawn = fn.random.uniform(
        range=[0.0, 1.0], shape=[num_steps], seed=derived_seed(seed, PROBABILITY_SEED)
    )
    is_applied = fn.cast(drawn < _row(chances, chosen), dtype=types.INT32)
    numbers = _row(taken, chosen) * is_applied
    magnitude_bins: Any = _row(bins, chosen)
    if any(one.randomly_negate for one in used):
        magnitude_bins = signed_bin(magnitude_bins, seed=seed, shape=[num_steps])
    for column in range(num_steps):
        data = select(
            branches[column],
            numbers[column],
            data,
            magnitude_bin=magnitude_bins[column],
            num_magnitude_bins=policy.num_magnitude_bins,
            **kwargs,
        )
    return data


def _row(table: np.ndarray[Any, Any], chosen: DataNode) -> DataNode:
    value: DataNode = types.Constant(table, device="cpu")[chosen]
    return value


def get_image_net_policy(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> Policy:
    """Return the policy for ImageNet.

    Parameters
    ----------
    use_shape : bool
        Whether translations are relative to the shape of a sample; they take `shape` then.
    max_translate_abs, max_translate_rel
        Largest translation, as in `auto_augment`.

    Returns
    -------
    Policy
        25 sub-policies.
    """
    moved = translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel)
    return _policy("ImageNetPolicy", _sub_policies.IMAGE_NET, moved)


def get_reduced_image_net_policy() -> Policy:
    """Return the policy for a reduced ImageNet, which has no translations.

    Returns
    -------
    Policy
        25 sub-policies.
    """
    return _policy("ReducedImageNetPolicy", _sub_policies.REDUCED_IMAGE_NET, [])


def get_svhn_policy(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> Policy:
    """Return the policy for SVHN.

    Parameters
    ----------
    use_shape, max_translate_abs, max_translate_rel
        As in `get_image_net_policy`.

    Returns
    -------
    Policy
        25 sub-policies.
    """
    moved = translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel)
    return _policy("SvhnPolicy", _sub_policies.SVHN, moved)


def get_reduced_cifar10_policy(
    use_shape: bool = False,
    max_translate_abs: int | tuple[int, int] | None = None,
    max_translate_rel: float | tuple[float, float] | None = None,
) -> Policy:
    """Return the policy for a reduced CIFAR-10.

    Parameters
    ----------
    use_shape, max_translate_abs, max_translate_rel
        As in `get_image_net_policy`.

    Returns
    -------
    Policy
        25 sub-policies.
    """
    moved = translations(use_shape, 250, 1.0, max_translate_abs, max_translate_rel)
    return _policy("ReducedCifar10Policy", _sub_policies.REDUCED_CIFAR10, moved)


def _policy(name: str, text: str, moved: list[Augmentation]) -> Policy:
    known = {
        one.name: one
        for one in (
            *moved,
            a.shear_x.augmentation((0, 0.3)),
            a.shear_y.augmentation((0, 0.3)),
            a.rotate.augmentation((0, 30)),
            a.brightness.augmentation((0.1, 1.9), False, None),
            a.contrast.augmentation((0.1, 1.9), False, None),
            a.color.augmentation((0.1, 1.9), False, None),
            a.sharpness.augmentation((0.1, 1.9), False, a.sharpness_kernel_shifted),
            a.posterize.augmentation((0, 4)),
            a.solarize.augmentation((0, 256)),
            a.solarize_add.augmentation((0, 110)),
            *(a.invert, a.equalize, a.auto_contrast),
        )
    }
    sub_policies = []
    for line in text.split("\n")[1:-1]:
        steps = [step.split() for step in line.split("; ")]
        sub_policies.append(
            [
                (known[words[0]], int(words[1]) / 10, int(words[2]) if words[2:] else None)
                for words in steps
            ]
        )
    return Policy(name, 11, sub_policies)
