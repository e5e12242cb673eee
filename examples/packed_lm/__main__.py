"""Train a small language model on padded, bucketed and packed batches of the same documents.

    python -m examples.packed_lm

Documents of very different lengths are written first, by Markov chains whose entropy is known: no
model has a smaller loss. The same network is then trained in three ways. Tokens per second count
what is no padding. ``packed_lm.png``, in the work folder, shows batches, and losses over time.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from tqdm import tqdm

from examples.shared import options

from .dataloading import WAYS, Batches
from .documents import LETTERS, LONGEST, entropy, write_documents
from .model import LanguageModel, sum_of_losses
from .picture import Curve, draw


def train(batches: Batches, epochs: int, seed: int) -> Curve:
    """Train for some epochs, print a line about it, and return the losses."""
    torch.manual_seed(seed)
    model = LanguageModel(len(LETTERS), LONGEST)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    seconds: list[float] = []
    losses: list[float] = []
    means: list[float] = []
    num_tokens = num_places = 0
    first_segments = torch.zeros(1, 1)
    start = time.perf_counter()
    for _ in range(epochs):
        total, count = 0.0, 0
        for batch in tqdm(batches, unit="step", leave=False, disable=None):
            loss, num_predicted = sum_of_losses(model, batch)
            optimizer.zero_grad()
            (loss / num_predicted).backward()
            optimizer.step()
            if not losses:
                first_segments = batch.segment_ids
            total, count = total + loss.item(), count + num_predicted
            num_tokens += int((batch.segment_ids > 0).sum())
            num_places += batch.tokens.numel()
            seconds.append(time.perf_counter() - start)
            losses.append(loss.item() / num_predicted)
        means.append(total / count)
    print(
        f"{len(losses):6} {1 - num_tokens / num_places:8.1%} {num_tokens / seconds[-1]:10.0f}"
        f" {means[0]:12.3f} {means[-1]:11.3f}"
    )
    return Curve(seconds, losses, first_segments.numpy())


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.packed_lm",
        description="Train a language model on padded, bucketed and packed batches.",
    )
    options.add_work_folder(parser)
    numbers = {
        "documents": (2000, 20, "documents to train on"),
        "epochs": (4, 1, "passes over the documents"),
        "tokens": (1024, LONGEST, "tokens in a batch"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of documents, order and network"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the documents, train in each way, draw."""
    arguments = read_arguments()
    documents: Path = arguments.work / "documents.txt"
    num_letters = write_documents(documents, arguments.documents, arguments.seed)
    print(
        f"{arguments.documents} documents, {num_letters} tokens, entropy {entropy():.3f} nats a "
        "token"
    )
    print(f"{'':9} {'steps':>6} {'padding':>8} {'tokens/s':>10} {'loss: first':>12} {'last':>11}")
    curves = {}
    for way in WAYS:
        print(f"{way:9}", end=" ", flush=True)
        batches = Batches(
            way,
            documents,
            tokens=arguments.tokens,
            mean_length=num_letters / arguments.documents,
            seed=arguments.seed,
            num_threads=arguments.threads,
        )
        curves[way] = train(batches, arguments.epochs, arguments.seed)
        batches.close()
    picture = arguments.work / "packed_lm.png"
    draw(curves, entropy(), picture)
    print(f"picture: {picture}")


if __name__ == "__main__":
    main()
