"""A pipeline of operator objects over COCO annotations, as for training SSD; prints its batches."""

import itertools
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator

SIZES = [(60, 80), (96, 64), (70, 70), (64, 100), (90, 50)]


def write_coco(folder):
    rng = np.random.default_rng(4)
    images, annotations = [], []
    for number, (height, width) in enumerate(SIZES):
        name = f"{number:012}.png"
        Image.fromarray(rng.integers(0, 255, (height, width, 3), np.uint8)).save(folder / name)
        images.append({"id": 10 + number, "file_name": name, "height": height, "width": width})
        for box in range(1 + number % 3):
            annotations.append(
                {
                    "id": len(annotations),
                    "image_id": 10 + number,
                    "category_id": 7 + box % 2,
                    "iscrowd": 0,
                    "area": 400.0,
                    "bbox": [5.0 + 4 * box, 6.0 + 2 * box, 20.0, 24.0 + box],
                }
            )
    categories = [{"id": 7, "name": "cat"}, {"id": 8, "name": "dog"}]
    document = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(document))


def anchors(steps=(2, 4), scales=(0.3, 0.6)):
    boxes = []
    for step, scale in zip(steps, scales):
        for row, column in itertools.product(range(step), repeat=2):
            x, y = (column + 0.5) / step, (row + 0.5) / step
            boxes.append((x - scale / 2, y - scale / 2, x + scale / 2, y + scale / 2))
    return np.clip(np.array(boxes), 0, 1)


class DetectionPipeline(Pipeline):
    def __init__(self, folder, batch_size, device_id=None, training=True, num_shards=1, shard_id=0):
        super().__init__(
            batch_size=batch_size,
            device_id=device_id,
            num_threads=2,
            seed=17 + shard_id,
            prefetch_queue_depth=1,
            exec_async=True,
            exec_pipelined=True,
        )
        self.training = training
        self.input = ops.readers.COCO(
            file_root=str(folder),
            annotations_file=str(folder / "annotations.json"),
            skip_empty=True,
            shard_id=shard_id,
            num_shards=num_shards,
            ratio=True,
            ltrb=True,
            random_shuffle=False,
            shuffle_after_epoch=False,
        )
        self.decode = ops.decoders.Image(
            device="cpu",
            output_type=types.RGB,
            host_memory_padding=0,
            device_memory_padding=0,
            hw_decoder_load=0.5,
            affine=False,
        )
        self.crop = ops.RandomBBoxCrop(
            device="cpu",
            aspect_ratio=[0.5, 2.0],
            thresholds=[0, 0.1, 0.3, 0.5, 0.7, 0.9],
            scaling=[0.3, 1.0],
            bbox_layout="xyXY",
            allow_no_crop=True,
            num_attempts=1,
        )
        self.slice = ops.Slice(device="cpu")
        self.color = ops.ColorTwist(device="cpu")
        self.resize = ops.Resize(
            device="cpu",
            resize_x=32,
            resize_y=32,
            min_filter=types.DALIInterpType.INTERP_TRIANGULAR,
        )
        self.normalize = ops.CropMirrorNormalize(
            device="cpu",
            crop=(32, 32),
            mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
            std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
            mirror=0,
            output_dtype=types.FLOAT,
            output_layout=types.NCHW,
            pad_output=False,
        )
        self.flip = ops.Flip(device="cpu")
        self.flip_boxes = ops.BbFlip(device="cpu", ltrb=True)
        self.uniform = ops.random.Uniform(range=[0.5, 1.5])
        self.hue = ops.random.Uniform(range=[-18.0, 18.0])
        self.coin = ops.random.CoinFlip(probability=0.5)
        self.encode = ops.BoxEncoder(
            device="cpu", criteria=0.5, anchors=anchors().flatten().tolist()
        )

    def define_graph(self):
        inputs, boxes, labels = self.input(name="Reader")
        images = self.decode(inputs)
        if self.training:
            begin, size, boxes, labels = self.crop(boxes, labels)
            images = self.slice(images, begin, size)
            saturation, contrast, brightness = self.uniform(), self.uniform(), self.uniform()
            images = self.color(
                images,
                saturation=saturation,
                contrast=contrast,
                brightness=brightness,
                hue=self.hue(),
            )
            coin = self.coin()
            boxes = self.flip_boxes(boxes, horizontal=coin)
            images = self.flip(images, horizontal=coin)
        images = self.normalize(self.resize(images))
        boxes, labels = self.encode(boxes, labels)
        return images, boxes, labels


def main():
    warnings.simplefilter("ignore")  # some spellings are deprecated
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_coco(folder)
        for training in (False, True):
            pipe = DetectionPipeline(folder, 2, training=training)
            pipe.build()
            print("size", pipe.epoch_size("Reader"), pipe.epoch_size(), len(anchors()))
            batches = DALIGenericIterator(
                [pipe],
                ["images", "boxes", "labels"],
                reader_name="Reader",
                auto_reset=True,
                fill_last_batch=False,
            )
            for epoch in range(2):
                for (batch,) in batches:
                    images, boxes, labels = (batch[name] for name in ("images", "boxes", "labels"))
                    print("batch", epoch, *images.shape, images.dtype, boxes.dtype, labels.dtype)
                    print("shapes", *boxes.shape, *labels.shape)
                    if not training:
                        print("labels", *labels.flatten().tolist())
                        print("boxes", *(f"{value:.5f}" for value in boxes.sum(dim=1).flatten()))
                        print("mean", *(f"{value:.3f}" for value in images.mean(dim=(1, 2, 3))))


if __name__ == "__main__":
    main()
