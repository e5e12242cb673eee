"""How arrays are recognized and drawn."""

from __future__ import annotations

import numpy as np
import pytest

from dali_core._display.coloring import heat_map, label_map, photo, waveform
from dali_core.errors import SampleError
from dali_core.inspection import InspectedSample, SampleStep, StepValue
from dali_core.inspection.boxes import corners
from dali_core.inspection.kinds import Kind, kind_of
from dali_core.inspection.panels import Panel, panels_of


def value(array: np.ndarray, layout: str = "", boxes: str = "") -> StepValue:
    return StepValue("value", np.asarray(array), layout, "", (), boxes)


def panel(array: np.ndarray, layout: str = "") -> Panel:
    step = SampleStep("step", "fn.step", "train.py:3", "cpu", values=(value(array, layout),))
    return panels_of(InspectedSample(0, 0, [step], 0))[0].panels[0]


IMAGE = np.arange(20 * 30 * 3, dtype=np.uint8).reshape(20, 30, 3)
KINDS = [
    (IMAGE, "HWC", Kind.IMAGE),
    (IMAGE, "", Kind.IMAGE),
    (IMAGE.transpose(2, 0, 1).astype(np.float32), "CHW", Kind.IMAGE),
    (IMAGE[:, :, 0], "HW", Kind.IMAGE),
    (IMAGE[:, :, 0] % 5, "HW", Kind.MASK),
    (IMAGE[:, :, :1].astype(np.int32), "HWC", Kind.MASK),
    (IMAGE[:, :, 0] > 3, "", Kind.MASK),
    (np.stack([IMAGE] * 6), "FHWC", Kind.SEQUENCE),
    (np.stack([IMAGE] * 6).transpose(0, 3, 1, 2), "FCHW", Kind.SEQUENCE),
    (np.zeros((33, 20), np.float32), "ft", Kind.MAP),
    (np.zeros((33, 20), np.float32), "", Kind.MAP),
    (np.zeros(1000, np.float32), "", Kind.WAVEFORM),
    (np.zeros((1000, 2), np.float32), "tc", Kind.WAVEFORM),
    (np.zeros(1000, np.int16), "t", Kind.WAVEFORM),
    (np.frombuffer(b"\xff\xd8\xff\xe0" + bytes(400), np.uint8), "", Kind.FILE),
    (np.zeros(1000, np.uint8), "", Kind.FILE),
    (np.float32(3.5), "", Kind.NUMBERS),
    (np.zeros((0, 20, 3), np.uint8), "HWC", Kind.NUMBERS),
    (np.zeros((5, 4), np.float32), "", Kind.NUMBERS),
    (np.zeros((2, 3, 4, 5, 6), np.float32), "", Kind.NUMBERS),
]


@pytest.mark.parametrize(("array", "layout", "kind"), KINDS)
def test_kinds_of_panels(array: np.ndarray, layout: str, kind: Kind) -> None:
    assert kind_of(value(array, layout)) is kind
    assert bool(panel(array, layout).pictures) == (kind not in (Kind.NUMBERS, Kind.FILE))


def test_images_become_viewable() -> None:
    image, text = photo(IMAGE)
    assert text == ""
    np.testing.assert_array_equal(image, IMAGE)
    image, text = photo(IMAGE.astype(np.float32))
    assert text == "0 to 255"
    np.testing.assert_array_equal(image, IMAGE)
    image, text = photo(IMAGE.astype(np.float32) / 255)
    assert text == "0 to 1"
    np.testing.assert_array_equal(image, IMAGE)
    normal = (IMAGE.astype(np.float32) - 100) / 50
    normal[0, 0, 0] = np.nan
    normal[0, 0, 1] = np.inf
    image, text = photo(normal)
    assert text == "-2 to 3.1"
    assert image[0, 0].tolist()[:2] == [0, 255]
    assert image[0, 1].tolist() == IMAGE[0, 1].tolist()
    assert photo(np.full((2, 2, 1), np.nan))[1] == "no finite numbers"
    assert photo(np.full((2, 2, 2), 7.0))[0].shape == (2, 2, 3)
    assert photo(np.full((2, 2, 5), -7.0))[0].shape == (2, 2, 3)


