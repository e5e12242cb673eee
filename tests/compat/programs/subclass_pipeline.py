"""A pipeline in the older style: a class with operator objects, fed in `iter_setup`."""

import numpy as np

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline


class Batches:
    """Images with their numbers, batch by batch, for two epochs."""

    def __init__(self, batch_size, num_batches):
        self.batch_size = batch_size
        self.num_batches = num_batches

    def __iter__(self):
        self.number = 0
        return self

    def __next__(self):
        if self.number >= self.num_batches:
            raise StopIteration
        first = self.number * self.batch_size
        self.number += 1
        images = [
            np.arange(6 * (4 + i % 3) * 3, dtype=np.uint8).reshape(6, 4 + i % 3, 3) + i
            for i in range(first, first + self.batch_size)
        ]
        labels = [np.array([i], dtype=np.int32) for i in range(first, first + self.batch_size)]
        return images, labels


class FedPipeline(Pipeline):
    def __init__(self, source, batch_size, num_threads, device_id):
        super().__init__(batch_size, num_threads, device_id, seed=12, prefetch_queue_depth=1)
        self.source = source
        self.iterator = iter(source)
        self.input = ops.ExternalSource()
        self.input_label = ops.ExternalSource()
        self.flip = ops.Flip(device="cpu", vertical=0)
        self.mirror = ops.random.CoinFlip(probability=1.0)
        self.crop = ops.Crop(device="cpu", crop=(4, 4), crop_pos_x=0.0, crop_pos_y=1.0)
        self.transpose = ops.Transpose(device="cpu", perm=[2, 0, 1])
        self.cast = ops.Cast(device="cpu", dtype=types.INT32)

    def define_graph(self):
        self.images = self.input(name="images")
        self.labels = self.input_label(name="labels")
        flipped = self.flip(self.images, horizontal=self.mirror())
        planes = self.transpose(self.crop(flipped))
        return planes, self.cast(flipped), self.labels

    def iter_setup(self):
        try:
            images, labels = next(self.iterator)
        except StopIteration:
            self.iterator = iter(self.source)
            raise
        self.feed_input(self.images, images, layout="HWC")
        self.feed_input(self.labels, labels)


def main():
    pipe = FedPipeline(Batches(2, 3), batch_size=2, num_threads=2, device_id=None)
    pipe.build()
    for epoch in range(2):
        while True:
            try:
                planes, whole, labels = pipe.run()
            except StopIteration:
                pipe.reset()
                break
            print(
                "batch",
                epoch,
                *labels.as_array().ravel(),
                *planes.as_array().astype(np.int64).sum(axis=(1, 2, 3)),
                *(np.array(whole.at(i)).sum() for i in range(len(whole))),
                *(np.array(whole.at(i))[0, 0, 0] for i in range(len(whole))),
            )
    print("layouts", planes.layout(), whole.layout(), whole.at(0).dtype, planes.as_array().shape)


if __name__ == "__main__":
    main()
