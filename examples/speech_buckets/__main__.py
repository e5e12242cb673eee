"""Train a network on words that are said once or many times, in batches by duration.

    python -m examples.speech_buckets

Sounds of the speech example's words are written first: each has one word, up to eight times. Their
durations are read from the headers. The same network is trained on random batches, on buckets and
on batches under a budget, for as many epochs. ``speech_buckets.png``, in the work folder, shows
batches of each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from torch.nn import functional
from tqdm import tqdm

from dali_core.pytorch import Loader
from examples.shared import options
from examples.speech_commands.sounds import WORDS

from .dataloading import WAYS, make_loader
from .model import Network, accuracy
from .picture import draw
from .sounds import durations, write_data_set

_BATCHES_DRAWN = 4


def train(model: Network, loader: Loader, epochs: int) -> tuple[str, list[list[int]]]:
    """Train for some epochs.

    Returns
    -------
    str
        Steps, padding, sounds per second, and the loss in the last epoch.
    list of list of int
        The frames of each sound of the first batches.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    drawn: list[list[int]] = []
    num_steps = num_frames = num_places = num_sounds = 0
    mean = 0.0
    start = time.perf_counter()
    for _ in range(epochs):
        losses = 0.0
        count = 0
        for spectra, mask, labels in tqdm(loader, unit="step", leave=False, disable=None):
            loss = functional.cross_entropy(model(spectra, mask), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if len(drawn) < _BATCHES_DRAWN:
                drawn.append(mask.sum(1).tolist())
            num_steps, num_sounds = num_steps + 1, num_sounds + len(labels)
            num_frames, num_places = num_frames + int(mask.sum()), num_places + mask.numel()
            losses, count = losses + loss.item() * len(labels), count + len(labels)
        mean = losses / count
    rate = num_sounds / (time.perf_counter() - start)
    return f"{num_steps:6} {1 - num_frames / num_places:8.1%} {rate:9.0f} {mean:6.2f}", drawn


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.speech_buckets",
        description="Train a network on sounds in batches by duration.",
    )
    options.add_work_folder(parser)
    numbers = {
        "sounds": (600, 20, "sounds to train on"),
        "held-out": (150, 1, "sounds to measure with"),
        "epochs": (6, 1, "passes over the sounds"),
        "frames": (4000, 100, "frames of 10 ms in a batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of sounds, order and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the data set, train in each way, measure, draw."""
    arguments = read_arguments()
    folder: Path = arguments.work / "repeated_words"
    listing = write_data_set(folder / "train", arguments.sounds, [arguments.seed, 0])
    held_out = write_data_set(folder / "held_out", arguments.held_out, [arguments.seed, 1])
    lengths = durations(listing)
    print(
        f"{arguments.sounds} sounds of {len(WORDS)} words, {lengths.min() / 100:.1f} to "
        f"{lengths.max() / 100:.1f} seconds, {arguments.held_out} held out"
    )
    print(f"{'':8} {'steps':>6} {'padding':>8} {'sounds/s':>9} {'loss':>6} {'accuracy':>9}")
    settings = {"frames": arguments.frames, "num_threads": arguments.threads}
    batches = {}
    for way in WAYS:
        torch.manual_seed(arguments.seed)
        model = Network()
        with (
            make_loader(way, listing, seed=arguments.seed, **settings) as loader,
            make_loader("budget", held_out, shuffle=False, **settings) as unseen,
        ):
            line, batches[way] = train(model, loader, arguments.epochs)
            print(f"{way:8} {line} {accuracy(model, unseen):9.1%}", flush=True)
    picture = arguments.work / "speech_buckets.png"
    draw(batches, picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
