"""Reads annotation files of COCO data sets into arrays."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._storage import Storage
from dali_core._texts import is_system_text
from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.coco.run_lengths import run_lengths

Integers = NDArray[np.int64]
Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Annotations:
    """Images and their objects, one after the other.

    Attributes
    ----------
    files : list of str
        Paths of the images.
    ids : array
        Identifiers of the images.
    sizes : array of shape (images, 2)
        Widths and heights of the images; zeros where they are not known.
    objects : array
        Number of the first object of each image, and the number of objects.
    boxes : array of shape (objects, 4)
        Boxes, as they are given.
    labels : array
        Labels of the objects.
    polygon_ends : array
        For each object: the number of polygons before its end.
    polygons : array
        For each polygon: the number of vertices before its end.
    vertices : array of shape (vertices, 2)
        Vertices as they are given.
    run_ends, runs : array
        For each object: the number of runs before its end; and the lengths of runs.
    """

    files: list[str]
    ids: Integers
    sizes: Integers
    objects: Integers
    boxes: Floats
    labels: Integers
    polygon_ends: Integers
    polygons: Integers
    vertices: Floats
    run_ends: Integers
    runs: Integers

    def check(self) -> None:
        """Check that the arrays belong together.

        Raises
        ------
        ValueError
            If they do not.
        """
        counts = (len(self.files), len(self.labels), len(self.polygons))
        shapes = {
            "ids": (counts[0],),
            "sizes": (counts[0], 2),
            "objects": (counts[0] + 1,),
            "boxes": (counts[1], 4),
            "labels": (counts[1],),
            "polygon_ends": (counts[1],),
            "run_ends": (counts[1],),
            "vertices": (len(self.vertices), 2),
            "polygons": (counts[2],),
            "runs": (len(self.runs),),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            kind = "f" if name in ("boxes", "vertices") else "i"
            if array.shape != shape or array.dtype.kind != kind:
                raise ValueError(f"{name} has the shape {array.shape} and type {array.dtype}")
        ends = (
            *((self.objects, counts[1]), (self.polygon_ends, counts[2])),
            *((self.polygons, len(self.vertices)), (self.run_ends, len(self.runs))),
        )
        for array, last in ends:
            steps = np.diff(array, prepend=0)
            if (steps < 0).any() or (len(array) and array[-1] != last):
                raise ValueError("numbers of objects do not increase")
        if (self.runs < 0).any() or (self.sizes < 0).any() or (self.sizes >= 2**31).any():
            raise ValueError("extents are negative")
        for name in ("boxes", "vertices"):
            if not np.isfinite(getattr(self, name)).all():
                raise ValueError(f"{name} are not all finite numbers")


def read_annotations(arguments: dict[str, Any], storage: Storage) -> Annotations:
    """Read the annotations that the arguments of `fn.readers.coco` ask for.

    Raises
    ------
    ArgumentValueError
        If the file cannot be read, or is no such file.
    """
    path = storage.checked_path(arguments["annotations_file"])
    try:
        with storage.open_text(path) as file:
            data = json.load(file)
    except OSError as error:
        raise ArgumentValueError(
            f"annotations_file must be a readable file (got {path!r}: {error.strerror})."
        ) from error
    except (ValueError, RecursionError) as error:
        raise ArgumentValueError(
            f"annotations_file {path!r} must be a JSON file ({error}). Fix or replace it."
        ) from error
    try:
        # Numbers that become infinite are refused with all others that are not finite.
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            return _Reading(data, arguments).annotations()
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise ArgumentValueError(
            f"annotations_file {path!r} must have images, categories and annotations as COCO data "
            f"sets have them ({type(error).__name__}: {error}). Fix or replace it."
        ) from error


class _Reading:
    """One pass over the entries of a file; errors of Python say what is wrong with one."""

    def __init__(self, data: Any, arguments: dict[str, Any]) -> None:
        self._arguments = arguments
        self._images = {int(_field(image, "id")): image for image in _entries(data, "images")}
        self._labels: dict[int, int] = {}
        for number, category in enumerate(_entries(data, "categories"), 1):
            self._labels.setdefault(int(_field(category, "id")), number)
        self._objects: dict[int, list[Any]] = {identifier: [] for identifier in self._images}
        for entry in _entries(data, "annotations"):
            identifier = int(_field(entry, "image_id"))
            if "bbox" not in entry:  # a caption, say
                continue
            _, _, width, height = entry["bbox"]
            is_small = min(width, height) < arguments["size_threshold"]
            is_left_out = entry.get("iscrowd") and not arguments["include_iscrowd"]
            if not is_small and not is_left_out and identifier in self._objects:
                self._objects[identifier].append(entry)

    def annotations(self) -> Annotations:
        chosen = self._chosen()
        ends = [0]
        boxes: list[Floats] = []
        labels: list[int] = []
        polygon_ends: list[int] = []
        polygons: list[int] = []
        vertices: list[Floats] = []
        run_ends: list[int] = []
        runs: list[int] = []
        num_vertices = 0
        for identifier in chosen:
            for entry in self._objects[identifier]:
                scale = self._scale(identifier)
                boxes.append(self._box(entry, scale))
                labels.append(self._label(entry))
                shape = entry.get("segmentation") if self._needs_masks() else None
                # Where the extent is not known, masks of pixels are refused.
                if isinstance(shape, dict) and 0 not in self._size(identifier):
                    runs += run_lengths(shape, self._size(identifier))
                for polygon in shape if isinstance(shape, list) else []:
                    vertices.append(np.array(polygon, np.float32).reshape(-1, 2) / scale)
                    num_vertices += len(vertices[-1])
                    polygons.append(num_vertices)
                polygon_ends.append(len(polygons))
                run_ends.append(len(runs))
            ends.append(len(labels))
        sizes = [self._size(identifier) for identifier in chosen]
        annotations = Annotations(
            [_field(self._images[identifier], "file_name") for identifier in chosen],
            _integers(chosen),
            _integers(sizes).reshape(-1, 2),
            _integers(ends),
            np.array(boxes, np.float32).reshape(-1, 4),
            _integers(labels),
            _integers(polygon_ends),
            _integers(polygons),
            np.concatenate([np.zeros((0, 2), np.float32), *vertices]),
            _integers(run_ends),
            _integers(runs),
        )
        annotations.check()
        if not all(isinstance(file, str) and is_system_text(file) for file in annotations.files):
            raise ValueError("a file name is no text, or has NUL characters or lone surrogates")
        for numbers in (annotations.ids, annotations.labels):
            if (numbers != numbers.astype(np.int32)).any():
                raise ValueError("an identifier does not fit into 32 bits")
        return annotations

    def _needs_masks(self) -> bool:
        names = ("polygon_masks", "masks", "pixelwise_masks")
        saves = ("save_preprocessed_annotations", "dump_meta_files")
        return any(self._arguments.get(name) for name in (*names, *saves))

    def _chosen(self) -> list[int]:
        names = self._arguments.get("images")
        if names is None:
            chosen = sorted(self._images)
        else:
            by_name = {_field(image, "file_name"): key for key, image in self._images.items()}
            chosen = [by_name[name] for name in names if name in by_name]
        is_used = self._objects if self._arguments["skip_empty"] else None
        return [one for one in chosen if is_used is None or is_used[one]]

    def _size(self, identifier: int) -> tuple[int, int]:
        image = self._images[identifier]
        if "width" not in image or "height" not in image:
            return 0, 0
        size = int(image["width"]), int(image["height"])
        if min(size) < 1:
            raise ValueError(f"an image of {size[0]} x {size[1]}")
        return size

    def _label(self, entry: Any) -> int:
        """Return the label of an object: 0 if its category is not listed."""
        identifier = int(entry.get("category_id", 0))
        if self._arguments["avoid_class_remapping"]:
            return identifier
        return self._labels.get(identifier, 0)

    def _scale(self, identifier: int) -> Floats:
        size = self._size(identifier) if self._arguments["ratio"] else (1, 1)
        if 0 in size:
            raise ValueError(f"with ratio, the image {identifier} needs a width and a height")
        return np.array(size, np.float32)

    def _box(self, entry: Any, scale: Floats) -> Floats:
        box = np.array(entry["bbox"], np.float32)
        if box.shape != (4,) or not np.isfinite(box).all():
            raise ValueError(f"a bbox is no list of four numbers: {entry['bbox']!r}")
        if self._arguments["ltrb"]:
            box[2:] += box[:2]
        scaled: Floats = box / np.concatenate([scale, scale])
        return scaled


def _entries(data: Any, name: str) -> list[Any]:
    """Return a list of a document, which may lack it."""
    found = data.get(name) or []
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise ValueError(f"{name} is no list of objects: {found!r:.200}")
    return found


def _field(entry: dict[str, Any], name: str) -> Any:
    if name not in entry:
        raise ValueError(f"an entry has no {name!r}: {entry!r:.200}")
    return entry[name]


def _integers(values: Any) -> Integers:
    return np.array(values, np.int64)
