"""Streams of other libraries."""

import ctypes
import weakref
from importlib.metadata import version

from cuda.bindings import driver

from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control


class Foreign:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


class Protocol:
    def __init__(self, version, handle):
        self.answer = version, handle

    def __cuda_stream__(self):
        return self.answer


expect_nothing_left(2)
theirs = cuda.Stream(0)
handle = theirs.handle
for stream in (
    handle,
    ctypes.c_void_p(handle),
    Foreign(cuda_stream=handle),
    Foreign(ptr=handle),
    Foreign(handle=handle),
    Protocol(0, handle),
    Foreign(__cuda_stream__=(0, handle)),
):
    wrapped = cuda.Stream.wrap(stream, 0)
    assert (wrapped.handle, wrapped.device_id, wrapped.is_own) == (handle, 0, False)
    wrapped.record().synchronize()
# The default stream, also that of a thread.
for stream in (None, 0, 1, 2, ctypes.c_void_p(), ctypes.c_void_p(2), Protocol(0, 0)):
    assert cuda.Stream.wrap(stream, 1).handle == 1
assert cuda.Stream.wrap(theirs, 0) is theirs

for wrong in ("3", 2.5, True, -1, object(), Foreign(ptr="x")):
    try:
        cuda.Stream.wrap(wrong, 0)
    except errors.ArgumentTypeError as error:
        assert "Stream.wrap: stream must be a handle" in str(error)
    else:
        raise AssertionError(wrong)
# Version 13 takes parameters before.
first = () if version("cuda-bindings").startswith("12.") else (None,)
status, context = driver.cuCtxCreate(*first, 0, 0)
status, elsewhere = driver.cuStreamCreate(0)
driver.cuCtxPopCurrent()
for wrong, device in ((theirs, 1), (handle, 1), (Protocol(1, handle), 0), (int(elsewhere), 0)):
    try:
        cuda.Stream.wrap(wrong, device)
    except errors.ArgumentValueError as error:
        assert "Stream.wrap: " in str(error)
    else:
        raise AssertionError(wrong)
driver.cuCtxDestroy(context)

# It lives for as long as memory that is to be given back there.
stream = Protocol(0, handle)
seen = weakref.ref(stream)
block = memory.Buffer(cuda.Stream.wrap(stream, 0), 100)
del stream, wrapped
assert seen() is not None
del block
assert seen() is None
# Ours are destroyed by us, theirs by them.
assert control.live()["streams"] == 1
