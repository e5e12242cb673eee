"""Data sets of images in files, by looking at them: their modules are not imported."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from dali_core import dynamic as dd
from dali_core import types
from dali_core.torchvision._draws import Draws
from dali_core.torchvision._frameworks import pillow
from dali_core.torchvision._known import converted
from dali_core.torchvision._pictures import Picture, of_pillow
from dali_core.torchvision._transform import Transform, applied, finished

_FILES = frozenset({"DTD", "FGVCAircraft", "Flowers102", "Food101", "SUN397"})
"""Classes of torchvision with paths in `_image_files` and classes in `_labels`."""
_SAMPLES = frozenset({"Imagenette", "RenderedSST2", "StanfordCars"})
"""Classes of torchvision with pairs of path and class in `_samples`."""


class Samples(ABC):
    """A data set whose samples can be computed in any order, by any thread.

    Attributes
    ----------
    is_native : bool
        Whether images are decoded by this library.
    """

    is_native = True

    @abstractmethod
    def get(self, index: int, draws: Draws) -> Any:
        """Return a sample.

        Parameters
        ----------
        index : int
            Which one.
        draws : Draws
            Its random numbers.
        """

    @abstractmethod
    def lines(self) -> list[str]:
        """Return what computes the parts of a sample, a line for each."""


class Files(Samples):
    """Images in files, with a target for each.

    Parameters
    ----------
    dataset : object
        The data set, of torchvision.
    entry : callable
        Returns path and target of a sample.
    """

    def __init__(self, dataset: Any, entry: Callable[[int], tuple[Any, Any]]) -> None:
        self._dataset = dataset
        self._entry = entry
        self._transform: Transform | None = None
        if dataset.transform is not None:
            self._transform = converted(dataset.transform, "accelerate")

    def get(self, index: int, draws: Draws) -> Any:
        """Return image and target."""
        path, target = self._entry(index)
        value: Any = decoded(path)
        if self._transform is not None:
            value = applied(self._transform, value, draws)
        change = self._dataset.target_transform
        return finished(value), target if change is None else change(target)

    def lines(self) -> list[str]:
        """Return decoder, transforms and the function of targets."""
        found = [f"{type(self._dataset).__name__}: native (JPEG and PNG; other files by Pillow)"]
        if self._transform is not None:
            found += self._transform._lines()
        if self._dataset.target_transform is not None:
            found.append("target_transform: Python function")
        return found


class Selected(Samples):
    """Some samples of a data set.

    Parameters
    ----------
    samples : Samples
        The data set.
    indices : sequence of int
        Which ones.
    """

    def __init__(self, samples: Samples, indices: Any) -> None:
        self._samples = samples
        self._indices = indices
        self.is_native = samples.is_native

    def get(self, index: int, draws: Draws) -> Any:
        """Return a sample."""
        return self._samples.get(int(self._indices[index]), draws)

    def lines(self) -> list[str]:
        """Return those of the data set."""
        return [f"Subset of {len(self._indices)} samples", *self._samples.lines()]


class Joined(Samples):
    """Data sets, one after the other.

    Parameters
    ----------
    parts : list of Samples
        The data sets.
    ends : sequence of int
        Where each of them ends.
    """

    def __init__(self, parts: list[Samples], ends: Any) -> None:
        self._parts = parts
        self.is_native = any(part.is_native for part in parts)
        self._ends = list(ends)

    def get(self, index: int, draws: Draws) -> Any:
        """Return a sample."""
        index = index if index >= 0 else index + self._ends[-1]
        part = int(np.searchsorted(self._ends, index, side="right"))
        return self._parts[part].get(index - (self._ends[part - 1] if part else 0), draws)

    def lines(self) -> list[str]:
        """Return those of all data sets."""
        return [line for part in self._parts for line in part.lines()]


class Unknown(Samples):
    """A data set that only has ``dataset[index]``.

    Parameters
    ----------
    dataset : object
        The data set.
    """

    is_native = False

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset

    def get(self, index: int, draws: Draws) -> Any:
        """Return a sample."""
        return self._dataset[index]

    def lines(self) -> list[str]:
        """Return that it is a function."""
        return [f"{type(self._dataset).__name__}: Python function"]


def samples_of(dataset: Any) -> Samples:
    """Return the samples of a data set, as natively as it is known.

    Parameters
    ----------
    dataset : object
        A data set of PyTorch with indices.
    """
    kind = type(dataset)
    if kind.__module__ == "torch.utils.data.dataset":
        if kind.__name__ == "Subset":
            return Selected(samples_of(dataset.dataset), dataset.indices)
        if kind.__name__ == "ConcatDataset":
            return Joined([samples_of(d) for d in dataset.datasets], dataset.cumulative_sizes)
    getter = kind.__getitem__
    loader: Any = getattr(dataset, "loader", None)
    is_known = getter.__module__.startswith("torchvision.datasets.") and (
        getattr(loader, "__module__", "") == "torchvision.datasets.folder"
    )
    if is_known and loader.__name__ in ("default_loader", "pil_loader"):
        owner = getter.__qualname__.partition(".")[0]
        if owner == "DatasetFolder":
            return Files(dataset, dataset.samples.__getitem__)
        if owner in _SAMPLES:
            return Files(dataset, dataset._samples.__getitem__)
        if owner in _FILES:
            return Files(dataset, lambda i: (dataset._image_files[i], dataset._labels[i]))
    return Unknown(dataset)


def decoded(path: Any) -> Picture:
    """Decode a file to RGB as Pillow does, without regard to Exif orientation.

    Parameters
    ----------
    path : str or PathLike
        The file.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    data = np.fromfile(path, np.uint8)
    size = _size_if_native(data)
    if size is None:
        with pillow().open(path) as image:
            return of_pillow(image.convert("RGB"))
    value = dd.decoders.image(data, output_type=types.RGB, adjust_orientation=False)
    return Picture(value, "HWC", "pillow", size, 3, mode="RGB")


def _size_if_native(data: Any) -> tuple[int, int] | None:
    """Return height and width of a file whose pixels are sure to be those of Pillow."""
    start = data[:29].tobytes()
    if start[:2] == b"\xff\xd8":
        return _size_of_jpeg(memoryview(data))
    # Eight bits of grey or RGB; others are converted by rules of Pillow.
    if start[:8] == b"\x89PNG\r\n\x1a\n" and start[12:16] == b"IHDR" and start[24] == 8:
        width, height = struct.unpack(">II", start[16:24])
        return (height, width) if start[25] in (0, 2) else None
    return None


def _size_of_jpeg(data: memoryview) -> tuple[int, int] | None:
    """Return height and width of a JPEG file of grey or YCbCr; None if it is another or broken.

    A few segments with their lengths stand before that of the frame: ITU-T T.81, annex B.
    """
    place = 2
    while place + 10 <= len(data) and data[place] == 0xFF:
        marker = data[place + 1]
        if 0xC0 <= marker <= 0xC2:  # frames in baseline, extended or progressive mode
            height, width, components = struct.unpack(">HHB", data[place + 5 : place + 10])
            is_known = components in (1, 3) and height and width
            return (height, width) if is_known else None
        if marker == 0xFF:  # fills
            place += 1
            continue
        if not 0xC4 <= marker < 0xFF or marker in _NO_SEGMENTS:
            return None
        place += 2 + struct.unpack(">H", data[place + 2 : place + 4])[0]
    return None


# Restarts, begin and end of an image, and the scans, before which a frame must have been.
_NO_SEGMENTS = frozenset((*range(0xD0, 0xDB),))
