"""Measure transforms against torchvision: ``python -m benchmarks.torchvision_compose``.

Both compute the same photos in turns, in one thread, from images of Pillow. The loaders read the
same folder: torchvision's with worker processes, ours with as many threads, first epochs excluded.
Times of transforms are those of the processor; those of loaders are elapsed times.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.command import find_photos
from benchmarks.summary import quartiles, ratio_of_medians

MOMENTS = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def transforms(module: Any, torch: Any) -> dict[str, Any]:
    """Return transforms of torchvision, or ours of the same names."""
    tensor = [
        module.ToImage(),
        module.ToDtype(torch.float32, scale=True),
        module.Normalize(*MOMENTS),
    ]
    jitter = module.ColorJitter(0.4, 0.4, 0.4, 0.1)
    evaluation = [module.Resize(256), module.CenterCrop(224)]
    training = [module.RandomResizedCrop(224), module.RandomHorizontalFlip()]
    return {
        "resize, crop, normalise": module.Compose([*evaluation, *tensor]),
        "random crop, flip, normalise": module.Compose([*training, *tensor]),
        "resize, crop, flip, jitter, normalise": module.Compose(
            [*evaluation, module.RandomHorizontalFlip(), jitter, *tensor]
        ),
        "jitter": module.Compose([jitter]),
        "blur": module.Compose([module.GaussianBlur(5)]),
        "random augmentation": module.Compose([module.RandAugment()]),
    }


def milliseconds(run: Callable[[Any], object], images: Sequence[Any]) -> float:
    """Return the processor time for one image."""
    start = time.process_time()
    for image in images:
        run(image)
    return 1000 * (time.process_time() - start) / len(images)


def rate(loader: Any, count: int) -> float:
    """Return how many photos a second an epoch has."""
    start = time.perf_counter()
    for _ in loader:
        pass
    return count / (time.perf_counter() - start)


def report(name: str, ours: Sequence[float], theirs: Sequence[float], unit: str) -> None:
    """Print medians with quartiles, and how many times faster ours is."""
    one, other = quartiles(ours), quartiles(theirs)
    is_time = unit == "ms"
    ratio = ratio_of_medians(theirs, ours) if is_time else ratio_of_medians(ours, theirs)
    print(
        f"{name:40}{one.median:8.2f} [{one.low:.2f}, {one.high:.2f}]"
        f"{other.median:9.2f} [{other.low:.2f}, {other.high:.2f}] {unit}"
        f"{ratio.median:7.2f}x [{ratio.low:.2f}, {ratio.high:.2f}]",
        flush=True,
    )


def main() -> None:
    """Read the command line, measure, report."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="JPEG files")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--photos", type=int, default=32, help="for transforms")
    parser.add_argument("--threads", type=int, default=2, help="of loaders")
    arguments = parser.parse_args()

    import torch
    from PIL import Image
    from torchvision.datasets import ImageFolder
    from torchvision.transforms import v2

    from dali_core import torchvision as ours

    torch.set_num_threads(1)
    files = find_photos(arguments.data, 512)
    images = []
    for file in files[: arguments.photos]:
        with Image.open(file) as image:
            images.append(image.convert("RGB"))
    print(f"{'':40}{'dali_core':>12}{'torchvision':>25}")
    theirs, mine = transforms(v2, torch), transforms(ours, torch)
    for name in theirs:
        pairs: tuple[list[float], list[float]] = ([], [])
        for number in range(arguments.rounds + 1):
            sides = [(theirs[name], pairs[0]), (mine[name], pairs[1])]
            for transform, times in sides[:: 1 if number % 2 else -1]:
                times.append(milliseconds(transform, images))
        report(name, pairs[1][1:], pairs[0][1:], "ms")

    with tempfile.TemporaryDirectory() as folder:
        for number, file in enumerate(files):
            place = Path(folder) / f"{number % 10}"
            place.mkdir(exist_ok=True)
            (place / f"{number}.jpg").symlink_to(Path(file).resolve())
        dataset = ImageFolder(folder, theirs["random crop, flip, normalise"])
        loader = torch.utils.data.DataLoader(
            dataset,
            batch_size=64,
            shuffle=True,
            num_workers=arguments.threads,
            persistent_workers=True,
        )
        faster = ours.accelerate(loader)
        rates: tuple[list[float], list[float]] = ([], [])
        for number in range(max(arguments.rounds // 2, 2) + 1):
            both = [(loader, rates[0]), (faster, rates[1])]
            for each, found in both[:: 1 if number % 2 else -1]:
                found.append(rate(each, len(dataset)))
        report("accelerate(DataLoader(ImageFolder))", rates[1][1:], rates[0][1:], "photos/s")


if __name__ == "__main__":
    main()
