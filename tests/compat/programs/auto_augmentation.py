"""Augments images by policies and by its own augmentations; prints what is not random."""

import numpy as np

import nvidia.dali.fn as fn
from nvidia.dali import pipeline_def
from nvidia.dali.auto_aug import augmentations, auto_augment, rand_augment, trivial_augment
from nvidia.dali.auto_aug.core import Policy, augmentation, select, signed_bin

IMAGES = [np.full((20 + 2 * i, 30, 3), 50 + i, np.uint8) for i in range(4)]


@augmentation(mag_range=(0, 10), mag_to_param=lambda magnitude: np.array(magnitude, np.uint8))
def brighter(images, step, factor=1):
    return images + step * np.uint8(factor)


@augmentation(mag_range=(1, 3), randomly_negate=True)
def moved(images, step):
    if step > 0:
        images = images + np.uint8(100)
    else:
        images = images - np.uint8(0)
    return images


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3, enable_conditionals=True)
def transformed():
    images = fn.external_source(lambda: IMAGES, layout="HWC")
    sign = fn.external_source(lambda: [np.int32(i % 2) for i in range(4)])
    policy = Policy("own", 11, [[(brighter, 1.0, 4), (augmentations.invert, 1.0, None)]])
    half = brighter.augmentation(mag_range=(0, 5), name="half")
    return (
        rand_augment.apply_rand_augment([brighter], images, n=3, m=5, num_magnitude_bins=11),
        trivial_augment.apply_trivial_augment([augmentations.invert], images),
        auto_augment.apply_auto_augment(policy, images, factor=2),
        select([brighter, half], sign, images, magnitude_bin=10, num_magnitude_bins=11),
        moved(images, magnitude_bin=signed_bin(1, random_sign=sign), num_magnitude_bins=3),
    )


@pipeline_def(batch_size=4, num_threads=2, device_id=None, seed=3, enable_conditionals=True)
def drawn():
    images = fn.external_source(lambda: IMAGES, layout="HWC")
    return rand_augment.rand_augment(images, n=1, m=17, shape=images.shape(), fill_value=None)


def main():
    pipe = transformed()
    pipe.build()
    names = ("rand", "trivial", "auto", "select", "moved")
    for name, batch in zip(names, pipe.run()):
        print(name, *(int(np.array(batch.at(i)).max()) for i in range(4)))
    pipe = drawn()
    pipe.build()
    for batch in pipe.run():
        print("shapes", *(np.array(batch.at(i)).shape[0] for i in range(4)), batch.dtype)
    suite = rand_augment.get_rand_augment_suite(use_shape=True)
    print("suite", *(one.name for one in suite))
    policy = auto_augment.get_reduced_cifar10_policy()
    print("policy", policy.name, len(policy.sub_policies), *policy.augmentations)


if __name__ == "__main__":
    main()
