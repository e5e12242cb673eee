"""Chooses whether calls of decoders decode on the device, and by which operators.

Each choice takes `fn.decoders.image`, which decodes on the host what the device refuses.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dali_core import _types as types
from dali_core._spec import DeviceDecoding, OpSpec, Source
from dali_core.errors import ArgumentValueError
from dali_core.operators.conditional.merge import SPEC as MERGE
from dali_core.operators.crop import SPEC as CROP
from dali_core.operators.decoders.check_cost import SPEC as CHECK
from dali_core.operators.decoders.on_device import SPEC as DECODER
from dali_core.operators.random_crop_generator import SPEC as RANDOM_WINDOW
from dali_core.operators.slice import SLICE_ARGS
from dali_core.operators.slice import SPEC as SLICE

GPU_DECODER_VARIABLE = "DALI_CORE_GPU_DECODER"
"""Environment variable: ``1`` decodes JPEG on the GPU where nvJPEG is installed.

Without it the host decodes, until decoding on a GPU is verified.
"""

# Beside nvImageCodec's folder or inside it, nvJPEG of CUDA 13, which is no package of its own.
_NVJPEG_OF_CUDA_13 = ("../cu13/lib", ".libs")
_OUTPUT_TYPES = (types.RGB, types.BGR, types.GRAY)
_OF_RESULT = ("device", "name", "preserve")
_OF_CROP = ("crop", "crop_w", "crop_h", "crop_pos_x", "crop_pos_y", "rounding")
_OF_RANDOM_WINDOW = ("random_area", "random_aspect_ratio", "num_attempts", "seed")
_IGNORED_BY_CROP = ("crop_d", "crop_pos_z")
_OF_SLICE = ("axes", "axis_names", *(arg.name for arg in SLICE_ARGS))


def gpu_decoder_is_there() -> bool:
    """Return whether nvImageCodec can decode on a GPU, without importing it or asking CUDA."""
    wanted = os.environ.get(GPU_DECODER_VARIABLE, "0")
    if wanted not in ("0", "1"):
        raise ArgumentValueError(
            f"{GPU_DECODER_VARIABLE} must be 0 or 1 (got {wanted!r}). Unset it to decode on the "
            "host."
        )
    return wanted == "1" and all(map(_find, ("nvidia", "nvidia.nvimgcodec"))) and _has_nvjpeg()


def whole_image(image: OpSpec, keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    """Return how `fn.decoders.image` decodes on the device; None if the host does."""
    return _decoding("decoders.image", image, keywords)


def cropped_image(image: OpSpec, keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    """Return how `fn.decoders.image_crop` decodes on the device; None if the host does."""
    name = "decoders.image_crop"
    decoding = _decoding(name, image, keywords, (*_OF_CROP, *_IGNORED_BY_CROP))
    return decoding and replace(decoding, cut=_named(CROP, name, _some(keywords, _OF_CROP)))


def sliced_image(image: OpSpec, keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    """Return how `fn.decoders.image_slice` decodes on the device; None if the host does."""
    name = "decoders.image_slice"
    decoding = _decoding(name, image, keywords, _OF_SLICE)
    if decoding is None or not _means_rows_and_columns(keywords):
        return None
    return replace(decoding, cut=_named(SLICE, name, _some(keywords, _OF_SLICE)))


def randomly_cropped_image(image: OpSpec, keywords: Mapping[str, Any]) -> DeviceDecoding | None:
    """Return how `fn.decoders.image_random_crop` decodes on the device; None if the host does."""
    name = "decoders.image_random_crop"
    decoding = _decoding(name, image, keywords, _OF_RANDOM_WINDOW)
    return decoding and replace(
        decoding,
        window=_named(RANDOM_WINDOW, name, _some(keywords, _OF_RANDOM_WINDOW)),
        cut=_named(SLICE, name, {"axes": [0, 1]}),
    )


def _decoding(
    name: str, image: OpSpec, keywords: Mapping[str, Any], of_window: tuple[str, ...] = ()
) -> DeviceDecoding | None:
    is_plain = (
        keywords.get("output_type", types.RGB) in _OUTPUT_TYPES
        and keywords.get("dtype", types.UINT8) == types.UINT8
    )
    if not is_plain or not gpu_decoder_is_there():
        return None
    on_host = {
        argument: value
        for argument, value in keywords.items()
        if argument not in (*_OF_RESULT, *of_window)
    }
    arguments = _some(keywords, [arg.name for arg in DECODER.args])
    return DeviceDecoding(
        check=_named(CHECK, name, {}),
        decoder=_named(DECODER, name, {**arguments, "device": "gpu"}),
        otherwise=_named(image, name, on_host),
        merge=_named(MERGE, name, {}).spec,
    )


def _named(spec: OpSpec, name: str, keywords: dict[str, Any]) -> Source:
    """Call an operator, which messages call by the name of another one."""
    return Source(replace(spec, title=name), keywords)


def _some(keywords: Mapping[str, Any], names: Iterable[str]) -> dict[str, Any]:
    return {name: keywords[name] for name in names if name in keywords}


def _means_rows_and_columns(keywords: Mapping[str, Any]) -> bool:
    """Return whether axes mean the same for images with channels as for those without."""
    axes, letters = keywords.get("axes"), keywords.get("axis_names")
    if axes is None:
        return letters is None or bool(letters)
    return isinstance(axes, (list, tuple)) and bool(axes) and all(axis in (0, 1) for axis in axes)


def _has_nvjpeg() -> bool:
    """Return whether nvJPEG is where nvImageCodec looks for it."""
    if _find("nvidia.nvjpeg"):
        return True
    codec = importlib.util.find_spec("nvidia.nvimgcodec")
    folders = codec.submodule_search_locations or () if codec else ()
    return any(
        library
        for folder in folders
        for place in _NVJPEG_OF_CUDA_13
        for library in Path(folder, place).glob("libnvjpeg.so.*")
    )


def _find(package: str) -> bool:
    return package in sys.modules or importlib.util.find_spec(package) is not None
