"""Trains on folders of JPEG files, like training scripts for ImageNet."""

import argparse
import os
import tempfile

import numpy as np
import torch
from PIL import Image

import nvidia.dali.fn as fn
import nvidia.dali.types as types
from nvidia.dali.pipeline import pipeline_def
from nvidia.dali.plugin.base_iterator import LastBatchPolicy
from nvidia.dali.plugin.pytorch import DALIClassificationIterator

MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STD = [0.229 * 255, 0.224 * 255, 0.225 * 255]


def write_images(folder, num_classes, per_class):
    rows, columns = np.mgrid[0:80, 0:100]
    for label in range(num_classes):
        os.makedirs(os.path.join(folder, f"class{label}"))
        for number in range(per_class):
            planes = [
                (rows * (1 + channel) + columns * label + 17 * number) % 256 for channel in range(3)
            ]
            smooth = np.stack(planes, axis=-1).astype(np.float32) * 0.3 + 60 * label + 20
            image = Image.fromarray(smooth.clip(0, 255).astype(np.uint8))
            image.save(os.path.join(folder, f"class{label}", f"{number}.jpg"), quality=90)


@pipeline_def
def create_dali_pipeline(data_dir, crop, size, shard_id, num_shards, is_training):
    images, labels = fn.readers.file(
        file_root=data_dir,
        shard_id=shard_id,
        num_shards=num_shards,
        random_shuffle=is_training,
        pad_last_batch=True,
        name="Reader",
    )
    if is_training:
        images = fn.decoders.image_random_crop(
            images,
            device="cpu",
            output_type=types.RGB,
            random_aspect_ratio=[0.8, 1.25],
            random_area=[0.1, 1.0],
            num_attempts=100,
        )
        images = fn.resize(
            images,
            device="cpu",
            resize_x=crop,
            resize_y=crop,
            interp_type=types.INTERP_TRIANGULAR,
        )
        mirror = fn.random.coin_flip(probability=0.5)
    else:
        images = fn.decoders.image(images, device="cpu", output_type=types.RGB)
        images = fn.resize(
            images,
            device="cpu",
            size=size,
            mode="not_smaller",
            interp_type=types.INTERP_TRIANGULAR,
        )
        mirror = False
    images = fn.crop_mirror_normalize(
        images,
        dtype=types.FLOAT,
        output_layout="CHW",
        crop=(crop, crop),
        mean=MEAN,
        std=STD,
        mirror=mirror,
    )
    return images, labels


def make_loader(args, folder, is_training, shard_id=0, num_shards=1):
    pipe = create_dali_pipeline(
        batch_size=args.batch_size,
        num_threads=args.workers,
        device_id=None,
        seed=12 + shard_id,
        data_dir=folder,
        crop=args.crop,
        size=args.size,
        shard_id=shard_id,
        num_shards=num_shards,
        is_training=is_training,
    )
    pipe.build()
    return DALIClassificationIterator(
        pipe, reader_name="Reader", last_batch_policy=LastBatchPolicy.PARTIAL, auto_reset=True
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-size", type=int, default=4)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--crop", type=int, default=32)
    parser.add_argument("--size", type=int, default=40)
    args = parser.parse_args()
    torch.manual_seed(1)
    with tempfile.TemporaryDirectory() as folder:
        write_images(folder, num_classes=3, per_class=5)
        train_loader = make_loader(args, folder, is_training=True)
        val_loader = make_loader(args, folder, is_training=False)
        model = torch.nn.Linear(3, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        print("batches", len(train_loader), len(val_loader))
        for epoch in range(6):
            seen = []
            for data in train_loader:
                images = data[0]["data"]
                target = data[0]["label"].squeeze(-1).long()
                assert images.shape[1:] == (3, args.crop, args.crop)
                loss = torch.nn.functional.cross_entropy(model(images.mean(dim=(2, 3))), target)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                seen += target.tolist()
            print("labels", epoch, *np.bincount(seen))
        correct = 0
        for i, data in enumerate(val_loader):
            images = data[0]["data"]
            target = data[0]["label"].squeeze(-1).long()
            correct += int((model(images.mean(dim=(2, 3))).argmax(dim=1) == target).sum())
            means = images.mean(dim=(1, 2, 3))
            print("validation", i, *target.tolist(), *(f"{float(mean):.3f}" for mean in means))
        print("accuracy", f"{correct / 15:.3f}")
        for shard_id in range(2):
            labels = [
                batch[0]["label"].flatten().tolist()
                for batch in make_loader(args, folder, False, shard_id, 2)
            ]
            print("shard", shard_id, *sum(labels, []))


if __name__ == "__main__":
    main()
