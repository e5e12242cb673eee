"""``dali-core bench``: how fast this machine loads the images of a folder, or runs a pipeline."""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

from dali_core.commands._options import add_report_options, positive, processors, write_report
from dali_core.errors import ArgumentValueError

if TYPE_CHECKING:
    from dali_core.pipeline import Pipeline

_SIDE = 224
_BATCH_SIZE = 64
_WARM_UP = 3  # batches
_SATURATED = 0.95
_ANY_NUMBER = 2**31 - 1


def add_parser(parsers: Any) -> None:
    """Add the arguments of the command."""
    from dali_core.commands._scripts import add_function_options

    parser = parsers.add_parser(
        "bench",
        help="measure how fast this machine loads images, or runs a pipeline",
        description="Measure images per second of decoding and random resized crops, with 1, 2, 4 "
        "... threads, in turns with PyTorch's DataLoader where that is installed; or samples per "
        "second of a pipeline of a script.",
    )
    parser.add_argument(
        "path",
        metavar="FOLDER|SCRIPT:NAME",
        help="images, also in folders below; or a pipeline",
    )
    parser.add_argument(
        "--batch-size",
        type=positive,
        metavar="N",
        help=f"(by default that of the pipeline, or {_BATCH_SIZE})",
    )
    add_function_options(parser)
    parser.add_argument(
        "--seconds", type=float, default=2.0, metavar="S", help="of a measurement (%(default)s)"
    )
    parser.add_argument("--rounds", type=positive, default=3, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--max-threads", type=positive, default=processors(), metavar="N", help="(%(default)s)"
    )
    add_report_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Measure in rounds, and print medians."""
    counts = thread_counts(options.max_threads)
    if ":" in options.path and not os.path.exists(options.path):
        result = _measure_pipeline(options, counts)
    else:
        result = _measure_images(options, counts)
    write_report(options, {"path": options.path, **result}, _lines(result))
    return 0


def _measure_images(options: argparse.Namespace, counts: Sequence[int]) -> dict[str, Any]:
    from dali_core.commands._media import check_found, list_media

    if options.arg:
        raise ArgumentValueError(
            f"bench: --arg is for functions of scripts (got {options.path!r}, which is none). "
            "Leave it out."
        )
    media, others = list_media(options.path)
    check_found(options.path, media, others)
    files = [file.path for file in media if file.kind == "image"]
    if not files:
        raise ArgumentValueError(
            f"bench: there must be images in {options.path!r} (got none). Name another folder."
        )
    size = min(options.batch_size or _BATCH_SIZE, len(files))
    loaders: dict[str, Loader] = {
        "dali_core": lambda threads: _pipeline_speed(_crops(files, threads, size), options.seconds)
    }
    other = _torch_loader()
    if other is not None:
        open_batches = other[1]
        loaders["torch"] = lambda threads: (
            _per_second(open_batches(files, threads, size, _SIDE), options.seconds),
            "",
        )
    measured = measure(loaders, counts, rounds=options.rounds)
    torch = None if other is None else other[0]
    return {"files": len(files), "batch_size": size, **measured, "torch": torch}


def _measure_pipeline(options: argparse.Namespace, counts: Sequence[int]) -> dict[str, Any]:
    from dali_core.commands._scripts import load_function

    options.target, options.num_threads = options.path, None
    make = load_function(options)
    with closing(make()) as pipeline:
        size = pipeline.max_batch_size

    def measure_speed(threads: int) -> tuple[float, str]:
        return _pipeline_speed(make(num_threads=threads), options.seconds)

    measured = measure({"dali_core": measure_speed}, counts, rounds=options.rounds)
    return {"files": None, "batch_size": size, **measured, "torch": None}


def thread_counts(most: int) -> list[int]:
    """Return 1, 2, 4 and so on, up to a number and with it."""
    return sorted({*(1 << power for power in range(most.bit_length())), most})


Loader = Callable[[int], tuple[float, str]]
"""Returns samples per second with a number of threads, and the diagnosis of the pipeline."""


def measure(loaders: Mapping[str, Loader], counts: Sequence[int], *, rounds: int) -> dict[str, Any]:
    """Measure samples per second with numbers of threads, in turns.

    Parameters
    ----------
    loaders : mapping of str to callable
        ``"dali_core"``, and possibly ``"torch"``.
    counts : sequence of int
        Numbers of threads.
    rounds : int
        Number of measurements of each loader with each of them.

    Returns
    -------
    dict
        In the form of JSON; see the documentation of the command.
    """
    speeds: dict[tuple[str, int], list[float]] = {}
    diagnoses: dict[int, str] = {}
    for _ in range(rounds):
        for threads in counts:
            for name, loader in loaders.items():
                speed, diagnosis = loader(threads)
                speeds.setdefault((name, threads), []).append(speed)
                if diagnosis:
                    diagnoses[threads] = diagnosis
    medians = {key: statistics.median(values) for key, values in speeds.items()}
    ours = {threads: medians["dali_core", threads] for threads in counts}
    saturated = next(
        threads for threads in counts if ours[threads] >= _SATURATED * max(ours.values())
    )
    return {
        "processors": processors(),
        "results": [
            {
                "threads": threads,
                "images_per_second": _spread(speeds["dali_core", threads]),
                "torch_images_per_second": (
                    _spread(speeds["torch", threads]) if "torch" in loaders else None
                ),
            }
            for threads in counts
        ],
        "saturated_at_threads": saturated,
        "diagnosis": diagnoses[saturated],
    }


def _crops(files: Sequence[str], threads: int, size: int) -> Pipeline:
    from dali_core import fn
    from dali_core.pipeline import Pipeline

    pipeline = Pipeline(
        batch_size=size,
        num_threads=threads,
        device_id=None,
        on_sample_error="replace",
        max_bad_samples=_ANY_NUMBER,
    )
    with pipeline:
        encoded, label = fn.readers.file(files=list(files), random_shuffle=True)
        image = fn.random_resized_crop(fn.decoders.image(encoded), size=[_SIDE, _SIDE])
        pipeline.set_outputs(image, label)
    return pipeline


def _pipeline_speed(pipeline: Pipeline, seconds: float) -> tuple[float, str]:
    def batches() -> Iterator[int]:
        for number in range(_ANY_NUMBER):
            if number == _WARM_UP:
                pipeline.reset_statistics()
            try:
                yield len(pipeline.run()[0])
            except StopIteration:  # a source had no more
                pipeline.reset()
                yield len(pipeline.run()[0])

    with closing(pipeline):
        speed = _per_second(batches(), seconds)
        return speed, pipeline.statistics().diagnosis()


def _per_second(batches: Iterator[int], seconds: float) -> float:
    for _ in range(_WARM_UP):
        next(batches)
    images, begin = 0, time.perf_counter()
    while not images or time.perf_counter() < begin + seconds:
        images += next(batches)
    return images / (time.perf_counter() - begin)


def _torch_loader() -> tuple[str, Callable[..., Iterator[int]]] | None:
    if not importlib.util.find_spec("torch") or not importlib.util.find_spec("dali_core_pytorch"):
        return None
    from dali_core_pytorch.crop_loader import loader_name, open_batches

    name = loader_name()
    return None if name is None else (name, open_batches)


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": statistics.median(values), "lowest": min(values), "highest": max(values)}


def _lines(result: dict[str, Any]) -> Iterator[str]:
    images, batches = result["files"], f"batches of {result['batch_size']}"
    yield batches if images is None else f"{images} images, {batches}, crops of {_SIDE} x {_SIDE}"
    yield f"threads  {'samples' if images is None else 'images'}/s (lowest to highest)" + (
        f"  {result['torch']}" if result["torch"] else ""
    )
    for row in result["results"]:
        ours, other = row["images_per_second"], row["torch_images_per_second"]
        line = f"{row['threads']:7}  {_text(ours):29}"
        if other is not None:
            line += f"  {_text(other)}, ratio {ours['median'] / other['median']:.2f}"
        yield line.rstrip()
    saturated, available = result["saturated_at_threads"], result["processors"]
    yield f"saturated with {_counted(saturated, 'thread')}; {_counted(available, 'processor')}"
    yield result["diagnosis"]


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _text(spread: dict[str, float]) -> str:
    return f"{spread['median']:.0f} ({spread['lowest']:.0f} to {spread['highest']:.0f})"
