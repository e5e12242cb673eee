"""Train a 3-D U-Net that finds organs in generated volumes, and measure it on held-out ones.

    python -m examples.volumes

Volumes of a body with a liver and two kidneys, in noise, are written as NIfTI files first. A small
U-Net is trained on patches of them, as many around each organ. Its overlap with the labels of
held-out volumes is compared with that before training. ``volumes.png``, in the work folder, shows
what was found.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from tqdm import tqdm

from examples.shared import options
from examples.shared.loader import Loader

from .dataloading import held_out_pipeline, training_pipeline
from .model import UNet, loss_of, overlaps
from .organs import ORGANS, write_data_set
from .picture import draw

_OUTPUTS = ("image", "labels")
_ROWS = 3


def train(model: UNet, loader: Loader, epochs: int) -> list[float]:
    """Train for some epochs, and return the mean loss of each."""
    steps = epochs * len(loader)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=2e-2, total_steps=steps)
    means = []
    with tqdm(total=steps, unit="step", desc="training") as progress:
        for _ in range(epochs):
            losses = []
            for batch in loader:
                loss = loss_of(model(batch["image"]), batch["labels"][..., 0].long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
                progress.update()
            means.append(sum(losses) / len(losses))
            progress.set_postfix(loss=f"{means[-1]:.2f}")
    return means


@torch.no_grad()
def draw_samples(model: UNet, loader: Loader, picture: Path) -> None:
    """Draw some volumes with what the network finds."""
    batch = next(iter(loader))
    found = model(batch["image"]).argmax(1)
    columns = (batch["image"][:, 0], batch["labels"][..., 0], found)
    draw([[column[row].numpy() for column in columns] for row in range(len(found))], picture)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.volumes",
        description="Train a network that finds organs in generated volumes.",
    )
    options.add_work_folder(parser)
    numbers = {
        "volumes": (48, 1, "volumes to train on"),
        "held-out": (12, _ROWS, "volumes to measure with"),
        "epochs": (20, 1, "passes over the volumes"),
        "batch-size": (4, 1, "patches in a batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of volumes, patches and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the data set, train, measure, and draw samples."""
    arguments = read_arguments()
    folders = [arguments.work / "volumes" / name for name in ("train", "held_out")]
    for number, count in enumerate((arguments.volumes, arguments.held_out)):
        write_data_set(folders[number], count, [arguments.seed, number])
    print(f"{arguments.volumes} volumes to train on, {arguments.held_out} held out")

    torch.manual_seed(arguments.seed)
    settings = {"num_threads": arguments.threads, "device_id": None, "seed": arguments.seed}
    loader = Loader(
        training_pipeline(
            folders[0], arguments.seed, 0.7, batch_size=arguments.batch_size, **settings
        ),
        _OUTPUTS,
    )
    unseen = Loader(held_out_pipeline(folders[1], batch_size=_ROWS, **settings), _OUTPUTS)

    model = UNet()
    before = overlaps(model, unseen)
    start = time.perf_counter()
    losses = train(model, loader, arguments.epochs)
    rate = arguments.epochs * arguments.volumes / (time.perf_counter() - start)
    print(f"training: {rate:.0f} patches/s")
    print(f"loss: {losses[0]:.2f} in the first epoch, {losses[-1]:.2f} in the last")
    for organ, *dice in zip(ORGANS, before, overlaps(model, unseen), strict=True):
        print(f"overlap of {organ}: {dice[0]:.1%} before training, {dice[1]:.1%} after")
    picture = arguments.work / "volumes.png"
    draw_samples(model, unseen, picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
