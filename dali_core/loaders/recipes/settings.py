"""Options that the functions for folders have in common."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypedDict

from dali_core.errors import ArgumentConflictError, ArgumentTypeError, ArgumentValueError
from dali_core.loaders.options import LastBatch
from dali_core.loaders.recipes.program import call, literal, options

Folder: TypeAlias = "str | os.PathLike[str]"


class FolderOptions(TypedDict, total=False):
    """Keyword arguments of every function for folders; see `FolderLoaders`."""

    batch_size: int
    train: bool
    num_threads: int | None
    seed: int
    shard_id: int | None
    num_shards: int | None
    last_batch: LastBatch
    device: Any
    channels_last: bool
    steps_per_epoch: int | None


class ImageOptions(FolderOptions, total=False):
    """Those of functions for images."""

    size: int | Sequence[int]
    mean: Sequence[float]
    std: Sequence[float]


class TableOptions(ImageOptions, total=False):
    """Those of `FolderLoaders.csv_folder`."""

    root: Folder | None
    path: str
    columns: Sequence[str] | None


class AudioOptions(FolderOptions, total=False):
    """Those of `FolderLoaders.audio_folder`."""

    seconds: float
    sample_rate: int
    num_mels: int | None


class VideoOptions(ImageOptions, total=False):
    """Those of `FolderLoaders.video_folder`."""

    num_frames: int
    stride: int


@dataclass(frozen=True)
class Target:
    """The framework that a loader is for.

    Attributes
    ----------
    module : str
        Module that has its `Loader`.
    layout : str
        Axes of its images: ``"CHW"`` or ``"HWC"``.
    """

    module: str
    layout: str


@dataclass(frozen=True)
class Settings:
    """Options of a loader for a folder, checked.

    Attributes
    ----------
    target : Target
        The framework.
    train : bool
        Whether samples are shuffled and augmented.
    file_names : bool
        Whether batches have the names of the files.
    pipeline, reader, loader : dict
        Keywords of `pipeline_def`, of readers and of `Loader`.
    """

    target: Target
    train: bool
    file_names: bool = False
    pipeline: Mapping[str, Any] = field(default_factory=dict)
    reader: Mapping[str, Any] = field(default_factory=dict)
    loader: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        target: Target,
        given: Mapping[str, Any],
        function: str,
        *,
        as_dict: bool = False,
        file_names: bool = False,
    ) -> Settings:
        """Check options that were given.

        Raises
        ------
        ArgumentTypeError, ArgumentValueError, ArgumentConflictError
            If there is an unknown one, or one that is impossible.
        """
        rest = dict(given)
        samples = integer("batch_size", rest.pop("batch_size", 64), 1)
        train = rest.pop("train", True)
        if not isinstance(train, bool):
            raise ArgumentTypeError(f"train: must be True or False (got {train!r:.100}).")
        threads = rest.pop("num_threads", None)
        threads = _processors() if threads is None else integer("num_threads", threads, 1)
        seed = integer("seed", rest.pop("seed", 0), 0)
        shard = (rest.pop("shard_id", None), rest.pop("num_shards", None))
        shard_id, num_shards = _shard(target, *shard)
        for name, value in (("as_dict", as_dict), ("file_names", file_names)):
            if not isinstance(value, bool):
                raise ArgumentTypeError(f"{name}: must be True or False (got {value!r:.100}).")
        # A device of PyTorch is known by its text.
        if (device := rest.pop("device", None)) is not None:
            rest["device"] = device if isinstance(device, int) else str(device)
        known = {*FolderOptions.__annotations__, "as_dict", "file_names"}
        if unknown := sorted(set(rest) - known):
            hint = f"(its options are {', '.join(sorted(known))})."
            hint = _ARGUMENTS_ELSEWHERE.get(unknown[0], hint)
            raise ArgumentTypeError(
                f"{function}: {unknown[0]!r} is no argument {hint} For all else, start from the "
                "program that code() returns."
            )
        shuffle = {"random_shuffle": True, "seed": seed} if train else {}
        if as_dict:
            rest["as_dict"] = True
        return cls(
            target,
            train,
            file_names,
            {"batch_size": samples, "num_threads": threads, "device_id": None, "seed": seed},
            shuffle | ({"shard_id": shard_id, "num_shards": num_shards} if num_shards > 1 else {}),
            rest,
        )

    def text(
        self,
        title: str,
        steps: Sequence[str],
        names: Sequence[str],
        *,
        before: str = "",
        core: Sequence[str] = (),
        files: str = "files",
        helpers: Sequence[str] = (),
    ) -> str:
        """Return a whole program.

        Parameters
        ----------
        title : str
            Its first line.
        steps : sequence of str
            Lines of the pipeline, of which the first reads the files.
        names : sequence of str
            Names of its outputs, which are its variables.
        before : str
            What is computed before the pipeline.
        core, helpers : sequence of str
            More names that are imported from `dali_core` and `dali_core.loaders`.
        files : str
            Variable of the first step that has the files.
        """
        loader_options = dict(self.loader)
        if self.file_names:
            # The names of what has been read, before anything else has the name of the variable.
            steps = [
                steps[0],
                call(f"{_FILE_NAMES} = fn.get_property", [files, ("key", '"source_info"')]),
                *steps[1:],
            ]
            names = [*names, _FILE_NAMES]
            loader_options["output_types"] = ["dense"] * (len(names) - 1) + ["text"]
        loader = call(
            "return Loader",
            ["define()", ("names", literal(list(names), "names")), *options(loader_options)],
        )
        shown = ", ".join(names)
        batch = "batch" if self.loader.get("as_dict") else shown
        looked_at = [
            (f'batch["{name}"]' if batch == "batch" else name)
            + ("" if name == _FILE_NAMES else ".shape")
            for name in names
        ]
        is_of_core = self.target.module == "dali_core"
        from_core = sorted(["fn", "pipeline_def", "types", *core])
        lines = [
            f'"""{title}"""',
            "",
            f"from dali_core import {', '.join(['Loader'] * is_of_core + from_core)}",
            *([f"from dali_core.loaders import {', '.join(helpers)}"] if helpers else []),
            *([] if is_of_core else [f"from {self.target.module} import Loader"]),
            "",
            *([before, ""] if before else []),
            "",
            call("@pipeline_def", options(self.pipeline), depth=0),
            "def define():",
            *steps,
            f"    return {shown}",
            "",
            "",
            "def make_loader():",
            loader,
            "",
            "",
            'if __name__ == "__main__":',
            f"    for {batch} in make_loader():",
            call("print", looked_at, depth=2),
            "",
        ]
        return "\n".join(lines)


_ARGUMENTS_ELSEWHERE = {
    "shuffle": "(train=True shuffles and augments, and train=False does neither).",
    "num_workers": "(num_threads is the number of native threads).",
    "drop_last": '(last_batch="drop" leaves out what does not fill a batch).',
    "pin_memory": "(device= moves batches by way of pinned memory).",
    "transform": "(augmentations are steps of the pipeline).",
}
"""What arguments of PyTorch's DataLoader and data sets are here."""