def test_frames_have_one_scale_and_are_in_order() -> None:
    clip = np.stack([np.full((8, 9, 3), 10.0 * i - 5) for i in range(10)]).astype(np.float32)
    shown = panel(clip, "FHWC")
    assert len(shown.pictures) == 4
    assert [int(picture.image[0, 0, 0]) for picture in shown.pictures] == [0, 85, 170, 255]
    assert shown.text == "frames 0, 3, 6, 9 of 10; shown from -5 to 85"
    assert shown.pictures[1].label == "sequence value of fn.step, frame 2 of 4 shown"


def test_labels_have_colors_of_their_own() -> None:
    mask = np.arange(64).reshape(8, 8)
    image = label_map(mask)
    assert image[0, 0].tolist() == [0, 0, 0]
    assert len({tuple(color) for color in image.reshape(-1, 3).tolist()}) == 64
    assert label_map(np.array([[7, -1]]))[0, 0].tolist() == image[0, 7].tolist()
    assert panel(mask, "HW").text == "64 labels: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ..."


def test_maps_have_low_frequencies_at_the_bottom() -> None:
    array = np.zeros((9, 12), np.float32)
    array[0] = 5
    image, text = heat_map(array)
    assert text == "0 to 5"
    assert image[-1].sum() > image[0].sum()
    assert heat_map(np.full((9, 9), np.nan))[0].shape == (9, 9, 3)


def test_waveforms() -> None:
    signal = np.concatenate([np.zeros(500), np.sin(np.arange(500))])
    image = waveform(signal)
    dark = (image == (31, 98, 158)).all(axis=2).sum(axis=0)
    assert dark[:100].max() == 1
    assert dark[-50:].min() > 20
    assert waveform(np.zeros(70)).shape == image.shape


def test_texts() -> None:
    def text(array: np.ndarray) -> str:
        return panel(array).text

    assert text(np.float32(0.25)) == "0.25"
    assert text(np.array([1, 2])) == "[1, 2]"
    assert text(np.frombuffer(b"a name\0", np.uint8)) == '"a name"'
    assert text(np.zeros(0)) == "empty"
    assert text(np.arange(40)) == "from 0 to 39, mean 19.5"
    assert text(np.frombuffer(b"RIFF" + bytes(300), np.uint8)) == "RIFF file, 304 bytes"


def test_boxes() -> None:
    relative = np.array([[0.1, 0.2, 0.5, 0.4]])
    np.testing.assert_allclose(corners(relative, "ltrb", 100, 200), [[20, 20, 100, 40]])
    np.testing.assert_allclose(corners(relative, "xywh", 100, 200), [[20, 20, 120, 60]])
    absolute = np.array([[10, 20, 30, 40]], np.float32)
    np.testing.assert_allclose(corners(absolute, "xywh", 100, 200), [[10, 20, 40, 60]])
    assert corners(np.zeros((0, 4)), "ltrb", 100, 200).shape == (0, 4)
    steps = [
        SampleStep(name, "fn.step", "", "cpu", values=(StepValue(name, array, "", "", (), form),))
        for name, array, form in (
            ("before", IMAGE, ""),
            ("boxes", relative, "ltrb"),
            ("between", IMAGE, ""),
            ("none", np.zeros((0, 4)), "ltrb"),
            ("after", IMAGE, ""),
        )
    ]
    shown = [entry.panels[0] for entry in panels_of(InspectedSample(0, 0, steps, 0))]
    drawn = [len(entry.pictures[0].boxes) if entry.pictures else None for entry in shown]
    assert drawn == [0, None, 1, None, 0]
    assert shown[2].pictures[0].label.endswith("with 1 boxes")


def test_samples_are_described() -> None:
    failed = SampleStep("b", "fn.b", "", "cpu", error=SampleError("is bad", source="x.jpg"))
    steps = [SampleStep("a", "fn.a", "", "cpu", values=(value(IMAGE, "HWC"),)), failed]
    sample = InspectedSample(4, 1, steps, 1)
    assert str(sample).splitlines() == [
        "sample 4 of epoch 1, x.jpg",
        "  fn.a (a): HWC 20 x 30 x 3 uint8",
        "  fn.b (b): failed: is bad",
    ]
    assert sample.error is failed.error
    assert sample.outputs == (None,)
