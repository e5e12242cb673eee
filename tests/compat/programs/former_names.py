"""Training and validation pipelines with former names of operators and a dict of options."""

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
from PIL import Image

import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.base_iterator import LastBatchPolicy

INTERPOLATION = {"linear": types.INTERP_LINEAR, "cubic": types.INTERP_CUBIC}


class HybridTrainPipe(Pipeline):
    def __init__(
        self,
        file_root,
        file_list,
        batch_size,
        resize_shorter,
        crop,
        min_area,
        lower,
        upper,
        interp,
        mean,
        std,
        device_id,
        shard_id=0,
        num_shards=1,
        random_shuffle=True,
        num_threads=4,
        seed=42,
        pad_output=False,
        output_dtype=types.FLOAT,
        dataset="Train",
    ):
        super().__init__(batch_size, num_threads, device_id, seed=seed)
        self.input = ops.FileReader(
            file_root=file_root,
            file_list=file_list,
            shard_id=shard_id,
            num_shards=num_shards,
            random_shuffle=random_shuffle,
        )
        device = "cpu" if device_id is None else "gpu"
        device_memory_padding = 0 if device == "cpu" else 211025920
        self.decode = ops.ImageDecoderRandomCrop(
            device=device,
            output_type=types.DALIImageType.RGB,
            device_memory_padding=device_memory_padding,
            host_memory_padding=device_memory_padding,
            random_aspect_ratio=[lower, upper],
            random_area=[min_area, 1.0],
            num_attempts=100,
        )
        self.res = ops.Resize(device=device, resize_x=crop, resize_y=crop, interp_type=interp)
        self.cmnp = ops.CropMirrorNormalize(
            device=device,
            output_dtype=output_dtype,
            output_layout="CHW",
            crop=(crop, crop),
            mean=mean,
            std=std,
            pad_output=pad_output,
        )
        self.coin = ops.CoinFlip(probability=0.5)
        self.to_int64 = ops.Cast(dtype=types.DALIDataType.INT64, device=device)

    def define_graph(self):
        rng = self.coin()
        jpegs, labels = self.input(name="Reader")
        images = self.res(self.decode(jpegs))
        output = self.cmnp(images, mirror=rng)
        return [output, self.to_int64(labels)]


class HybridValPipe(Pipeline):
    def __init__(
        self,
        file_root,
        file_list,
        batch_size,
        resize_shorter,
        crop,
        interp,
        mean,
        std,
        device_id,
        shard_id=0,
        num_shards=1,
        random_shuffle=False,
        num_threads=4,
        seed=42,
        pad_output=False,
        output_dtype=types.FLOAT16,
    ):
        super().__init__(batch_size, num_threads, device_id, seed=seed)
        self.input = ops.FileReader(
            file_root=file_root,
            file_list=file_list,
            shard_id=shard_id,
            num_shards=num_shards,
            random_shuffle=random_shuffle,
        )
        self.decode = ops.ImageDecoder(device="cpu", output_type=types.RGB)
        self.res = ops.Resize(resize_shorter=resize_shorter, interp_type=interp)
        self.cmnp = ops.CropMirrorNormalize(
            output_dtype=output_dtype,
            output_layout="CHW",
            crop=(crop, crop),
            mean=mean,
            std=std,
            pad_output=pad_output,
        )
        self.cast = ops.Cast(dtype=types.DALIDataType.INT64)

    def define_graph(self):
        jpegs, labels = self.input(name="Reader")
        return self.cmnp(self.res(self.decode(jpegs))), self.cast(labels)


class ExternalPipe(Pipeline):
    """Samples of a list of names, fed batch by batch."""

    def __init__(self, names, batch_size, device_id):
        super().__init__(batch_size, 1, device_id, prefetch_queue_depth=1)
        self.names, self.batch_size_, self.start = names, batch_size, 0
        self.jpegs, self.labels = ops.ExternalSource(), ops.ExternalSource()
        self.decode = ops.ImageDecoder(output_type=types.RGB)

    def define_graph(self):
        self.encoded = self.jpegs()
        self.numbers = self.labels()
        return self.decode(self.encoded), self.numbers

    def iter_setup(self):
        if self.start >= len(self.names):
            self.start = 0
            raise StopIteration
        chosen = self.names[self.start : self.start + self.batch_size_]
        self.start += self.batch_size_
        self.feed_input(self.encoded, [np.fromfile(name, np.uint8) for name in chosen])
        self.feed_input(self.numbers, [np.array([int(Path(n).stem)]) for n in chosen])


def write_images(folder):
    lines = []
    for number in range(7):
        values = np.full((40 + number, 50 - number, 3), 20 * number + 5, np.uint8)
        Image.fromarray(values).save(os.path.join(folder, f"{number}.png"))
        lines.append(f"{number}.png {number % 3}")
    with open(os.path.join(folder, "list.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")


def main():
    warnings.simplefilter("ignore")  # these names are deprecated
    mean, std = [v * 255 for v in (0.485, 0.456, 0.406)], [v * 255 for v in (0.229, 0.224, 0.225)]
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder)
        options = {
            "file_root": folder,
            "file_list": os.path.join(folder, "list.txt"),
            "batch_size": 3,
            "crop": 24,
            "interp": INTERPOLATION["linear"],
            "mean": mean,
            "std": std,
            "device_id": None,
            "resize_shorter": 32,
        }
        train = HybridTrainPipe(
            **options, min_area=0.08, lower=3 / 4, upper=4 / 3, random_shuffle=False
        )
        train.build()
        print("length", train.epoch_size("Reader"), train.reader_meta("Reader"))
        for _ in range(3):
            images, labels = train.run()
            print("train", images.shape(), images.layout(), images.dtype, labels.dtype)
            print("labels", *labels.as_array().ravel())
            print("means", *(f"{np.mean(image):.3f}" for image in images.as_array()))
        for dtype, pad in ((types.FLOAT16, True), (types.FLOAT, False)):
            val = HybridValPipe(**options, output_dtype=dtype, pad_output=pad)
            val.build()
            images, labels = val.run()
            print("val", images.shape(), images.dtype, *labels.as_array().ravel())
            print("means", *(f"{np.float32(image).mean():.3f}" for image in images.as_array()))
        names = [os.path.join(folder, f"{number}.png") for number in range(6)]
        pipe = ExternalPipe(names, 2, None)
        pipe.build()
        for _ in range(2):
            while True:
                try:
                    images, numbers = pipe.run()
                except StopIteration:
                    pipe.reset()
                    break
                print("external", *(images.at(i).shape for i in range(2)))
                print("numbers", *numbers.as_array().ravel(), LastBatchPolicy.PARTIAL.name)


if __name__ == "__main__":
    main()
