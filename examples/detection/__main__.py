"""Train a network that detects shapes, and measure how many it finds in held-out pictures.

    python -m examples.detection

Pictures of coloured shapes on textures are drawn first, and written with boxes and masks as a data
set in the format of COCO. A small single-shot detector is trained on random windows of them. Its
recall on held-out pictures is compared with that before training. ``detection.png``, in the work
folder, shows boxes and masks of some pictures before and after augmentation.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from examples.shared import options
from examples.shared.loader import Loader

from .coco import write_data_set
from .dataloading import held_out_pipeline, sample_pipeline, training_pipeline
from .measure import DETECTIONS, IOU, recall
from .model import Detector, detection_loss, make_anchors
from .picture import Panel, draw

_ROWS = 5


def train(model: Detector, loader: Loader, epochs: int) -> list[float]:
    """Train for some epochs, and return the mean loss of each."""
    steps = epochs * len(loader)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, total_steps=steps, pct_start=0.2
    )
    means = []
    with tqdm(total=steps, unit="step", desc="training") as progress:
        for _ in range(epochs):
            losses = []
            for batch in loader:
                deltas, scores = model(batch["images"])
                loss = detection_loss(deltas, scores, batch["deltas"], batch["classes"].long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
                progress.update()
            means.append(sum(losses) / len(losses))
            progress.set_postfix(loss=f"{means[-1]:.2f}")
    return means


def draw_samples(folder: Path, seed: int, picture: Path) -> None:
    """Draw some samples before and after augmentation."""
    pipeline = sample_pipeline(
        folder, batch_size=_ROWS, num_threads=1, device_id=None, seed=seed, prefetch_queue_depth=1
    )
    outputs = pipeline.run()
    samples = [[np.array(output.at(row)) for output in outputs] for row in range(_ROWS)]
    rows = [[Panel(*sample[:4]), Panel(*sample[4:])] for sample in samples]
    draw(rows, ["read", "augmented"], picture)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.detection",
        description="Train a network that detects shapes in generated pictures.",
    )
    options.add_work_folder(parser)
    numbers = {
        "pictures": (600, _ROWS, "pictures to train on"),
        "held-out": (150, 1, "pictures to measure with"),
        "epochs": (20, 1, "passes over the pictures"),
        "batch-size": (16, 1, "pictures in a batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of pictures, augmentation and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the data set, draw samples of it, train, and measure."""
    arguments = read_arguments()
    train_folder, held_out_folder = (
        arguments.work / "shapes" / name for name in ("train", "held_out")
    )
    scenes = write_data_set(train_folder, arguments.pictures, [arguments.seed, 0])
    shapes = sum(len(scene.shapes) for scene in scenes)
    held_out = write_data_set(held_out_folder, arguments.held_out, [arguments.seed, 1])
    print(f"{len(scenes)} pictures of {shapes} shapes to train on, {len(held_out)} held out")
    picture = arguments.work / "detection.png"
    draw_samples(train_folder, arguments.seed, picture)
    print(f"picture: {picture}")

    torch.manual_seed(arguments.seed)
    settings = {
        "batch_size": arguments.batch_size,
        "num_threads": arguments.threads,
        "device_id": None,
        "seed": arguments.seed,
    }
    anchors = make_anchors()
    pipeline = training_pipeline(
        train_folder, anchors.flatten().tolist(), arguments.seed, **settings
    )
    loader = Loader(pipeline, ["images", "deltas", "classes"])
    whole = Loader(held_out_pipeline(held_out_folder, **settings), ["images", "boxes", "labels"])

    model = Detector()
    before = recall(model, whole, anchors)
    start = time.perf_counter()
    losses = train(model, loader, arguments.epochs)
    rate = arguments.epochs * len(scenes) / (time.perf_counter() - start)
    print(f"training: {rate:.0f} pictures/s")
    print(f"loss: {losses[0]:.2f} in the first epoch, {losses[-1]:.2f} in the last")
    after = recall(model, whole, anchors)
    print(
        f"recall of {DETECTIONS} boxes at IoU {IOU}: {before:.1%} before training, "
        f"{after:.1%} after"
    )


if __name__ == "__main__":
    main()
