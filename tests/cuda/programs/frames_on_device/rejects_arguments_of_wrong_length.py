"""Rejects arguments of wrong length."""

import numpy as np

from dali_core import fn
from dali_core.errors import SampleError
from tests.cuda.programs.frames_on_device.clips import result


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
