"""Several views of each image by objects with methods, as for self-supervised training."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image

import nvidia.dali.fn as fn
import nvidia.dali.ops as ops
import nvidia.dali.types as types
from nvidia.dali import pipeline_def
from nvidia.dali.pipeline import Pipeline
from nvidia.dali.plugin.pytorch import DALIGenericIterator, LastBatchPolicy


class Mux:
    def __init__(self, prob):
        self.to_bool = ops.Cast(dtype=types.DALIDataType.BOOL)
        self.rng = ops.random.CoinFlip(probability=prob)

    def __call__(self, true_case, false_case):
        condition = self.to_bool(self.rng())
        neg_condition = condition ^ True
        return condition * true_case + neg_condition * false_case


class RandomGrayScaleConversion:
    def __init__(self, prob=0.2, device="cpu"):
        self.mux = Mux(prob=prob)
        self.grayscale = ops.ColorSpaceConversion(
            device=device, image_type=types.RGB, output_type=types.GRAY
        )

    def __call__(self, images):
        out = self.grayscale(images)
        out = fn.cat(out, out, out, axis=2)
        return self.mux(true_case=out, false_case=images)


class RandomColorJitter:
    def __init__(self, brightness, contrast, saturation, hue, prob=0.8, device="cpu"):
        assert 0 <= hue <= 0.5
        self.mux = Mux(prob=prob)
        self.jitter = ops.ColorTwist(device=device)
        self.brightness = self.contrast = self.saturation = self.hue = None
        if brightness:
            self.brightness = ops.random.Uniform(range=[max(0, 1 - brightness), 1 + brightness])
        if contrast:
            self.contrast = ops.random.Uniform(range=[max(0, 1 - contrast), 1 + contrast])
        if saturation:
            self.saturation = ops.random.Uniform(range=[max(0, 1 - saturation), 1 + saturation])
        if hue:
            self.hue = ops.random.Uniform(range=[-hue * 360, hue * 360])

    def __call__(self, images):
        out = self.jitter(
            images,
            brightness=self.brightness() if self.brightness else 1,
            contrast=self.contrast() if self.contrast else 1,
            saturation=self.saturation() if self.saturation else 1,
            hue=self.hue() if self.hue else 0,
        )
        return self.mux(true_case=out, false_case=images)


class RandomGaussianBlur:
    def __init__(self, prob=0.5, window_size=23, device="cpu"):
        self.mux = Mux(prob=prob)
        self.blur = ops.GaussianBlur(device=device, window_size=(window_size, window_size))
        self.sigma = ops.random.Uniform(range=[0, 1])

    def __call__(self, images):
        sigma = self.sigma() * 1.9 + 0.1
        return self.mux(true_case=self.blur(images, sigma=sigma), false_case=images)


class RandomSolarize:
    def __init__(self, threshold=128, prob=0.0):
        self.mux = Mux(prob=prob)
        self.threshold = threshold

    def __call__(self, images):
        inverted = types.Constant(255, dtype=types.UINT8) - images
        mask = images >= self.threshold
        out = mask * inverted + (True ^ mask) * images
        return self.mux(true_case=out, false_case=images)


class Views:
    def __init__(self, size, num_crops, jitter, grayscale, solarize, blur, device="cpu"):
        self.num_crops = num_crops
        self.random_crop = ops.RandomResizedCrop(
            device=device, size=size, random_area=(0.2, 1.0), interp_type=types.INTERP_CUBIC
        )
        self.jitter = RandomColorJitter(0.4, 0.4, 0.2, 0.1, prob=jitter, device=device)
        self.grayscale = RandomGrayScaleConversion(prob=grayscale, device=device)
        self.blur = RandomGaussianBlur(prob=blur, device=device)
        self.solarize = RandomSolarize(prob=solarize)
        self.cmn = ops.CropMirrorNormalize(
            device=device,
            dtype=types.FLOAT,
            output_layout=types.NCHW,
            crop=(size, size),
            mean=[0.0, 0.0, 0.0],
            std=[255.0, 255.0, 255.0],
        )
        self.coin = ops.random.CoinFlip(probability=0.5)

    def __call__(self, images):
        out = self.random_crop(images)
        out = self.solarize(self.blur(self.grayscale(self.jitter(out))))
        return self.cmn(out, mirror=self.coin())


class Builder:
    def __init__(
        self,
        folder,
        batch_size,
        views,
        num_threads=2,
        shard_id=0,
        num_shards=1,
        no_labels=False,
        encode_indexes=False,
    ):
        files, labels = [], []
        for label, directory in enumerate(sorted(Path(folder).iterdir())):
            for file in sorted(directory.iterdir()):
                files.append(str(file))
                labels.append(-1 if no_labels else label)
        self.encoding = {}
        if encode_indexes:
            self.encoding = {index: labels[index] for index in range(len(labels))}
            labels = list(self.encoding)
        self.batch_size, self.num_threads, self.views = batch_size, num_threads, views
        self.device_id, self.seed = None, 12 + shard_id
        self.reader = ops.readers.File(
            files=files,
            labels=labels,
            shard_id=shard_id,
            num_shards=num_shards,
            shuffle_after_epoch=True,
        )
        self.decode = ops.decoders.Image(
            device="cpu", output_type=types.RGB, device_memory_padding=0, host_memory_padding=0
        )
        self.to_int64 = ops.Cast(dtype=types.INT64, device="cpu")

    @pipeline_def
    def pipeline(self):
        inputs, labels = self.reader(name="Reader")
        images = self.decode(inputs)
        crops = []
        for view in self.views:
            crops.extend(view(images) for _ in range(view.num_crops))
        return (*crops, self.to_int64(labels))


class Wrapper(DALIGenericIterator):
    def __init__(self, conversion, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.conversion = conversion

    def __next__(self):
        batch = super().__next__()
        *views, targets = (batch[0][name] for name in self.output_map)
        targets = targets.squeeze(-1).long().clone()
        indexes = targets.flatten().tolist()
        labels = torch.tensor([self.conversion.get(index, index) for index in indexes])
        return [indexes, [view.clone() for view in views], labels]


def main():
    with tempfile.TemporaryDirectory() as path:
        for label in range(3):
            folder = Path(path) / f"class{label}"
            folder.mkdir()
            for number in range(4 if label else 3):
                values = np.full((40, 48 + number, 3), [40 * label + 20, 60, 90], np.uint8)
                Image.fromarray(values).save(folder / f"{number}.png")
        plain = Views(24, 2, jitter=0.0, grayscale=0.0, solarize=0.0, blur=0.0)
        strong = Views(16, 1, jitter=1.0, grayscale=1.0, solarize=1.0, blur=1.0)
        builder = Builder(path, 4, [plain, strong], encode_indexes=True)
        pipeline = builder.pipeline(
            batch_size=builder.batch_size,
            num_threads=builder.num_threads,
            device_id=builder.device_id,
            seed=builder.seed,
        )
        pipeline.build()
        names = ["large1", "large2", "small", "label"]
        loader = Wrapper(
            builder.encoding,
            pipeline,
            output_map=names,
            reader_name="Reader",
            last_batch_policy=LastBatchPolicy.DROP,
            auto_reset=True,
        )
        print("loader", len(loader), loader._size, isinstance(pipeline, Pipeline))
        for epoch in range(2):
            seen = set()
            for indexes, views, labels in loader:
                seen.update(indexes)
                expected = [builder.encoding[index] for index in indexes]
                print("batch", epoch, len(set(indexes)), labels.tolist() == expected)
                for view in views:
                    print("view", *view.shape, view.dtype, bool((view >= 0).all()))
                first = views[0].mean(dim=(2, 3)) * 255
                wanted = [[40 * label + 20, 60, 90] for label in expected]
                print("same", torch.allclose(first, torch.tensor(wanted).float(), atol=1.1))
                grey = views[2].amax(dim=1) - views[2].amin(dim=1)
                print("grey", bool((grey.abs() < 1e-5).all()))
            print("samples", epoch, len(seen))


if __name__ == "__main__":
    main()
