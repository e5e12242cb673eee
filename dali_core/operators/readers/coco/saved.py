"""Saves annotations in files that are read faster, and reads them: the format of NVIDIA DALI.

A folder has a file for each kind of numbers, which begins with the number of entries, in 32 bits.
Numbers have 32 bits, but for offsets and counts of polygons, vertices and masks, and extents of
masks, which have 64.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core.errors import ArgumentValueError
from dali_core.operators.readers.coco.annotations import Annotations, Integers

_FILENAMES = "filenames.dat"


def save_annotations(annotations: Annotations, folder: str) -> None:
    """Write annotations to files in a folder.

    Raises
    ------
    ArgumentValueError
        If the folder cannot be written to, or a name of an image has a line break.
    """
    if any("\n" in name for name in annotations.files):
        raise ArgumentValueError(
            "save_preprocessed_annotations: names of images must have no line breaks (got one). "
            "Rename the image."
        )
    entries = {name: (array, len(array)) for name, array in _columns(annotations).items()}
    entries["boxes"] = (annotations.boxes, annotations.boxes.size)
    try:
        for name, (array, count) in entries.items():
            with open(os.path.join(folder, f"{name}.dat"), "wb") as file:
                file.write(np.int32(count).tobytes() + array.tobytes())
        with open(os.path.join(folder, "masks_rles.dat"), "wb") as file:
            file.write(_masks(annotations))
        with open(os.path.join(folder, _FILENAMES), "wb") as file:
            file.write("".join(f"{name}\n" for name in annotations.files).encode())
    except OSError as error:
        raise ArgumentValueError(
            f"save_preprocessed_annotations_dir must be a folder that can be written to (got "
            f"{folder!r}: {error.strerror})."
        ) from error


def _columns(annotations: Annotations) -> dict[str, NDArray[Any]]:
    first, last = annotations.objects[:-1], annotations.objects[1:]
    before = np.concatenate([[0], annotations.polygon_ends])
    first_polygons, last_polygons = before[first], before[last]
    vertices_before = np.concatenate([[0], annotations.polygons])
    first_vertices, last_vertices = vertices_before[first_polygons], vertices_before[last_polygons]
    image_of = np.repeat(np.arange(len(annotations.files)), last - first)
    object_of = np.repeat(np.arange(len(annotations.labels)), np.diff(before))
    start = vertices_before[:-1] - first_vertices[image_of[object_of]]
    stop = vertices_before[1:] - first_vertices[image_of[object_of]]
    own = np.arange(len(annotations.labels)) - first[image_of]
    has_runs = np.diff(annotations.run_ends, prepend=0) > 0
    mask_offsets = np.concatenate([[0], np.cumsum(has_runs)])
    as_int, as_size = np.int32, np.int64
    return {
        "offsets": first.astype(as_int),
        "counts": (last - first).astype(as_int),
        "labels": annotations.labels.astype(as_int),
        "original_ids": annotations.ids.astype(as_int),
        "widths": annotations.sizes[:, 0].astype(as_int),
        "heights": annotations.sizes[:, 1].astype(as_int),
        "polygon_data": np.stack([own[object_of], start, stop], -1).astype(as_int),
        "polygon_offset": first_polygons.astype(as_size),
        "polygons_count": (last_polygons - first_polygons).astype(as_size),
        "vertices": annotations.vertices.astype(np.float32),
        "vertices_offset": first_vertices.astype(as_size),
        "vertices_count": (last_vertices - first_vertices).astype(as_size),
        "masks_offset": mask_offsets[first].astype(as_size),
        "mask_count": (mask_offsets[last] - mask_offsets[first]).astype(as_size),
        "masks_rles_idx": own[has_runs].astype(as_int),
    }


def _masks(annotations: Annotations) -> bytes:
    before = np.concatenate([[0], annotations.run_ends])
    parts = []
    for image, (first, last) in enumerate(
        zip(annotations.objects[:-1], annotations.objects[1:], strict=True)
    ):
        width, height = annotations.sizes[image]
        for number in range(first, last):
            runs = annotations.runs[before[number] : before[number + 1]]
            if len(runs):
                parts.append(np.array([height, width, len(runs)], np.int64).tobytes())
                parts.append(runs.astype(np.uint32).tobytes())
    count: bytes = np.int32(len(parts) // 2).tobytes()
    return count + b"".join(parts)


class _Folder:
    """The files of a folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def bytes_of(self, name: str) -> bytes:
        with open(os.path.join(self._folder, f"{name}.dat"), "rb") as file:
            return file.read()

    def read(self, name: str, dtype: Any = np.int32, width: int = 1) -> NDArray[Any]:
        """Read the entries of a file, each of `width` numbers."""
        data = self.bytes_of(name)
        (count,) = np.frombuffer(data[:4], np.int32)
        array = np.frombuffer(data[4:], dtype)
        if count < 0 or array.size != count * width:
            raise ValueError(f"{name}.dat has {array.size} numbers, and {count} entries")
        return array

    def read_or(self, name: str, otherwise: NDArray[Any], dtype: Any = np.int32) -> NDArray[Any]:
        """Read a file that there may not be."""
        path = os.path.join(self._folder, f"{name}.dat")
        return self.read(name, dtype) if os.path.exists(path) else otherwise


