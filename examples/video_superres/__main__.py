"""Train a network that doubles the resolution of videos, and compare it with bicubic.

    python -m examples.video_superres

Videos of moving text, textures and gradients are drawn first, in H.264, HEVC, VP9, MPEG-4 and AV1.
Random crops of random clips of them train a small network. On held-out videos, its peak
signal-to-noise ratio is compared with that of bicubic interpolation, and ``video_superres.png`` is
written to the work folder: low resolution, bicubic, ours and the original.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import torch
from torch.nn import functional
from tqdm import tqdm

from examples.shared import options

from .dataloading import DALILoader
from .model import SCALE, SuperResolution, enlarge, middle, psnr, shrink
from .picture import Column, draw
from .videos import FORMATS, HELD_OUT, TRAIN, Size, generate

_ROWS = 3
_DETAIL = 80  # side of the crops in the picture, in pixels of the original


def reading_rate(loader: DALILoader) -> float:
    """Return the number of frames per second of an epoch without training."""
    start, frames = time.perf_counter(), 0
    for batch in loader:
        clips = batch[0]["data"]
        frames += clips.shape[0] * clips.shape[2]
    return frames / (time.perf_counter() - start)


def train(
    model: SuperResolution, loader: DALILoader, epochs: int, frames: int, batch_size: int
) -> float:
    """Train for some epochs, and return the number of frames per second."""
    steps = epochs * -(-len(loader) // batch_size)
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=3e-3, total_steps=steps, pct_start=0.1
    )
    start, total = time.perf_counter(), epochs * len(loader) * frames
    with tqdm(total=total, unit="frame", unit_scale=True, desc="training") as progress:
        for epoch in range(epochs):
            for inputs in loader:
                clips = inputs[0]["data"] / 255
                loss = functional.l1_loss(model(shrink(clips)), middle(clips))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                progress.update(len(clips) * frames)
                progress.set_postfix(epoch=f"{epoch + 1}/{epochs}", loss=f"{loss.item():.4f}")
    return total / (time.perf_counter() - start)


@torch.no_grad()
def evaluate(model: SuperResolution, loader: DALILoader, picture: Path) -> tuple[float, float]:
    """Return the mean PSNR of bicubic and of the model on all clips, and draw some of them."""
    ratios, seen = [], []
    for inputs in loader:
        clips = inputs[0]["data"] / 255
        low, truth = shrink(clips), middle(clips)
        bicubic, ours = enlarge(middle(low)), model(low)
        ratios.append(torch.stack([psnr(bicubic, truth), psnr(ours, truth)]))
        seen += list(zip(middle(low), bicubic, ours, truth, strict=True))
    both = torch.cat(ratios, dim=1)
    shown = [(2 * row + 1) * len(seen) // (2 * _ROWS) for row in range(_ROWS)]
    columns = []
    for place, name in enumerate(("low resolution", "bicubic", "ours", "truth")):
        side = _DETAIL // SCALE if place == 0 else _DETAIL
        images = [_middle_part(seen[index][place], side) for index in shown]
        notes = [f"{both[place - 1, index]:.1f} dB" if place in (1, 2) else "" for index in shown]
        columns.append(Column(name, images, notes))
    draw(columns, picture)
    bicubic_mean, our_mean = both.mean(dim=1).tolist()
    return bicubic_mean, our_mean


def _middle_part(image: torch.Tensor, side: int) -> torch.Tensor:
    height, width = image.shape[1:]
    top, left = (height - side) // 2, (width - side) // 2
    return image[:, top : top + side, left : left + side]


def read_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.video_superres",
        description="Train a network that doubles the resolution of videos.",
    )
    options.add_work_folder(parser)
    numbers = {
        "videos": (20, 1, "videos to train on"),
        "length": (40, 1, "frames of a video"),
        "epochs": (8, 1, "passes over the videos"),
        "batch-size": (8, 1, "clips in a batch"),
        "frames": (3, 1, "frames in a clip"),
        "crop-size": (64, 1, "side of the parts that are trained on, in pixels"),
        "threads": (2, 1, "threads of a pipeline"),
        "seed": (0, 0, "seed of videos, clips and network"),
    }
    arguments = options.read_with_numbers(parser, numbers)
    if arguments.length < arguments.frames:
        parser.error(
            f"--frames: must be at most the {arguments.length} frames of a video "
            f"(got {arguments.frames})."
        )
    size = Size()
    if arguments.crop_size % SCALE or arguments.crop_size > min(size.height, size.width):
        parser.error(
            f"--crop-size: must be a multiple of {SCALE} and at most "
            f"{min(size.height, size.width)} (got {arguments.crop_size})."
        )
    return arguments


def main() -> None:
    """Draw the videos, train, measure, and draw the picture."""
    arguments = read_arguments()
    arguments.work.mkdir(parents=True, exist_ok=True)
    held_out = max(_ROWS, arguments.videos // 4)
    size = Size(videos=arguments.videos, held_out=held_out, frames=arguments.length)
    try:
        videos = generate(arguments.work / "videos", size, arguments.seed)
    except FileExistsError as error:
        raise SystemExit(f"video_superres: {error}") from error
    codecs = ", ".join(form.name for form in FORMATS[: arguments.videos])
    print(f"{size.videos} videos to train on, {size.held_out} held out: {codecs}")

    torch.manual_seed(arguments.seed)
    settings = {"num_threads": arguments.threads, "seed": arguments.seed}
    loader = DALILoader(
        arguments.batch_size,
        videos / TRAIN,
        arguments.frames,
        [arguments.crop_size, arguments.crop_size],
        **settings,
    )
    print(f"reading: {reading_rate(loader):.0f} frames/s")
    model = SuperResolution(arguments.frames)
    rate = train(model, loader, arguments.epochs, arguments.frames, arguments.batch_size)
    print(f"training: {rate:.0f} frames/s")

    whole = DALILoader(
        1, videos / HELD_OUT, arguments.frames, [size.height, size.width], shuffle=False, **settings
    )
    picture = arguments.work / "video_superres.png"
    bicubic, ours = evaluate(model, whole, picture)
    print(f"picture: {picture}")
    print(f"bicubic: {bicubic:.2f} dB, ours: {ours:.2f} dB ({ours - bicubic:+.2f} dB)")


if __name__ == "__main__":
    main()
