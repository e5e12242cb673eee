"""Finds the images of a COCO data set, and what is annotated in them."""

from __future__ import annotations

import os
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.coco.annotations import Annotations, read_annotations

_FILE = "annotations.npz"
_FORMER = {
    "image_ids": "save_img_ids",
    "preprocessed_annotations": "meta_files_path",
    "save_preprocessed_annotations": "dump_meta_files",
    "save_preprocessed_annotations_dir": "dump_meta_files_path",
}
_DECIDED_BEFORE = (
    *("annotations_file", "images", "ltrb", "ratio", "skip_empty", "avoid_class_remapping"),
    *("save_preprocessed_annotations", "save_preprocessed_annotations_dir"),
)


@dataclass(frozen=True)
class CocoListing:
    """Images in their order, with their objects.

    Attributes
    ----------
    root : str
        Folder that paths relate to.
    annotations : Annotations
        What is known about each image.
    masks : str
        Which masks are given: ``"polygons"``, ``"coordinates"``, ``"pixels"`` or none.
    """

    root: str
    annotations: Annotations
    masks: str
    gives_ids: bool

    def __len__(self) -> int:
        return len(self.annotations.files)

    def native_arguments(self) -> dict[str, Any]:
        """Return what the native code needs to read an image by its index."""
        known = self.annotations
        names = ["ids", "objects", "boxes", "labels"]
        if self.masks:
            names += ["sizes", "polygon_ends", "polygons", "vertices", "run_ends", "runs"]
        return {
            "file_root": self.root,
            "files": known.files,
            "kind_of_masks": self.masks,
            "gives_ids": int(self.gives_ids),
            **{name: getattr(known, name).ravel().tolist() for name in names},
        }


def has(arguments: dict[str, Any], name: str) -> Any:
    """Return an argument that may be given by its former name."""
    return arguments.get(name) or (name in _FORMER and arguments.get(_FORMER[name])) or None


def open_coco(arguments: dict[str, Any]) -> CocoListing:
    """List what the arguments of `fn.readers.coco` ask for.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If the arguments contradict each other, or the annotations cannot be used.
    """
    polygons = has(arguments, "polygon_masks") or has(arguments, "masks")
    if polygons and arguments["pixelwise_masks"]:
        raise ArgumentTypeError(
            "polygon_masks and pixelwise_masks must not both be given. Leave one out."
        )
    masks = "coordinates" if has(arguments, "masks") else "polygons" if polygons else ""
    if arguments["pixelwise_masks"]:
        masks = "pixels"
    saved = has(arguments, "preprocessed_annotations")
    if saved:
        given = [name for name in _DECIDED_BEFORE if has(arguments, name)]
        if given:
            raise ArgumentTypeError(
                f"preprocessed_annotations must not come together with {given[0]}, which was "
                "decided when they were written. Leave it out."
            )
        annotations = _load(os.path.join(saved, _FILE))
    else:
        if not arguments["annotations_file"]:
            raise ArgumentTypeError(
                "annotations_file or preprocessed_annotations must be given (got none of them)."
            )
        annotations = read_annotations(arguments)
    if not annotations.files:
        raise ArgumentValueError(
            "the annotations must name at least one image to read (got none). Check images and "
            "skip_empty."
        )
    if has(arguments, "save_preprocessed_annotations"):
        _save(annotations, has(arguments, "save_preprocessed_annotations_dir") or "")
    return CocoListing(
        arguments.get("file_root") or "", annotations, masks, bool(has(arguments, "image_ids"))
    )


def _save(annotations: Annotations, folder: str) -> None:
    if not folder:
        raise ArgumentTypeError(
            "save_preprocessed_annotations_dir must be given together with "
            "save_preprocessed_annotations (got none). Name a folder."
        )
    arrays: dict[str, Any] = {name: np.asarray(value) for name, value in vars(annotations).items()}
    path = os.path.join(folder, _FILE)
    try:
        with open(path, "wb") as file:
            np.savez_compressed(file, **arrays)
    except OSError as error:
        raise ArgumentValueError(
            f"save_preprocessed_annotations_dir must be a folder that can be written to (got "
            f"{folder!r}: {error.strerror})."
        ) from error


def _load(path: str) -> Annotations:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in Annotations.__dataclass_fields__}
        files = [str(name) for name in found.pop("files").tolist()]
        annotations = Annotations(files, **found)
        annotations.check()
    except OSError as error:
        raise ArgumentValueError(
            f"preprocessed_annotations must have a readable file {_FILE} (got {path!r}: "
            f"{error.strerror or error})."
        ) from error
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, AttributeError) as error:
        raise ArgumentValueError(
            f"preprocessed_annotations: {path!r} must be a file that this reader has written "
            f"({error}). Write it again."
        ) from error
    return annotations
