"""Finds the images of a COCO data set, and what is annotated in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dali_core._readers.protocol import DataSource
from dali_core._storage import Storage, refuse_urls
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from dali_core.operators.readers.coco.annotations import Annotations, read_annotations
from dali_core.operators.readers.coco.saved import load_annotations, save_annotations

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
class CocoListing(DataSource):
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


def open_coco(arguments: dict[str, Any], storage: Storage) -> CocoListing:
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
        refuse_urls("preprocessed_annotations", [saved], "Copy the folder, or read the JSON file.")
        given = [name for name in _DECIDED_BEFORE if has(arguments, name)]
        if given:
            raise ArgumentTypeError(
                f"preprocessed_annotations must not come together with {given[0]}, which was "
                "decided when they were written. Leave it out."
            )
        needs_ids = bool(has(arguments, "image_ids"))
        annotations = _load(saved, masks, needs_ids)
    else:
        if not arguments["annotations_file"]:
            raise ArgumentTypeError(
                "annotations_file or preprocessed_annotations must be given (got none of them)."
            )
        annotations = read_annotations(arguments, storage)
    if not annotations.files:
        raise ArgumentValueError(
            "the annotations must name at least one image to read (got none). Check images and "
            "skip_empty."
        )
    if masks == "pixels" and (annotations.sizes == 0).any():
        unknown = annotations.files[int((annotations.sizes == 0).any(1).argmax())]
        raise ArgumentValueError(
            f"pixelwise_masks must be False where the annotations do not have the width and height "
            f"of each image (got none of {unknown!r:.200}). Add them, or pass polygon_masks."
        )
    if has(arguments, "save_preprocessed_annotations"):
        if not storage.is_of_program:
            raise ArgumentValueError(
                "save_preprocessed_annotations must be left out in a document, which must write no "
                "files (got True). Save them in a program."
            )
        _save(annotations, has(arguments, "save_preprocessed_annotations_dir") or "")
    return CocoListing(
        storage.checked_path(arguments.get("file_root") or ""),
        annotations,
        masks,
        bool(has(arguments, "image_ids")),
    )


def _save(annotations: Annotations, folder: str) -> None:
    if not folder:
        raise ArgumentTypeError(
            "save_preprocessed_annotations_dir must be given together with "
            "save_preprocessed_annotations (got none). Name a folder."
        )
    save_annotations(annotations, folder)


def _load(folder: str, masks: str, needs_ids: bool) -> Annotations:
    try:
        return load_annotations(folder, masks, needs_ids=needs_ids)
    except OSError as error:
        raise ArgumentValueError(
            "preprocessed_annotations must be a folder with all files that the arguments need (got "
            f"{error.filename!r}: {error.strerror}). Write them with the same arguments."
        ) from error
    except (ValueError, IndexError, OverflowError) as error:
        raise ArgumentValueError(
            f"preprocessed_annotations: {folder!r} must have files that a COCO reader has written "
            f"({error}). Write them again."
        ) from error
