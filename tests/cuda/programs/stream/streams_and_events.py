"""Streams and events."""

from dali_core import cuda, errors
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(2)
stream = cuda.Stream(1)
assert (stream.device_id, stream.priority, stream.is_own) == (1, 0, True)
assert stream.__cuda_stream__() == (0, stream.handle)
assert repr(stream) == f"Stream(device_id=1, handle={stream.handle:#x})"
# The range is the device's.
assert cuda.Stream(1, -1).priority == -1
assert cuda.Stream(1, priority=-1000).priority > -1000
assert stream.is_idle()
event = cuda.Event(1)
assert event.device_id == 1
assert event.is_done()
for wrong in (3, None, "stream"):
    try:
        stream.wait(wrong)
    except errors.ArgumentTypeError as error:
        assert "Stream.wait: other must be an Event or a Stream" in str(error)
    else:
        raise AssertionError
# Events serve again and again.
del event
for _ in range(100):
    stream.record().synchronize()
assert control.counts()["cuEventCreate"] == 1
events = [stream.record() for _ in range(600)]
events[-1].synchronize()
events.clear()
assert control.live()["events"] == 256
# Nobody waited for all of a device.
assert control.device_wide() == {} or set(control.device_wide().values()) == {0}
