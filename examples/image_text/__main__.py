"""Train two small networks to match images with captions, and measure on held-out documents.

    python -m examples.image_text

Documents of one to three images of several sizes, and a caption that names what they show, are
written first. Tokens of images are counted from the headers, so that every step has as many
documents as have room. ``image_text.png``, in the work folder, shows held-out documents with the
captions that match best.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch
from tqdm import tqdm

from examples.shared import options

from .dataloading import Step, Steps
from .documents import Documents, write_documents
from .model import Matcher, contrastive_loss, scores
from .picture import Match, draw

_ROWS = 5


class Images:
    """Which document each image is from."""

    def __init__(self, documents: Documents) -> None:
        self._document = torch.repeat_interleave(
            torch.arange(len(documents.counts)), torch.tensor(documents.counts)
        )

    def documents(self, step: Step) -> torch.Tensor:
        """Return the document of each image of a step, counted from 0 in the step."""
        found = self._document[step.image_numbers.long()]
        places: torch.Tensor = torch.unique_consecutive(found, return_inverse=True)[1]
        return places


def train(model: Matcher, steps: Steps, images: Images, epochs: int) -> list[float]:
    """Train for some epochs, and return the mean loss of each."""
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    means = []
    with tqdm(total=epochs * len(steps), unit="step", desc="training") as progress:
        for _ in range(epochs):
            losses = []
            for step in steps:
                loss = contrastive_loss(scores(model, step, images.documents(step)))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
                progress.update()
            means.append(sum(losses) / len(losses))
            progress.set_postfix(loss=f"{means[-1]:.2f}")
    return means


@torch.no_grad()
def best_captions(model: Matcher, steps: Steps, images: Images) -> list[tuple[int, int]]:
    """Return documents, each with the one of its step whose caption matches its images best."""
    found = []
    for samples, step in zip(steps.plan, steps, strict=True):
        best = scores(model, step, images.documents(step)).argmax(1).tolist()
        found += [(int(one), int(samples[place])) for one, place in zip(samples, best, strict=True)]
    return found


def accuracy(captions: list[str], found: list[tuple[int, int]]) -> float:
    """Return the part of the documents whose caption was found, or an equal one."""
    return float(np.mean([captions[one] == captions[other] for one, other in found]))


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.image_text",
        description="Train networks to match images with captions.",
    )
    options.add_work_folder(parser)
    numbers = {
        "documents": (400, 20, "documents to train on"),
        "held-out": (100, _ROWS, "documents to measure with"),
        "epochs": (15, 1, "passes over the documents"),
        "tokens": (1200, 200, "tokens in a step"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of documents, order and networks"),
    }
    return options.read_with_numbers(parser, numbers)


def main() -> None:
    """Write the documents, train, measure, draw."""
    arguments = read_arguments()
    folder = arguments.work / "documents"
    documents = write_documents(folder / "train", arguments.documents, [arguments.seed, 0])
    held_out = write_documents(folder / "held_out", arguments.held_out, [arguments.seed, 1])
    settings = {"tokens": arguments.tokens, "num_threads": arguments.threads}
    steps = Steps(documents, seed=arguments.seed, **settings)
    unseen = Steps(held_out, shuffle=False, **settings)
    report = steps.plan.report()
    print(
        f"{len(documents.counts)} documents with {len(documents.images)} images, "
        f"{report.num_tokens} tokens in {report.num_bins} steps, {report.fill:.1%} filled"
    )
    torch.manual_seed(arguments.seed)
    model = Matcher()
    captions = held_out.captions.read_text().splitlines()
    images, others = Images(documents), Images(held_out)
    before = accuracy(captions, best_captions(model, unseen, others))
    start = time.perf_counter()
    losses = train(model, steps, images, arguments.epochs)
    rate = arguments.epochs * report.num_tokens / (time.perf_counter() - start)
    print(f"training: {rate:.0f} tokens/s")
    print(f"loss: {losses[0]:.2f} in the first epoch, {losses[-1]:.2f} in the last")
    found = best_captions(model, unseen, others)
    after = accuracy(captions, found)
    print(f"captions found for held-out documents: {before:.1%} before training, {after:.1%} after")
    ends = np.cumsum([0, *held_out.counts])
    matches = [
        Match(held_out.images[ends[one] : ends[one + 1]], captions[one], captions[other])
        for one, other in found[:_ROWS]
    ]
    picture = arguments.work / "image_text.png"
    draw(matches, picture)
    print(f"picture: {picture}")
    steps.close()
    unseen.close()


if __name__ == "__main__":
    main()
