"""Train a residual network on ImageNet, or any class folders, in one or many processes.

    torchrun --nproc-per-node=8 -m examples.imagenet_pytorch --data FOLDER
    python -m examples.imagenet_pytorch --data FOLDER        # one process

Every process reads its own shard of each epoch, and all have the same number of batches, so none
waits for another at the end. `--batch-size` is the global batch size: with interleaved shards,
every step trains on the same samples for any number of processes.

The first process regularly saves model, optimizer and the loader's state. If the program is started
again with the same ``--work``, it resumes with the sample after the last one trained on, on any
number of processes; ``torchrun --max-restarts=3`` does that automatically when a process dies. GPUs
are used if available (nccl), else processors (gloo). ``imagenet_pytorch.png``, in the work folder,
shows training samples.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from dali_core import DataNode, fn, pipeline_def, types
from dali_core.plugin.base_iterator import IncompleteEpochWarning
from dali_core.plugin.pytorch import DALIGenericIterator, LastBatchPolicy
from examples.photos import generate
from examples.shared import class_folders, options, sample_grid

READER = "photos"
MEAN = [0.485 * 255, 0.456 * 255, 0.406 * 255]
STANDARD_DEVIATION = [0.229 * 255, 0.224 * 255, 0.225 * 255]


@dataclass(frozen=True)
class Process:
    """One process of a distributed job.

    Attributes
    ----------
    rank, world_size : int
        Its rank, and the number of processes.
    device : torch.device
        The device that it computes on.
    """

    rank: int
    world_size: int
    device: torch.device

    @classmethod
    def from_environment(cls) -> Process:
        """Join the process group of ``torchrun``; without it there is only this process."""
        rank, world_size = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        device = torch.device("cpu")
        if torch.cuda.is_available():
            device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0")))
            torch.cuda.set_device(device)
        if world_size > 1:
            # Restarted processes must not find the addresses of their predecessors.
            attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
            store, rank, world_size = next(dist.rendezvous("env://"))
            dist.init_process_group(
                "nccl" if device.type == "cuda" else "gloo",
                store=dist.PrefixStore(f"attempt {attempt}", store),
                rank=rank,
                world_size=world_size,
            )
        return cls(rank, world_size, device)

    def sum(self, *numbers: float) -> list[float]:
        """Sum numbers over all processes."""
        total = torch.tensor(numbers, dtype=torch.float64, device=self.device)
        if self.world_size > 1:
            dist.all_reduce(total)
        return [float(number) for number in total.tolist()]


@pipeline_def(device_id=None)
def training_pipeline(
    files: Sequence[str], process: Process, side: int, order: int
) -> tuple[DataNode, DataNode]:
    """Return random crops and the indices of their files; `order` is the seed of the shuffling."""
    encoded, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        random_shuffle=True,
        seed=order,
        shard_id=process.rank,
        num_shards=process.world_size,
        interleaved_shards=True,
        pad_last_batch=True,
        name=READER,
    )
    image = fn.decoders.image_random_crop(
        encoded, output_type=types.RGB, random_area=[0.25, 1.0], random_aspect_ratio=[0.75, 1.33]
    )
    image = fn.resize(image, size=[side, side])
    return _normalise(image, side, mirror=fn.random.coin_flip()), number


@pipeline_def(device_id=None)
def held_out_pipeline(
    files: Sequence[str], process: Process, side: int
) -> tuple[DataNode, DataNode]:
    """Return the centre crop of each photo and the index of its file."""
    encoded, number = fn.readers.file(
        files=files,
        labels=list(range(len(files))),
        shard_id=process.rank,
        num_shards=process.world_size,
        stick_to_shard=True,
        pad_last_batch=True,
        name=READER,
    )
    image = fn.decoders.image(encoded, output_type=types.RGB)
    image = fn.resize(image, resize_shorter=round(side * 8 / 7))
    return _normalise(image, side), number


def _normalise(image: DataNode, side: int, mirror: DataNode | int = 0) -> DataNode:
    return fn.crop_mirror_normalize(
        image,
        crop=[side, side],
        mirror=mirror,
        mean=MEAN,
        std=STANDARD_DEVIATION,
        dtype=types.FLOAT,
        output_layout="CHW",
    )


class Residual(nn.Module):
    """Two convolutions with a shortcut, as in ResNet-18."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(inplace=True),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
        )

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        """Add the shortcut."""
        return torch.relu(self.body(image) + self.shortcut(image))


