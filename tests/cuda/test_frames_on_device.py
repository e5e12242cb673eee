"""Sequences whose arguments differ from frame to frame, on a device."""

from __future__ import annotations

import pytest

from tests.cuda.simulated_driver import run_simulated
from tests.cuda.test_pipeline_streams import PRELUDE

pytest.importorskip("cuda.bindings", reason="not available: cuda-bindings")

HELPERS = """
clips = [
    np.random.default_rng(i).integers(0, 256, (4, 5 + i, 7, 3), np.uint8) for i in range(3)
]
# Some frames stay as they are; one of the samples has a single value for all frames.
values = [np.float32([1, 0.5, 1, 2]), np.float32([1, 1, 1, 1]), np.float32([0.7])]

def result(operator, device, dtype, layout="FHWC", numbers=None, **arguments):
    def outputs():
        data = [clip.astype(dtype) for clip in clips]
        clip = fn.external_source(source=lambda: data, layout=layout, device="cpu")
        taken = numbers or values
        given = fn.per_frame(fn.external_source(source=lambda: taken))
        clip = clip.gpu() if device == "gpu" else clip
        made = operator(clip, given)
        assert made.device == device
        return [made]
    (batch,) = made(outputs, batch_size=3).run()
    assert isinstance(batch, TensorListGPU if device == "gpu" else TensorListCPU)
    layout = batch.layout()
    batch = batch.as_cpu() if device == "gpu" else batch
    return [np.array(sample) for sample in batch], layout

def compare(operator, dtype):
    expected, layout = result(operator, "cpu", dtype)
    found, found_layout = result(operator, "gpu", dtype)
    assert layout == found_layout == "FHWC"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    return found
"""


def run(program: str) -> None:
    run_simulated(PRELUDE + HELPERS + program, delay=0.0005)


def test_colours_for_each_frame() -> None:
    run(
        """
operators = [
    lambda clip, value: fn.brightness(clip, brightness=value),
    lambda clip, value: fn.brightness(clip, brightness=value, brightness_shift=0.1),
    lambda clip, value: fn.contrast(clip, contrast=value),
    lambda clip, value: fn.brightness_contrast(
        clip, brightness=value, contrast=value, dtype=types.FLOAT
    ),
]
for operator in operators:
    for dtype in ("uint8", "int16", "int32", "float32"):
        found = compare(operator, dtype)
changed = compare(operators[0], "int32")
np.testing.assert_array_equal(changed[0][0], clips[0][0].astype("int32"))
assert (changed[0][1] != clips[0][1]).any() and (changed[0][3] != changed[0][1]).any()
np.testing.assert_array_equal(changed[1], clips[1].astype("int32"))

mixes = [
    lambda clip, value: fn.saturation(clip, saturation=value),
    lambda clip, value: fn.hue(clip, hue=value),
    lambda clip, value: fn.hsv(clip, hue=30, saturation=value, value=value),
    lambda clip, value: fn.color_twist(clip, brightness=value, contrast=value, hue=value),
]
for operator in mixes:
    for dtype in ("uint8", "int16", "float32"):
        compare(operator, dtype)
twisted = compare(mixes[0], "uint8")
np.testing.assert_array_equal(twisted[0][2], clips[0][2])
assert (twisted[0][1] != clips[0][1]).any()
"""
    )


def test_per_frame_on_the_device() -> None:
    run(
        """
def marked(device):
    def outputs():
        clip = fn.external_source(source=lambda: clips, layout="DHWC")
        clip = clip.gpu() if device == "gpu" else clip
        return [fn.per_frame(clip, replace=True)]
    (batch,) = made(outputs, batch_size=3).run()
    assert batch.layout() == "FHWC"
    return batch.as_cpu() if device == "gpu" else batch

for one, other in zip(marked("gpu"), marked("cpu"), strict=True):
    np.testing.assert_array_equal(np.array(one), np.array(other), strict=True)
"""
    )


def test_rejects_arguments_of_wrong_length() -> None:
    """The errors are those of the host."""
    run(
        """
def brighter(clip, value):
    return fn.brightness(clip, brightness=value)

def message(device, **options):
    try:
        result(brighter, device, "uint8", **options)
    except SampleError as error:
        return str(error).split("sample 0")[-1]
    raise AssertionError("no error")

three = [np.ones(3, np.float32)] * 3
for options in ({"numbers": three}, {"layout": "DHWC"}):
    on_host, on_device = message("cpu", **options), message("gpu", **options)
    assert on_host.startswith(on_device), (on_host, on_device)
assert "one value for each of the 4 frames" in message("gpu", numbers=three)
"""
    )
