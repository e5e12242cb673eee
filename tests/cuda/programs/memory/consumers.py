"""Consumers."""

import contextlib
import ctypes

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control

size = 1000
old = (ctypes.c_char * size)(*b"o" * size)
own = cuda.Stream(0)
slow = cuda.Stream(0)
control.set_delay(0.05, slow.handle)
default = cuda.Stream.wrap(None, 0)


def what_is_read(note, consumers):
    block = memory.Buffer(own, size)
    memory.copy_pointers(block.pointer, ctypes.addressof(old), size, own)
    results = []
    # Its own stream waits for consumers that are noted, so these are slow, and others do nothing.
    with contextlib.nullcontext() if note else control.held(slow.handle):
        for consumer in consumers:
            consumer.wait(slow.record())
            consumer.wait(own)
            results.append(memory.Buffer(consumer, size))
            memory.copy_pointers(results[-1].pointer, block.pointer, size, consumer)
            for _ in range(note):
                block.record_stream(consumer)
        del block
        # What the simulated driver takes back is overwritten when the stream gets there.
        own.synchronize()
    read = []
    for result, consumer in zip(results, consumers):
        text = (ctypes.c_char * size)()
        memory.copy_pointers(ctypes.addressof(text), result.pointer, size, consumer)
        consumer.synchronize()
        read.append(text.raw)
    return read
