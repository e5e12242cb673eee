"""Recognizes what an array is: an image, a sequence, a mask, a sound, a text, and so on."""

from __future__ import annotations

import enum

import numpy as np

from dali_core._display.layouts import layout_or_guess
from dali_core.inspection.samples import StepValue

_LARGEST_LABEL = 32
_FEWEST_SOUND_SAMPLES = 64
_MOST_CHANNELS = 4
_FILES = {
    b"\xff\xd8\xff": "JPEG file",
    b"\x89PNG": "PNG file",
    b"GIF8": "GIF file",
    b"BM": "BMP file",
    b"II*\0": "TIFF file",
    b"MM\0*": "TIFF file",
    b"RIFF": "RIFF file",
    b"OggS": "Ogg file",
    b"fLaC": "FLAC file",
    b"\x93NUMPY": "NumPy file",
}


class Kind(enum.Enum):
    """How a value is shown."""

    IMAGE = "image"
    SEQUENCE = "sequence"
    MASK = "mask"
    MAP = "map"
    WAVEFORM = "waveform"
    BOXES = "boxes"
    FILE = "file"
    NUMBERS = "numbers"


def layout_of(value: StepValue) -> str:
    """Return the layout of a value, or a guess by its shape where it has none; or an empty text."""
    return layout_or_guess(value.array, value.layout)


def kind_of(value: StepValue) -> Kind:
    """Return how a value is shown, by its layout, type and shape."""
    array, layout = value.array, layout_of(value)
    if value.boxes:
        return Kind.BOXES
    if array.size == 0 or array.dtype.kind not in "buif":
        return Kind.NUMBERS
    if set(layout) in ({"H", "W"}, {"H", "W", "C"}):
        channels = array.shape[layout.index("C")] if "C" in layout else 1
        return Kind.MASK if channels == 1 and _has_labels(value) else Kind.IMAGE
    if {"H", "W"} <= set(layout) and array.ndim <= 4 and len(set(layout) - set("FHWCD")) == 0:
        return Kind.SEQUENCE
    if layout == "ft" or (array.ndim == 2 and layout == "tf"):
        return Kind.MAP
    if array.ndim == 1 and array.dtype == np.uint8 and (file_type(value) or array.size > 256):
        return Kind.FILE
    return Kind.WAVEFORM if _is_sound(value) else Kind.NUMBERS


def file_type(value: StepValue) -> str:
    """Return which type of file begins as the bytes do; empty if it is not known."""
    start = value.array.ravel()[:8].astype(np.uint8).tobytes() if value.array.size else b""
    return next((name for magic, name in _FILES.items() if start.startswith(magic)), "")


def text_of(value: StepValue) -> str:
    """Return the text that bytes spell, if they are printable; otherwise an empty text."""
    array = value.array
    if array.dtype != np.uint8 or array.ndim != 1 or not 1 < array.size <= 256:
        return ""
    try:
        text = array.tobytes().rstrip(b"\0").decode()
    except UnicodeDecodeError:
        return ""
    return text if text.isprintable() else ""


def _has_labels(value: StepValue) -> bool:
    array = value.array
    if array.dtype.kind == "f":
        return False
    if array.dtype == np.uint8:
        return int(array.max()) <= _LARGEST_LABEL
    return True


def _is_sound(value: StepValue) -> bool:
    array, layout = value.array, value.layout
    if array.ndim not in (1, 2) or len(array) < _FEWEST_SOUND_SAMPLES:
        return False
    if layout not in ("", "t", "tc") or (array.ndim == 2 and array.shape[1] > _MOST_CHANNELS):
        return False
    # Without a layout, integers and pairs of numbers may be anything.
    return bool(layout) or (array.dtype.kind == "f" and array.ndim == 1)
