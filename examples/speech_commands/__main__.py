"""Train a network that tells generated words apart, and measure it on held-out ones.

    python -m examples.speech_commands

Words of three tones, in noise, are written as WAV, FLAC and Ogg files first. A small network is
trained on their log-mel spectrograms, at random speeds. Its accuracy on held-out words is compared
with that before training. ``speech_commands.png``, in the work folder, shows spectrograms.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from tqdm import tqdm

from examples.shared import options
from examples.shared.loader import Loader

from .dataloading import held_out_pipeline, sample_pipeline, training_pipeline
from .model import Network, accuracy
from .picture import draw
from .sounds import FORMATS, WORDS, write_data_set

_ROWS = 5
_OUTPUTS = ("spectra", "labels")


def train(model: Network, loader: Loader, epochs: int) -> list[float]:
    """Train for some epochs, and return the mean loss of each."""
    steps = epochs * len(loader)
    optimizer = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=steps)
    means = []
    with tqdm(total=steps, unit="step", desc="training") as progress:
        for _ in range(epochs):
            losses = []
            for batch in loader:
                scores = model(batch["spectra"][:, None])
                loss = functional.cross_entropy(scores, batch["labels"][:, 0].long())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
                progress.update()
            means.append(sum(losses) / len(losses))
            progress.set_postfix(loss=f"{means[-1]:.2f}")
    return means


def draw_samples(listing: Path, picture: Path) -> None:
    """Draw some sounds and their spectrograms."""
    pipeline = sample_pipeline(
        listing, batch_size=_ROWS, num_threads=1, device_id=None, prefetch_queue_depth=1
    )
    sounds, whole, cut = ([np.array(batch.at(i)) for i in range(_ROWS)] for batch in pipeline.run())
    draw(list(zip(sounds, whole, cut, strict=True)), picture)


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.speech_commands",
        description="Train a network that tells generated words apart.",
    )
    options.add_work_folder(parser)
    numbers = {
        "sounds": (400, _ROWS, "sounds to train on"),
        "held-out": (150, 1, "sounds to measure with"),
        "epochs": (8, 1, "passes over the sounds"),
        "batch-size": (40, 2, "sounds in a batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of sounds, augmentation and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the data set, draw samples of it, train, and measure."""
    arguments = read_arguments()
    folder = arguments.work / "words"
    listing = write_data_set(folder / "train", arguments.sounds, [arguments.seed, 0])
    held_out = write_data_set(folder / "held_out", arguments.held_out, [arguments.seed, 1])
    print(
        f"{arguments.sounds} sounds of {len(WORDS)} words to train on, {arguments.held_out} held "
        f"out: {', '.join(FORMATS)}"
    )
    picture = arguments.work / "speech_commands.png"
    draw_samples(listing, picture)
    print(f"picture: {picture}")

    torch.manual_seed(arguments.seed)
    settings = {
        "batch_size": arguments.batch_size,
        "num_threads": arguments.threads,
        "device_id": None,
        "seed": arguments.seed,
    }
    loader = Loader(training_pipeline(listing, arguments.seed, **settings), _OUTPUTS)
    unseen = Loader(held_out_pipeline(held_out, **settings), _OUTPUTS)

    model = Network()
    before = accuracy(model, unseen)
    start = time.perf_counter()
    losses = train(model, loader, arguments.epochs)
    rate = arguments.epochs * arguments.sounds / (time.perf_counter() - start)
    print(f"training: {rate:.0f} sounds/s")
    print(f"loss: {losses[0]:.2f} in the first epoch, {losses[-1]:.2f} in the last")
    after = accuracy(model, unseen)
    print(f"accuracy on held-out sounds: {before:.1%} before training, {after:.1%} after")


if __name__ == "__main__":
    main()
