"""Views of values: pictures, or a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dali_core._display.coloring import Image8, heat_map, label_map, photo, waveform
from dali_core._display.layouts import channels_last
from dali_core.inspection.boxes import corners
from dali_core.inspection.kinds import Kind, file_type, kind_of, layout_of, text_of
from dali_core.inspection.samples import InspectedSample, SampleStep, StepValue, describe_value

_MOST_FRAMES = 4
_MOST_NUMBERS = 12
_MOST_BOXES = 100


@dataclass(frozen=True)
class Picture:
    """An image, and boxes over it.

    Attributes
    ----------
    image : uint8 array of shape (height, width, 3)
        The pixels.
    boxes : float array of shape (N, 4)
        Left, top, right and bottom in pixels.
    kind : Kind
        What it shows.
    label : str
        What it shows, for those who do not see it.
    """

    image: Image8
    boxes: NDArray[np.float64]
    kind: Kind
    label: str


@dataclass(frozen=True)
class Panel:
    """What is shown of one value.

    Attributes
    ----------
    value : StepValue
        The value.
    description : str
        Its layout, shape and type.
    pictures : tuple of Picture
        One, or several frames; empty for a text.
    text : str
        The numbers, or how they became colors.
    """

    value: StepValue
    description: str
    pictures: tuple[Picture, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class StepPanels:
    """What is shown of one step: a panel for each value, or why there is none."""

    step: SampleStep
    panels: tuple[Panel, ...]


def panels_of(sample: InspectedSample) -> list[StepPanels]:
    """Return what is shown of the steps of a sample."""
    return [
        StepPanels(step, tuple(_panel(step, value, form, boxes) for value in step.values))
        for step, form, boxes in _with_boxes(sample)
    ]


def _with_boxes(sample: InspectedSample) -> Iterator[tuple[SampleStep, str, NDArray[Any]]]:
    """Go through the steps, each with the boxes that were made last before it.

    Yields
    ------
    SampleStep, str, array
        The step, and format and boxes; an empty format if there are none.
    """
    form, boxes = "", np.zeros((0, 4))
    for step in sample.values():
        yield step, form, boxes
        for value in step.values:
            if value.boxes and value.array.ndim == 2 and value.array.shape[1] == 4:
                form, boxes = value.boxes, value.array


def _panel(step: SampleStep, value: StepValue, form: str, boxes: NDArray[Any]) -> Panel:
    kind = kind_of(value)
    images, text = _SHOWN[kind](value)
    pictures = []
    for number, image in enumerate(images):
        over = np.zeros((0, 4))
        if form and kind is Kind.IMAGE:
            over = corners(boxes[:_MOST_BOXES], form, *image.shape[:2])
        which = f", frame {number + 1} of {len(images)} shown" if len(images) > 1 else ""
        with_boxes = f", with {len(over)} boxes" if len(over) else ""
        label = f"{kind.value} {value.name} of {step.operator}{which}{with_boxes}"
        pictures.append(Picture(image, over, kind, label))
    return Panel(value, describe_value(value), tuple(pictures), text)


def _image(value: StepValue) -> tuple[list[Image8], str]:
    image, text = photo(channels_last(value.array, layout_of(value)))
    return [image], _shown_from(text)


def _sequence(value: StepValue) -> tuple[list[Image8], str]:
    layout = layout_of(value)
    axis = next(place for place, letter in enumerate(layout) if letter in "FD")
    count = value.array.shape[axis]
    chosen = sorted({round(i) for i in np.linspace(0, count - 1, _MOST_FRAMES)})
    clip = np.take(value.array, chosen, axis=axis)
    frames = [
        channels_last(np.take(clip, number, axis=axis), layout[:axis] + layout[axis + 1 :])
        for number in range(len(chosen))
    ]
    shown, text = photo(np.concatenate(frames))
    parts = [f"frames {', '.join(map(str, chosen))} of {count}", _shown_from(text)]
    return np.split(shown, len(frames)), "; ".join(filter(None, parts))


def _mask(value: StepValue) -> tuple[list[Image8], str]:
    mask = channels_last(value.array, layout_of(value))[..., 0]
    labels = np.unique(mask)
    return [label_map(mask)], f"{len(labels)} labels: {_listed(labels)}"


def _map(value: StepValue) -> tuple[list[Image8], str]:
    array = value.array if layout_of(value) != "tf" else value.array.T
    image, text = heat_map(array)
    return [image], f"colors from {text}"


def _waveform(value: StepValue) -> tuple[list[Image8], str]:
    array = value.array
    largest = f"{float(np.abs(array.astype(np.float64)).max()):.3g}"
    signal = array if array.ndim == 1 else array.mean(axis=1)
    channels = "" if array.ndim == 1 else f"mean of {array.shape[1]} channels, "
    return [waveform(signal)], f"{channels}largest magnitude {largest}"


def _boxes(value: StepValue) -> tuple[list[Image8], str]:
    return [], f"{value.boxes}: {_numbers_text(value.array)}"


def _file(value: StepValue) -> tuple[list[Image8], str]:
    return [], f"{file_type(value) or 'bytes'}, {value.array.size:,} bytes"


def _numbers(value: StepValue) -> tuple[list[Image8], str]:
    text = text_of(value)
    return [], f'"{text}"' if text else _numbers_text(value.array)


def _numbers_text(array: NDArray[Any]) -> str:
    if array.size == 0:
        return "empty"
    if array.size <= _MOST_NUMBERS:
        return np.array2string(array, precision=4, separator=", ", max_line_width=60)
    if array.dtype.kind not in "buif":
        return f"{array.size} elements"
    values = array.astype(np.float64)
    low, mean, high = values.min(), values.mean(), values.max()
    return f"from {low:.4g} to {high:.4g}, mean {mean:.4g}"


def _listed(labels: NDArray[Any]) -> str:
    shown = ", ".join(str(int(label)) for label in labels[:_MOST_NUMBERS])
    return shown + (", ..." if len(labels) > _MOST_NUMBERS else "")


def _shown_from(text: str) -> str:
    return f"shown from {text}" if text else ""


_SHOWN: dict[Kind, Callable[[StepValue], tuple[Sequence[Image8], str]]] = {
    Kind.IMAGE: _image,
    Kind.SEQUENCE: _sequence,
    Kind.MASK: _mask,
    Kind.MAP: _map,
    Kind.WAVEFORM: _waveform,
    Kind.BOXES: _boxes,
    Kind.FILE: _file,
    Kind.NUMBERS: _numbers,
}