def make_model(num_classes: int, width: int) -> nn.Sequential:
    """Stack residual blocks of `width`, 2, 4 and 8 times as many channels."""
    widths = [width, width, 2 * width, 4 * width, 8 * width]
    blocks = [
        Residual(inputs, outputs, stride=1 if number == 0 else 2)
        for number, (inputs, outputs) in enumerate(pairwise(widths))
    ]
    return nn.Sequential(
        nn.Conv2d(3, width, 7, 2, padding=3, bias=False),
        nn.BatchNorm2d(width),
        nn.ReLU(inplace=True),
        nn.MaxPool2d(3, 2, padding=1),
        *blocks,
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8 * width, num_classes),
    )


class Training:
    """The training state, with everything that a checkpoint contains."""

    def __init__(
        self, arguments: argparse.Namespace, split: class_folders.Split, process: Process
    ) -> None:
        self.arguments = arguments
        self.process = process
        self.classes = torch.tensor(split.train.labels, device=process.device)
        # Repeated photos are wanted: they give all processes the same full batches.
        warnings.simplefilter("ignore", IncompleteEpochWarning)
        self.loader = DALIGenericIterator(
            training_pipeline(
                split.train.files,
                process,
                arguments.side,
                arguments.seed,
                batch_size=arguments.batch_size // process.world_size,
                num_threads=arguments.threads,
                seed=arguments.seed,
            ),
            ["image", "number"],
            reader_name=READER,
            auto_reset=True,
            last_batch_policy=LastBatchPolicy.FILL,
        )
        torch.manual_seed(arguments.seed)
        self.model = make_model(len(split.classes), arguments.width).to(process.device)
        self.parallel: nn.Module = self.model
        if process.world_size > 1:
            self.parallel = DistributedDataParallel(self.model)
        self.optimizer = torch.optim.SGD(
            self.model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-5, nesterov=True
        )
        self.schedule = torch.optim.lr_scheduler.OneCycleLR(
            self.optimizer,
            max_lr=arguments.learning_rate,
            total_steps=arguments.epochs * len(self.loader),
        )
        self.epoch = 0

    def run_epoch(self, record: TextIO | None) -> float:
        """Train on the rest of the epoch, and return the mean loss of its batches."""
        self.parallel.train()
        losses: list[float] = []
        for (batch,) in self.loader:
            numbers = batch["number"].flatten().to(self.process.device)
            if record is not None:
                step = self.schedule.last_epoch + 1
                print(self.epoch, step, *numbers.tolist(), file=record, flush=True)
            images = batch["image"].to(self.process.device, non_blocking=True)
            loss = nn.functional.cross_entropy(self.parallel(images), self.classes[numbers])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            losses.append(loss.item())
            if self.schedule.last_epoch % self.arguments.save_every == 0:
                self.save()
        self.epoch += 1
        self.save()
        mean, count = self.process.sum(sum(losses), len(losses))
        return mean / max(count, 1)

    def save(self) -> None:
        """Save a checkpoint from one process, atomically."""
        if self.process.rank != 0:
            return
        state = {
            "epoch": self.epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "loader": self.loader.state_dict(),
        }
        unfinished = self._file.with_suffix(".unfinished")
        torch.save(state, unfinished)
        unfinished.replace(self._file)

    def resume(self) -> bool:
        """Resume from the last checkpoint, if there is one."""
        if not self._file.exists():
            return False
        state: dict[str, Any] = torch.load(self._file, map_location=self.process.device)
        self.epoch = state["epoch"]
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.schedule.load_state_dict(state["schedule"])
        self.loader.load_state_dict(state["loader"])
        return True

    @property
    def _file(self) -> Path:
        return Path(self.arguments.work) / "last.pt"


