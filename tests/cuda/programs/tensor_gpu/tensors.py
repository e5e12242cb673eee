"""Data on a device that is computed late, in a process that must release everything."""

import os

import numpy

from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(int(os.environ["DALI_CORE_SIMULATED_DEVICES"]))
# Imported after it: what it registers for the exit comes first.
from tests.cuda.other_library import Consumer as Consumer
from tests.cuda.other_library import DeviceArray as DeviceArray
from tests.cuda.other_library import Interface as Interface
from tests.cuda.other_library import Reading as Reading
from tests.cuda.other_library import call as call
from tests.cuda.other_library import consume as consume
from tests.cuda.other_library import enter as enter
from tests.cuda.other_library import new_stream as new_stream


def slow(array, device=0, seconds=0.05, **stated):
    stream = new_stream(device)
    control.set_delay(seconds, stream)
    return DeviceArray(array, device=device, stream=stream, **stated)


def same(tensor, expected):
    numpy.testing.assert_array_equal(numpy.asarray(tensor.as_cpu()), expected, strict=True)


data = numpy.arange(24, dtype="int16").reshape(2, 3, 4)
