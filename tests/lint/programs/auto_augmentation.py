"""Automatic augmentation, in a program that a strict type checker accepts."""

# mypy: warn-unreachable

from __future__ import annotations

import numpy
from numpy.typing import NDArray

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from dali_core.auto_aug.core import Policy, _Augmentation, augmentation, select, signed_bin
from dali_core.auto_aug.core.decorator import augmentation as decorate


@augmentation(mag_range=(0, 10), randomly_negate=True, name="shift", param_device="auto")
def shifted(data: DataNode, offset: DataNode, scale: float = 1.0) -> DataNode:
    """Add a number."""
    return fn.cast(data + offset * scale, dtype=types.UINT8)


@decorate
def doubled(data: DataNode, _: None) -> DataNode:
    """Multiply by two."""
    return fn.cast_like(data * 2, data)


def halves(magnitude: float) -> NDArray[numpy.float32]:
    """Return half of a magnitude."""
    return numpy.array([magnitude / 2], numpy.float32)


stronger: _Augmentation = shifted.augmentation(
    mag_range=numpy.array([1.0, 5.0, 9.0]), randomly_negate=False, mag_to_param=halves, name=None
)
names: list[str] = [one.name for one in (stronger, doubled, augmentations.rotate)]
is_negated: bool = stronger.randomly_negate
device: str = stronger.param_device
policy: Policy = Policy("own", 3, [[(shifted, 0.5, 2), (doubled, 1, None)], []])
steps: int = sum(len(sub_policy) for sub_policy in policy.sub_policies)
found: dict[str, _Augmentation] = policy.augmentations
suites: list[list[_Augmentation]] = [
    rand_augment.get_rand_augment_suite(use_shape=True, max_translate_rel=(0.1, 0.2)),
    rand_augment.get_rand_augment_non_monotonic_suite(max_translate_abs=10),
    trivial_augment.get_trivial_augment_wide_suite(),
]
policies: list[Policy] = [
    auto_augment.get_image_net_policy(use_shape=True),
    auto_augment.get_reduced_image_net_policy(),
    auto_augment.get_svhn_policy(max_translate_abs=(3, 4)),
    auto_augment.get_reduced_cifar10_policy(),
]


@pipeline_def(batch_size=2, num_threads=1, device_id=None, enable_conditionals=True)
def augmented() -> tuple[DataNode, ...]:
    """Augment in all ways."""
    image: DataNode = fn.random.uniform(range=(0, 255), shape=(20, 30, 3), dtype=types.UINT8)
    image = fn.reshape(image, layout="HWC")
    each: DataNode = rand_augment.rand_augment(
        image, n=2, m=9, shape=image.shape(), fill_value=None, interp_type=types.INTERP_NN
    )
    one: DataNode = trivial_augment.trivial_augment_wide(image, seed=3, excluded=["rotate"])
    learned: DataNode = auto_augment.auto_augment(image, "svhn", shape=(20, 30))
    same: DataNode = auto_augment.auto_augment_image_net(image, max_translate_abs=5)
    own: DataNode = auto_augment.apply_auto_augment(policy, image, seed=1, scale=2)
    listed: DataNode = rand_augment.apply_rand_augment([doubled, stronger], image, 1, 2, 3)
    drawn: DataNode = trivial_augment.apply_trivial_augment([shifted], image, 5)
    chosen: DataNode = select(
        [shifted, augmentations.invert],
        fn.random.choice(2),
        image,
        magnitude_bin=signed_bin(fn.random.choice(3), seed=4),
        num_magnitude_bins=3,
    )
    signs = signed_bin(1, shape=(2,))
    again: DataNode = shifted(image, magnitude_bin=signs[1], num_magnitude_bins=3, scale=2.0)
    return each, one, learned, same, own, listed, drawn, chosen, again


outputs = augmented().run()
assert all(output.shape() == [(20, 30, 3)] * 2 for output in outputs)
assert (names, steps, len(found)) == (["shifted", "doubled", "rotate"], 2, 2)
assert (is_negated, device) == (False, "auto")
assert [len(suite) for suite in suites] == [14, 14, 14]
assert [len(one.sub_policies) for one in policies] == [25, 25, 25, 25]