def load_annotations(folder: str, masks: str, *, needs_ids: bool) -> Annotations:
    """Read the annotations in a folder.

    Parameters
    ----------
    folder : str
        The folder.
    masks : str
        Which masks are needed: ``"polygons"``, ``"coordinates"``, ``"pixels"`` or none.
    needs_ids : bool
        Whether identifiers are needed.

    Raises
    ------
    OSError
        If a file that is needed cannot be read.
    ValueError
        If the files are not as they should be.
    """
    files = _Folder(folder)
    names = files.bytes_of("filenames").decode().split("\n")
    if names.pop() or "" in names:
        raise ValueError("filenames.dat has an empty name, or does not end with a line")
    counts = files.read("counts").astype(np.int64)
    labels = files.read("labels").astype(np.int64)
    objects = np.concatenate([[0], np.cumsum(counts)])
    if (counts < 0).any() or (objects[:-1] != files.read("offsets")).any():
        raise ValueError("offsets.dat does not fit counts.dat")
    if objects[-1] != len(labels):
        raise ValueError(f"labels.dat has {len(labels)} numbers for {objects[-1]} objects")
    nothing = np.zeros(len(names), np.int32)
    ids = files.read("original_ids") if needs_ids else files.read_or("original_ids", nothing)
    sizes = [np.ones(len(names), np.int32)] * 2
    if masks == "pixels":
        sizes = [files.read("widths"), files.read("heights")]
    polygon_ends = run_ends = np.zeros(len(labels), np.int64)
    polygons = runs = np.zeros(0, np.int64)
    vertices = np.zeros((0, 2), np.float32)
    if masks:
        vertices = files.read("vertices", np.float32, 2).reshape(-1, 2)
        polygon_ends, polygons = _read_polygons(files, objects, len(vertices))
    if masks == "pixels":
        run_ends, runs = _read_masks(files, objects, np.stack(sizes, -1))
    annotations = Annotations(
        names,
        ids.astype(np.int64),
        np.stack(sizes, -1).astype(np.int64),
        objects,
        files.read("boxes", np.float32).reshape(-1, 4),
        labels,
        polygon_ends,
        polygons,
        vertices,
        run_ends,
        runs,
    )
    annotations.check()
    return annotations


def _read_polygons(
    files: _Folder, objects: Integers, num_vertices: int
) -> tuple[Integers, Integers]:
    data = files.read("polygon_data", width=3).reshape(-1, 3).astype(np.int64)
    own = _numbers_of_objects(files, objects, data[:, 0], "polygon_offset", "polygons_count")
    vertices_before = files.read("vertices_offset", np.int64)
    counts = files.read("polygons_count", np.int64)
    if len(vertices_before) != len(counts):
        raise ValueError("vertices_offset.dat does not fit polygons_count.dat")
    # Polygons lie one after the other, so their ends are where the next ones start.
    ends = data[:, 2] + np.repeat(vertices_before, counts)
    starts = data[:, 1] + np.repeat(vertices_before, counts)
    is_dense = (starts == np.concatenate([[0], ends[:-1]])[: len(ends)]).all()
    if not is_dense or (len(ends) and ends[-1] != num_vertices):
        raise ValueError("polygon_data.dat does not fit vertices.dat")
    return np.cumsum(np.bincount(own, minlength=objects[-1])), ends


def _read_masks(files: _Folder, objects: Integers, sizes: Integers) -> tuple[Integers, Integers]:
    index = files.read("masks_rles_idx").astype(np.int64)
    own = _numbers_of_objects(files, objects, index, "masks_offset", "mask_count")
    data = files.bytes_of("masks_rles")
    (count,) = np.frombuffer(data[:4], np.int32)
    if count != len(own):
        raise ValueError(f"masks_rles.dat has {count} masks, and masks_rles_idx.dat {len(own)}")
    images = np.searchsorted(objects, own, side="right") - 1
    place = 4
    runs = [np.zeros(0, np.int64)]
    lengths = np.zeros(objects[-1], np.int64)
    for number, image in zip(own, images, strict=True):
        height, width, length = (int(one) for one in np.frombuffer(data, np.int64, 3, place))
        place += 24
        if not 0 <= length <= (len(data) - place) // 4 or lengths[number]:
            raise ValueError("masks_rles.dat has a mask that is not complete, or too many of them")
        runs.append(np.frombuffer(data, np.uint32, length, place).astype(np.int64))
        place += 4 * length
        lengths[number] = length
        if [width, height] != sizes[image].tolist() or runs[-1].sum() != width * height:
            raise ValueError("masks_rles.dat has a mask that is not as large as its image")
    return np.cumsum(lengths), np.concatenate(runs)


def _numbers_of_objects(
    files: _Folder, objects: Integers, own: Integers, offsets: str, counts: str
) -> Integers:
    """Return for each polygon or mask the number of its object, which do not decrease.

    `own` are the numbers within the images.
    """
    per_image = files.read(counts, np.int64)
    first = files.read(offsets, np.int64)
    if len(per_image) != len(objects) - 1 or len(first) != len(per_image):
        raise ValueError(f"{counts}.dat must have an entry for each image")
    if (per_image < 0).any() or (per_image > len(own)).any() or per_image.sum() != len(own):
        raise ValueError(f"{counts}.dat does not say how many there are")
    if (first != np.cumsum(per_image) - per_image).any():
        raise ValueError(f"{offsets}.dat does not fit {counts}.dat")
    numbers = own + np.repeat(objects[:-1], per_image)
    is_own = (own >= 0) & (numbers < np.repeat(objects[1:], per_image))
    if not is_own.all() or (np.diff(numbers) < 0).any():
        raise ValueError(f"{counts}.dat leads to objects of other images")
    found: Integers = numbers
    return found
