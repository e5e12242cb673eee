"""Train a small classifier on JPEG files, and measure its accuracy.

    python -m examples.train_classifier                     # ten classes of generated photos
    python -m examples.train_classifier --data FOLDER       # one folder of photos for each class

Two pipelines feed PyTorch: one crops, mirrors and shuffles for training, the other returns the
held-out photos without augmentation. The program prints the accuracy, and writes
``train_classifier.png`` (training samples) and ``train_classifier.svg`` (the graph of the training
pipeline) to the work folder.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

from dali_core import DataNode, Pipeline, fn, pipeline_def, types
from dali_core.plugin.pytorch import DALIClassificationIterator, LastBatchPolicy
from examples.photos import generate
from examples.shared import class_folders, options, sample_grid

SIDE = 64
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STANDARD_DEVIATION = [0.229 * 255, 0.224 * 255, 0.225 * 255]
READER = "photos"


@pipeline_def
def training_pipeline(
    photos: class_folders.Photos, shuffle: bool = True
) -> tuple[DataNode, DataNode]:
    """Decode a random crop of each photo, resize it, and mirror at random."""
    encoded, label = fn.readers.file(
        files=photos.files,
        labels=photos.labels,
        random_shuffle=shuffle,
        pad_last_batch=True,  # every epoch has every photo once, see the iterator below
        name=READER,
    )
    image = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=[0.35, 1.0], random_aspect_ratio=[0.8, 1.25]
    )
    image = fn.resize(image, size=[SIDE, SIDE])
    return _normalise(image, mirror=fn.random.coin_flip()), label


@pipeline_def
def held_out_pipeline(photos: class_folders.Photos) -> tuple[DataNode, DataNode]:
    """Decode the photo and crop the square in its centre."""
    encoded, label = fn.readers.file(
        files=photos.files, labels=photos.labels, pad_last_batch=True, name=READER
    )
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.resize(image, resize_shorter=SIDE)
    return _normalise(image), label


def _normalise(image: DataNode, mirror: DataNode | int = 0) -> DataNode:
    return fn.crop_mirror_normalize(
        image,
        crop=[SIDE, SIDE],
        mirror=mirror,
        mean=MEAN,
        std=STANDARD_DEVIATION,
        dtype=types.FLOAT,
        output_layout="CHW",
    )


def make_model(num_classes: int) -> nn.Sequential:
    """Stack five convolutions; the first halves the resolution, to be fast on small CPUs."""

    def block(inputs: int, outputs: int, stride: int) -> list[nn.Module]:
        convolution = nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]

    return nn.Sequential(
        *block(3, 32, 2),
        *block(32, 64, 1),
        nn.MaxPool2d(2),
        *block(64, 96, 1),
        nn.MaxPool2d(2),
        *block(96, 128, 1),
        *block(128, 128, 1),
        nn.AdaptiveMaxPool2d(1),
        nn.Flatten(),
        nn.Dropout(0.2),
        nn.Linear(128, num_classes),
    ).to(memory_format=torch.channels_last)


def train(
    model: nn.Module, loader: DALIClassificationIterator, num_photos: int, epochs: int
) -> float:
    """Train for some epochs, and return the number of images per second."""
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, total_steps=epochs * len(loader)
    )
    criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
    model.train()
    start = time.perf_counter()
    with tqdm(total=epochs * num_photos, unit="image", unit_scale=True) as progress:
        for epoch in range(epochs):
            for batch in loader:
                images, labels = _images_and_labels(batch)
                loss = criterion(model(images), labels)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                progress.update(len(labels))
                progress.set_postfix(epoch=f"{epoch + 1}/{epochs}", loss=f"{loss.item():.3f}")
    return epochs * num_photos / (time.perf_counter() - start)


@torch.no_grad()
def accuracy(model: nn.Module, loader: DALIClassificationIterator) -> float:
    """Return the accuracy."""
    model.eval()
    right = total = 0
    for batch in loader:
        images, labels = _images_and_labels(batch)
        right += int((model(images).argmax(1) == labels).sum())
        total += len(labels)
    return right / total


def _images_and_labels(batch: list[dict[str, torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    images = batch[0]["data"].contiguous(memory_format=torch.channels_last)
    return images, batch[0]["label"].flatten().long()


def draw_pictures(split: class_folders.Split, work: Path, seed: int) -> None:
    """Draw the graph of the training pipeline, and its results for one photo of each class."""
    rows, columns = min(10, len(split.classes)), 8
    first = [split.train.labels.index(label) for label in range(rows)]
    photos = class_folders.Photos(
        [split.train.files[index] for index in first for _ in range(columns)],
        [split.train.labels[index] for index in first for _ in range(columns)],
    )
    pipeline = training_pipeline(
        photos, shuffle=False, batch_size=len(photos), num_threads=1, device_id=None, seed=seed
    )
    pipeline.build()
    images, _ = pipeline.run()
    pixels = images.as_array().transpose(0, 2, 3, 1) * STANDARD_DEVIATION + MEAN
    sample_grid.draw(
        np.clip(pixels.round(), 0, 255).astype(np.uint8),
        split.classes[:rows],
        work / "train_classifier.png",
    )
    pipeline.save_graph_to_svg_file(work / "train_classifier.svg")


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.train_classifier",
        description="Train a small classifier on photos in class folders.",
    )
    parser.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="class folders, or train/ and val/ with class folders in each "
        "(default: generated photos)",
    )
    options.add_work_folder(parser)
    numbers = {
        "epochs": (10, 1, "passes over the photos"),
        "batch-size": (64, 1, "photos per batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of photos, order and model"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Find or generate the photos, train, measure, and draw the pictures."""
    arguments = read_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        data = arguments.data or generate(arguments.work / "photos", seed=arguments.seed)
        split = class_folders.find(data)
    except (class_folders.ClassFolderError, FileExistsError) as error:
        raise SystemExit(f"train_classifier: {error}") from error
    print(
        f"{len(split.train)} photos to train on, {len(split.held_out)} held out, "
        f"{len(split.classes)} classes"
    )

    torch.manual_seed(arguments.seed)
    settings = {
        "batch_size": arguments.batch_size,
        "num_threads": arguments.threads,
        "device_id": None,
        "seed": arguments.seed,
    }
    training = training_pipeline(split.train, **settings)
    model = make_model(len(split.classes))
    rate = train(model, _loader(training), len(split.train), arguments.epochs)
    print(f"training: {rate:.0f} images/s")

    draw_pictures(split, arguments.work, arguments.seed)
    names = (str(arguments.work / f"train_classifier.{suffix}") for suffix in ("png", "svg"))
    print(f"pictures: {', '.join(names)}")
    held_out = held_out_pipeline(split.held_out, **settings)
    print(f"accuracy: {100 * accuracy(model, _loader(held_out)):.1f} %")


def _loader(pipeline: Pipeline) -> DALIClassificationIterator:
    return DALIClassificationIterator(
        [pipeline], reader_name=READER, auto_reset=True, last_batch_policy=LastBatchPolicy.PARTIAL
    )


if __name__ == "__main__":
    main()
