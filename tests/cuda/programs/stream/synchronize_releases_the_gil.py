"""Synchronize releases the gil."""

import sys
import threading

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control

stream = cuda.Stream(0)
block = memory.Buffer(stream, 8)
stream.synchronize()
sys.setswitchinterval(3600)  # nobody else gets the GIL unless this thread waits


def hold_until(queued, waits):
    with control.held(stream.handle):
        queued.set()
        waits.wait()


for wait in (lambda event: event.synchronize(), lambda event: stream.synchronize()):
    held, waits = threading.Event(), threading.Event()
    thread = threading.Thread(target=hold_until, args=(held, waits))
    thread.start()
    held.wait()
    memory.copy_pointers(block.pointer, block.pointer + 4, 4, stream)
    event = stream.record()
    assert not event.is_done()
    waits.set()
    wait(event)
    thread.join()
