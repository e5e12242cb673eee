"""Read images with boxes, labels and masks from COCO data sets."""

from __future__ import annotations

from typing import Any

from dali_core._spec import Arg, OpSpec
from dali_core._storage import STORAGE_ARGS, stored
from dali_core.operators.readers.coco.listing import has, open_coco


def _num_outputs(arguments: dict[str, Any]) -> int:
    polygons = has(arguments, "polygon_masks") or has(arguments, "masks")
    masks = 2 if polygons else int(bool(has(arguments, "pixelwise_masks")))
    return 3 + masks + int(bool(has(arguments, "image_ids")))


SPEC = OpSpec(
    name="readers.coco",
    doc="""Read images with boxes, labels and masks from COCO data sets.

Images come in the order of their identifiers, or as `images` lists them. Objects of an image come
in the order of the file. Labels are numbered from 1, in the order in which the file lists its
categories; that of a category that is not listed is 0. Files may lack annotations, categories, and
sizes of images where neither `ratio` nor `pixelwise_masks` needs them; objects without a box, such
as captions, are left out.

Returns
-------
list of DataNode
    The bytes of each image file, one-dimensional uint8; its boxes, float32 of shape ``(N, 4)``;
    and their labels, int32 of shape ``(N,)``. With `polygon_masks`, polygons and vertices follow
    as `segmentation.select_masks` takes them; with `pixelwise_masks`, a mask: int32 of layout
    ``HWC`` with one channel, the label of the last object at each pixel whose centre is inside, or
    0. With `image_ids`, the identifier is last, int32 of shape (1,).""",
    args=(
        Arg("file_root", str, "Folder that the paths of images relate to.", None),
        Arg("annotations_file", str, "JSON file with images, categories and annotations.", ""),
        Arg(
            "images",
            list[str],
            "Paths of the images to read, as in the annotations, in their order; an image may be "
            "listed several times. Unknown paths are skipped. By default, all.",
            None,
        ),
        Arg(
            "ltrb",
            bool,
            "Whether boxes are (left, top, right, bottom). By default, they are (left, top, width, "
            "height).",
            False,
        ),
        Arg(
            "ratio",
            bool,
            "Give boxes and vertices in units of the extents of the image, not in pixels.",
            False,
        ),
        Arg(
            "size_threshold",
            float,
            "Objects with a smaller width or height, in pixels, are left out.",
            0.1,
        ),
        Arg("include_iscrowd", bool, "Read annotations of crowds, too.", True),
        Arg("skip_empty", bool, "Leave out images without objects.", False),
        Arg(
            "avoid_class_remapping",
            bool,
            "Give the identifiers of categories as labels.",
            False,
        ),
        Arg("image_ids", bool, "Give the identifier of each image.", False),
        Arg("polygon_masks", bool, "Give masks as polygons; run lengths have none.", False),
        Arg(
            "pixelwise_masks",
            bool,
            "Give masks as pixels. Excludes `polygon_masks`.",
            False,
        ),
        Arg(
            "save_preprocessed_annotations",
            bool,
            "Write the annotations, as they are read with these arguments, to files that "
            "`preprocessed_annotations` reads faster, in the format of NVIDIA DALI.",
            False,
        ),
        Arg(
            "save_preprocessed_annotations_dir",
            str,
            "Folder for these files.",
            "",
        ),
        Arg(
            "preprocessed_annotations",
            str,
            "Folder with such files, which are read in place of `annotations_file` and decide "
            "what arguments about annotations decided when they were written.",
            "",
        ),
        Arg(
            "masks",
            bool,
            "Give masks as polygons that count coordinates, of which a vertex has two.",
            False,
            deprecated="polygon_masks",
        ),
        Arg(
            "save_img_ids",
            bool,
            "Former name of `image_ids`.",
            False,
            deprecated="image_ids",
        ),
        Arg(
            "meta_files_path",
            str,
            "Former name of `preprocessed_annotations`.",
            "",
            deprecated="preprocessed_annotations",
        ),
        Arg(
            "dump_meta_files",
            bool,
            "Former name.",
            False,
            deprecated="save_preprocessed_annotations",
        ),
        Arg(
            "dump_meta_files_path",
            str,
            "Former name of `save_preprocessed_annotations_dir`.",
            "",
            deprecated="save_preprocessed_annotations_dir",
        ),
        *STORAGE_ARGS,
    ),
    inputs=0,
    outputs=_num_outputs,
    reader=stored(open_coco),
)
