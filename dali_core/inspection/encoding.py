"""Encodes pictures with Pillow, as they are embedded in pages and laid out in a PNG file."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass
from typing import Any

from dali_core.inspection.kinds import Kind
from dali_core.inspection.optional import require
from dali_core.inspection.panels import Picture

LARGEST_SIDE = 224
"""Larger pictures are reduced to this many pixels."""

_SMALLEST_SIDE = 96
_BOX_COLORS = ("#ffe119", "#000000")


@dataclass(frozen=True)
class EncodedPicture:
    """A picture as an ``<img>`` has it."""

    url: str
    width: int
    height: int
    label: str


def encode_picture(picture: Picture) -> EncodedPicture:
    """Encode a picture for a page."""
    image = to_pillow(picture)
    url = to_data_url(image, picture.kind)
    return EncodedPicture(url, image.width, image.height, picture.label)


def to_pillow(picture: Picture) -> Any:
    """Return a picture in the size in which it is shown, with its boxes.

    Raises
    ------
    MissingModuleError
        If Pillow is not installed.
    """
    pillow = require("PIL.Image", "Pillow")
    image = pillow.fromarray(picture.image)
    height, width = picture.image.shape[:2]
    scale = min(1.0, LARGEST_SIDE / max(height, width))
    if max(height, width) * 2 <= _SMALLEST_SIDE:
        scale = float(_SMALLEST_SIDE // max(height, width))
    size = max(1, round(width * scale)), max(1, round(height * scale))
    if size != (width, height):
        is_smooth = picture.kind is not Kind.MASK and scale < 1
        how = pillow.Resampling.BOX if is_smooth else pillow.Resampling.NEAREST
        image = image.resize(size, how)
    if len(picture.boxes):
        draw = require("PIL.ImageDraw", "Pillow").Draw(image)
        for left, top, right, bottom in picture.boxes * scale:
            if not (left <= right and top <= bottom):
                continue
            draw.rectangle((left - 1, top - 1, right + 1, bottom + 1), outline=_BOX_COLORS[1])
            draw.rectangle((left, top, right, bottom), outline=_BOX_COLORS[0])
    return image


def to_data_url(image: Any, kind: Kind) -> str:
    """Return a Pillow image as a ``data:`` address: JPEG for photos, otherwise PNG."""
    is_photo = kind in (Kind.IMAGE, Kind.SEQUENCE)
    target = io.BytesIO()
    if is_photo:
        image.save(target, "JPEG", quality=90, subsampling=0)
    else:
        image.save(target, "PNG")
    name = "jpeg" if is_photo else "png"
    return f"data:image/{name};base64,{base64.b64encode(target.getvalue()).decode()}"
