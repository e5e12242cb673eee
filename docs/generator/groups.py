"""The groups in which the index lists the operators."""

from __future__ import annotations

from dali_core._registry.specs import all_specs

# Of a name with a star, all operators with this beginning that no other group names.
GROUPS: dict[str, tuple[str, ...]] = {
    "Readers": ("io.file.read", "readers.*", "experimental.readers.*"),
    "Image decoders": (
        "decoders.image",
        "decoders.image_*",
        "decoders.numpy",
        "peek_image_shape",
    ),
    "Crops, sizes and flips": (
        *("resize", "random_resized_crop", "resize_crop_mirror", "crop", "crop_mirror_normalize"),
        *("slice", "flip", "pad", "paste", "multi_paste", "transpose", "tensor_resize"),
        *("random_crop_generator", "roi_random_crop", "random_patch"),
    ),
    "Warps": (
        *("rotate", "warp_affine", "experimental.warp_perspective", "sphere", "water"),
        *("transforms.*", "coord_transform"),
    ),
    "Colors": (
        *("color_twist", "brightness_contrast", "brightness", "contrast", "hue", "saturation"),
        *("hsv", "color_space_conversion", "equalize", "clahe", "lookup_table", "debayer"),
    ),
    "Filters, noise, erasing and mixing": (
        *("gaussian_blur", "laplacian", "filter", "noise.*", "jitter", "erase", "grid_mask"),
        *("jpeg_compression_distortion", "mixup", "cutmix"),
    ),
    "Boxes and masks": (
        *("bb_flip", "bbox_paste", "bbox_rotate", "coord_flip", "random_bbox_crop"),
        *("ssd_random_crop", "box_encoder", "segmentation.*"),
    ),
    "Video": (
        *("readers.video", "readers.video_resize", "experimental.readers.video", "decoders.video"),
        *("experimental.inputs.video", "sequence_rearrange"),
        "element_extract",
    ),
    "Audio": (
        *("decoders.audio", "audio_resample", "spectrogram", "power_spectrum", "mel_filter_bank"),
        *("to_decibels", "mfcc", "preemphasis_filter", "nonsilent_region"),
    ),
    "Sequences of tokens": (
        "tokenize",
        "pack",
        "unpack",
        "pad_batch",
        "collate",
        "batch_extents",
        "image_tokens",
    ),
    "Tensors": (
        *("cast", "cast_like", "copy", "cat", "stack", "reshape", "reinterpret", "squeeze"),
        *("expand_dims", "shapes", "get_property", "one_hot", "normalize", "reductions.*"),
        *("permute_batch", "per_frame", "dump_image"),
    ),
    "Constant values": (
        *("constant", "full", "zeros", "ones", "full_like", "zeros_like", "ones_like"),
    ),
    "Random numbers": ("random.*", "batch_permutation"),
    "Functions and sources in Python": (
        *("readers.python", "external_source", "python_function", "dl_tensor_python_function"),
    ),
}
OTHERS = "Others"


def grouped() -> dict[str, list[str]]:
    """Return the operators of each group, in its order; deprecated ones are in none."""
    names = [name for name, spec in all_specs().items() if not spec.deprecated]
    named = {pattern for patterns in GROUPS.values() for pattern in patterns}
    found: dict[str, list[str]] = {}
    for group, patterns in GROUPS.items():
        found[group] = []
        for pattern in patterns:
            if pattern.endswith("*"):
                begin = pattern.removesuffix("*")
                found[group] += [
                    name for name in names if name.startswith(begin) and name not in named
                ]
            elif pattern in names:
                found[group].append(pattern)
    rest = set(names) - {name for group in found.values() for name in group}
    found[OTHERS] = sorted(rest)
    return {group: members for group, members in found.items() if members}