_FILE_NAMES = "file_names"


def integer(name: str, value: Any, least: int) -> int:
    """Return an integer from `least` on, or raise."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ArgumentTypeError(f"{name}: must be an integer (got {value!r:.100}).")
    found = int(value)
    if not least <= found < 2**31:
        raise ArgumentValueError(f"{name}: must be from {least} to 2**31 - 1 (got {found}).")
    return found


def height_and_width(size: Any) -> list[int]:
    """Return the size of images, given as one number or as height and width."""
    sizes = list(size) if isinstance(size, (list, tuple)) else [size, size]
    if len(sizes) != 2:
        raise ArgumentValueError(
            f"size: must be a number, or height and width (got {size!r:.100})."
        )
    return [integer("size", one, 1) for one in sizes]


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _shard(target: Target, shard_id: Any, num_shards: Any) -> tuple[int, int]:
    """Return the shard that was given, or that of this process if it is one of a group."""
    if (shard_id is None) != (num_shards is None):
        raise ArgumentConflictError(
            f"shard_id and num_shards must be given together (got {shard_id} and {num_shards})."
        )
    if num_shards is not None:
        number, count = integer("shard_id", shard_id, 0), integer("num_shards", num_shards, 1)
        if number >= count:
            raise ArgumentValueError(
                f"shard_id: must be below num_shards={count} (got {number}). Count from 0."
            )
        return number, count
    if target.module.endswith("pytorch"):
        group = sys.modules.get("torch.distributed")
        if group is not None and group.is_available() and group.is_initialized():
            return group.get_rank(), group.get_world_size()
    if target.module.endswith("jax") and (jax := sys.modules.get("jax")) is not None:
        return jax.process_index(), jax.process_count()
    return 0, 1
