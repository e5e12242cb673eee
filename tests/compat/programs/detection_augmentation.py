"""Augments images and their boxes at random, as for training detectors; prints statistics."""

import numpy as np

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali import pipeline_def

BATCH_SIZE = 16


class Shapes:
    """Grey rectangles on black, each in its box."""

    def __call__(self, info):
        rng = np.random.default_rng(info.idx_in_epoch)
        height, width = rng.integers(40, 80, 2)
        image = np.zeros((height, width, 3), np.uint8)
        boxes = []
        for _ in range(int(rng.integers(1, 4))):
            top, left = rng.integers(0, height // 2), rng.integers(0, width // 2)
            bottom, right = top + height // 4, left + width // 4
            image[top:bottom, left:right] = rng.integers(50, 200)
            boxes.append([left / width, top / height, right / width, bottom / height])
        return image, np.float32(boxes)


@pipeline_def(batch_size=BATCH_SIZE, num_threads=2, device_id=None, seed=5)
def augmented():
    images, boxes = fn.external_source(Shapes(), num_outputs=2, batch=False, layout=["HWC", ""])
    mirror = fn.random.coin_flip(probability=0.5)
    angle = fn.random.uniform(range=[-10.0, 10.0])
    noise = fn.random.normal(mean=1.0, stddev=0.1)
    flipped = fn.flip(images, horizontal=mirror)
    turned = fn.rotate(flipped, angle=angle, fill_value=0, keep_size=True)
    bright = fn.brightness_contrast(turned, brightness=noise)
    colored = fn.color_twist(bright, hue=fn.random.uniform(range=[-20.0, 20.0]))
    erased = fn.erase(
        colored,
        anchor=fn.random.uniform(range=[0.0, 0.5], shape=[2]),
        shape=[0.2, 0.2],
        axis_names="HW",
        normalized_anchor=True,
        normalized_shape=True,
        fill_value=255,
    )
    resized = fn.resize(erased, size=[32, 32])
    normalized = fn.crop_mirror_normalize(
        resized, dtype=types.FLOAT, output_layout="CHW", mean=[128.0] * 3, std=[64.0] * 3
    )
    corners = fn.coord_transform(boxes, M=[32, 0, 0, 0, 0, 32, 0, 0, 0, 0, 32, 0, 0, 0, 0, 32])
    return normalized, fn.pad(corners, fill_value=-1), mirror, angle, fn.shapes(images)


def main():
    pipe = augmented()
    pipe.build()
    again = augmented()
    again.build()
    mirrors, angles, values = [], [], []
    for _ in range(8):
        outputs = pipe.run()
        for one, other in zip(outputs, again.run()):
            np.testing.assert_array_equal(one.as_array(), other.as_array())
        images, corners, mirror, angle, shapes = (output.as_array() for output in outputs)
        mirrors += mirror.tolist()
        angles += angle.tolist()
        values.append(images.mean())
        counts = (corners[..., 0] >= 0).sum(axis=1)
        print("boxes", *counts, f"{corners.max():.3f}", corners.shape, images.shape, images.dtype)
        print("sizes", *shapes[:, 0], *shapes[:, 1])
    print("mirrored about half", 40 <= sum(mirrors) <= 88, sorted(set(mirrors)))
    print("angles", min(angles) >= -10, max(angles) < 10, abs(np.mean(angles)) < 2)
    print("brightness", f"{np.mean(values):.1f}")


if __name__ == "__main__":
    main()
