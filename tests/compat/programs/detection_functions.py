"""Detection by functions, with boxes in pixels, padded boxes and anchors, as for RetinaNet."""

import json
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image

import nvidia.dali as dali
import nvidia.dali.fn as fn
import nvidia.dali.math as dmath
import nvidia.dali.types as types

SIZES = [(40, 60), (60, 40), (50, 50)]
OUTPUT_SIZE = (32, 32)
ANCHORS = [0.0, 0.0, 0.5, 0.5, 0.5, 0.5, 1.0, 1.0, 0.0, 0.5, 0.5, 1.0, 0.5, 0.0, 1.0, 0.5]


def write_coco(folder):
    images, annotations = [], []
    for number, (height, width) in enumerate(SIZES):
        name = f"{number}.png"
        Image.fromarray(np.full((height, width, 3), 60 * number + 20, np.uint8)).save(folder / name)
        images.append({"id": number + 5, "file_name": name, "height": height, "width": width})
        for box in range(number + 1):
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": number + 5,
                    "category_id": 1 + box,
                    "iscrowd": 0,
                    "bbox": [2 + 5 * box, 3 + 4 * box, 14, 15],
                    "area": 210,
                }
            )
    categories = [{"id": number + 1, "name": f"class {number}"} for number in range(3)]
    document = {"images": images, "annotations": annotations, "categories": categories}
    (folder / "annotations.json").write_text(json.dumps(document))


def to_pixels(boxes, shape):
    """Boxes with y in front of x, as EfficientDet has them."""
    swapped = np.float32([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    boxes = fn.coord_transform(boxes, M=swapped)
    height, width = shape[0], shape[1]
    size = fn.cat(fn.stack(height, width), fn.stack(height, width))
    return boxes * fn.cast(size, dtype=types.FLOAT)


def normalize_flip(images, boxes, probability):
    flip = fn.random.coin_flip(probability=probability)
    images = fn.crop_mirror_normalize(
        images,
        mirror=flip,
        mean=[0.485 * 255, 0.456 * 255, 0.406 * 255],
        std=[0.229 * 255, 0.224 * 255, 0.225 * 255],
        output_layout=types.NHWC,
    )
    return images, fn.bb_flip(boxes, horizontal=flip, ltrb=True)


def resized(images, height, width, scale):
    scale = fn.random.uniform(range=scale) if scale else 1.0
    factor = dmath.min(scale * OUTPUT_SIZE[0] / height, scale * OUTPUT_SIZE[1] / width)
    sizes = dmath.floor(fn.stack(height, width) * factor + 0.5)
    return fn.resize(images, size=sizes, antialias=False), sizes


def cropped(images, boxes, classes, sizes):
    anchors, shapes, boxes, classes = fn.random_bbox_crop(
        boxes,
        classes,
        crop_shape=OUTPUT_SIZE,
        input_shape=fn.cast(sizes, dtype=types.INT32),
        bbox_layout="xyXY",
        allow_no_crop=False,
        total_num_attempts=64,
    )
    images = fn.slice(
        images,
        anchors,
        shapes,
        normalized_anchor=False,
        normalized_shape=False,
        out_of_bounds_policy="pad",
    )
    return images, boxes, classes


@dali.pipeline_def(batch_size=2, num_threads=2, device_id=None, seed=1)
def detection(folder, is_training, scale=None):
    encoded, boxes, classes, ids = fn.readers.coco(
        file_root=str(folder),
        annotations_file=str(folder / "annotations.json"),
        ltrb=True,
        ratio=True,
        skip_empty=False,
        image_ids=True,
        random_shuffle=False,
        pad_last_batch=True,
        lazy_init=True,
        name="coco",
    )
    shape = fn.peek_image_shape(encoded)
    height, width = (fn.cast(shape[axis], dtype=types.FLOAT) for axis in (0, 1))
    images = fn.decoders.image(encoded, device="cpu", output_type=types.RGB)
    images, boxes = normalize_flip(images, boxes, 0.5 if is_training else 0.0)
    images, sizes = resized(images, height, width, scale)
    if is_training:
        images, boxes, classes = cropped(images, boxes, classes, sizes)
    else:
        images = fn.pad(images, axis_names="HW", shape=OUTPUT_SIZE, fill_value=0)
    targets, target_classes = fn.box_encoder(
        boxes, classes, anchors=ANCHORS, offset=True, stds=[0.1, 0.1, 0.2, 0.2], scale=1.0
    )
    matches = fn.reductions.sum(fn.cast(target_classes != 0, dtype=types.FLOAT))
    boxes = fn.pad(to_pixels(boxes, images.shape()), fill_value=-1, shape=(6, 4))
    classes = fn.pad(classes, fill_value=-1, shape=(6,))
    return images, targets, target_classes, matches, boxes, classes, ids, shape


def main():
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        write_coco(folder)
        for is_training, scale in ((False, None), (True, None), (True, (0.5, 1.0))):
            pipe = detection(folder, is_training, scale)
            pipe.build()
            print("size", pipe.epoch_size("coco"), pipe.reader_meta("coco")["pad_last_batch"])
            for _ in range(2):
                outputs = pipe.run()
                print("types", *(output.dtype for output in outputs))
                print("layouts", [output.layout() for output in outputs])
                print("shapes", *(output.shape() for output in outputs))
                print("ids", *outputs[6].as_array().ravel(), *outputs[7].as_array().ravel())
                if not is_training:
                    for output in outputs[:6]:
                        values = np.float64(output.as_array()).reshape(2, -1).sum(axis=1)
                        print("sums", *(f"{value:.3f}" for value in values))


if __name__ == "__main__":
    main()