@torch.no_grad()
def accuracy(
    model: nn.Module, photos: class_folders.Photos, arguments: argparse.Namespace, process: Process
) -> float:
    """Return the accuracy; each process evaluates its own shard."""
    pipeline = held_out_pipeline(
        photos.files,
        process,
        arguments.side,
        batch_size=arguments.batch_size // process.world_size,
        num_threads=arguments.threads,
    )
    # Without the padding of the last batch.
    loader = DALIGenericIterator(
        pipeline,
        ["image", "number"],
        reader_name=READER,
        last_batch_policy=LastBatchPolicy.PARTIAL,
    )
    classes = torch.tensor(photos.labels, device=process.device)
    model.eval()
    right = total = 0
    for (batch,) in loader:
        numbers = batch["number"].flatten().to(process.device)
        if len(numbers):
            found = model(batch["image"].to(process.device)).argmax(1)
            right += int((found == classes[numbers]).sum())
            total += len(numbers)
    pipeline.close()
    all_right, all_photos = process.sum(right, total)
    return all_right / all_photos


def draw_samples(
    arguments: argparse.Namespace, split: class_folders.Split, process: Process, picture: Path
) -> None:
    """Draw a batch of training samples, by class."""
    pipeline = training_pipeline(
        split.train.files,
        process,
        arguments.side,
        arguments.seed,
        batch_size=min(64, arguments.batch_size),
        num_threads=arguments.threads,
        prefetch_queue_depth=1,
        seed=arguments.seed,
    )
    images, numbers = pipeline.run()
    labels = [split.train.labels[number] for number in numbers.as_array().ravel()]
    pixels = images.as_array().transpose(0, 2, 3, 1) * np.array(STANDARD_DEVIATION) + MEAN
    sample_grid.draw_by_class(pixels, labels, split.classes, picture)
    pipeline.close()


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.imagenet_pytorch",
        description="Train a residual network on class folders, in one or many processes.",
    )
    add = parser.add_argument
    add("--data", type=Path, help="train/ and val/ with class folders (default: generated photos)")
    options.add_work_folder(parser)
    add("--learning-rate", type=float, default=0.5, help="the largest one (%(default)s)")
    add("--record", type=Path, help="write each process' samples of each step into this folder")
    numbers = {
        "epochs": (90, 1, "passes over the photos"),
        "batch-size": (256, 1, "photos in a batch of all processes"),
        "side": (224, 1, "pixels of the square that is seen"),
        "width": (64, 1, "channels of the first layer"),
        "threads": (4, 1, "threads of the loader in each process"),
        "save-every": (500, 1, "steps between checkpoints"),
        "seed": (0, 0, "seed of order, crops and model"),
    }
    arguments = options.read_with_numbers(parser, numbers)
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if arguments.batch_size % world_size:
        parser.error(
            f"--batch-size: must be a positive multiple of the {world_size} processes (got "
            f"{arguments.batch_size})."
        )
    return arguments


def main() -> None:
    """Train, print the progress, and save checkpoints."""
    arguments = read_arguments()
    process = Process.from_environment()
    say = print if process.rank == 0 else _say_nothing
    arguments.work.mkdir(parents=True, exist_ok=True)
    try:
        if arguments.data is None and process.rank == 0:
            generate(arguments.work / "photos")
        process.sum()  # wait for the photos
        split = class_folders.find(arguments.data or arguments.work / "photos")
    except (class_folders.ClassFolderError, FileExistsError) as error:
        raise SystemExit(f"imagenet_pytorch: {error}") from error
    training = Training(arguments, split, process)
    if training.resume():
        say(f"resumed in epoch {training.epoch + 1} after {training.schedule.last_epoch} steps")
    elif process.rank == 0:
        draw_samples(arguments, split, process, arguments.work / "imagenet_pytorch.png")
    record = None
    if arguments.record is not None:
        arguments.record.mkdir(parents=True, exist_ok=True)
        record = (arguments.record / f"rank{process.rank}.txt").open("a", encoding="utf-8")
    while training.epoch < arguments.epochs:
        loss = training.run_epoch(record)
        share = accuracy(training.model, split.held_out, arguments, process)
        say(f"epoch {training.epoch}: loss {loss:.3f}, held out {100 * share:.1f} % right")
    if process.world_size > 1:
        dist.destroy_process_group()


def _say_nothing(text: str) -> None:
    pass


if __name__ == "__main__":
    main()
