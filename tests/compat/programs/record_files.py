"""Images of TFRecord files by operator objects, serialized, as for training with TensorFlow."""

import argparse
import io
import struct
import tempfile
import warnings
import zlib
from pathlib import Path

import numpy as np
from PIL import Image

import nvidia.dali.ops as ops
import nvidia.dali.tfrecord as tfrec
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline

_TABLE = []
for number in range(256):
    for _ in range(8):
        number = number >> 1 ^ (0x82F63B78 if number & 1 else 0)
    _TABLE.append(number)


def checksum(data):
    value = 0xFFFFFFFF
    for byte in data:
        value = _TABLE[(value ^ byte) & 255] ^ value >> 8
    value ^= 0xFFFFFFFF
    return struct.pack("<I", ((value >> 15 | value << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def varint(number):
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def example(**features):
    kinds = {bytes: 1, list: 2, int: 3}
    entries = b""
    for name, value in features.items():
        if isinstance(value, int):
            content = field(1, varint(value))
        else:
            content = field(1, np.float32(value).tobytes() if isinstance(value, list) else value)
        name = "image/" + name.replace("_", "/")
        feature = field(kinds[type(value)], content)
        entries += field(1, field(1, name.encode()) + field(2, feature))
    return field(1, entries)


def write_records(folder):
    with open(folder / "train.tfrecord", "wb") as records, open(folder / "train.idx", "w") as index:
        for number in range(5):
            image = np.full((24 + number, 32, 3), [50 * number, 90, 120], np.uint8)
            encoded = io.BytesIO()
            Image.fromarray(image).save(encoded, "PNG")
            boxes = [0.1 * box for box in range(number)]
            data = example(
                encoded=encoded.getvalue(), class_label=number + 1, object_bbox_xmin=boxes
            )
            length = struct.pack("<Q", len(data))
            start = records.tell()
            records.write(length + checksum(length) + data + checksum(data))
            index.write(f"{start} {records.tell() - start}\n")


class HybridPipe(Pipeline):
    def __init__(
        self,
        args,
        batch_size,
        num_threads,
        device_id,
        num_gpus=1,
        deterministic=True,
        training=True,
    ):
        seed = 12 * 1 if deterministic else -1
        super().__init__(batch_size, num_threads, device_id, seed=seed)
        self.training = training
        self.input = ops.TFRecordReader(
            path=args.tfrec_filenames,
            index_path=args.tfrec_idx_filenames,
            random_shuffle=False,
            shard_id=0,
            num_shards=num_gpus,
            initial_fill=100,
            features={
                "image/encoded": tfrec.FixedLenFeature((), tfrec.string, ""),
                "image/class/label": tfrec.FixedLenFeature([1], tfrec.int64, -1),
                "image/class/text": tfrec.FixedLenFeature([], tfrec.string, ""),
                "image/object/bbox/xmin": tfrec.VarLenFeature(tfrec.float32, 0.0),
            },
        )
        if training:
            self.decode = ops.ImageDecoderRandomCrop(
                device="cpu",
                output_type=types.RGB,
                random_aspect_ratio=[0.75, 1.33],
                random_area=[0.05, 1.0],
                num_attempts=100,
            )
            self.resize = ops.Resize(device="cpu", resize_x=16, resize_y=16)
        else:
            self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
            self.resize = ops.Resize(device="cpu", resize_shorter=18)
        self.normalize = ops.CropMirrorNormalize(
            device="cpu",
            output_dtype=types.FLOAT,
            crop=(16, 16),
            image_type=types.RGB,
            mean=[123.68, 116.28, 103.53],
            std=[58.395, 57.120, 57.385],
            output_layout=types.NHWC,
        )
        self.cast_float = ops.Cast(device="cpu", dtype=types.FLOAT)
        self.mirror = ops.CoinFlip()

    def define_graph(self):
        inputs = self.input(name="Reader")
        images = self.resize(self.decode(inputs["image/encoded"]))
        mirror = {"mirror": self.mirror()} if self.training else {}
        labels = self.cast_float(inputs["image/class/label"] - 1)
        return self.normalize(images, **mirror), labels, inputs["image/object/bbox/xmin"]


def main():
    warnings.simplefilter("ignore")  # these names are deprecated
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as path:
        write_records(Path(path))
        args.tfrec_filenames = [f"{path}/train.tfrecord"]
        args.tfrec_idx_filenames = [f"{path}/train.idx"]
        for training in (True, False):
            written = HybridPipe(args, args.batch_size, 2, None, training=training).serialize()
            pipe = Pipeline(batch_size=args.batch_size, num_threads=1, device_id=None)
            pipe.deserialize_and_build(written)
            print("epoch", pipe.epoch_size("Reader"), zlib.crc32(written) > 0)
            for _ in range(3):
                images, labels, boxes = pipe.run()
                print("labels", *labels.as_array().ravel(), images.layout(), images.dtype)
                print("shapes", *images.as_array().shape, *(boxes.at(i).size for i in range(2)))
                print("means", *(f"{image.mean():.3f}" for image in images.as_array()))


if __name__ == "__main__":
    main()
