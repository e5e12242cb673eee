"""Threads share memory."""

import ctypes
import random
import threading

from dali_core import cuda
from dali_core._cuda import memory
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(2)
handed_over = []
failures = []


def work(number):
    generator = random.Random(number)
    stream = cuda.Stream(number % 2)
    given = (ctypes.c_char * 500)(*bytes([number]) * 500)
    result = (ctypes.c_char * 500)()
    for _ in range(60):
        block = memory.Buffer(stream, generator.randrange(500, 3000))
        memory.copy_pointers(block.pointer, ctypes.addressof(given), 500, stream)
        memory.copy_pointers(ctypes.addressof(result), block.pointer, 500, stream)
        handed_over.append(block)
        del block
        if len(handed_over) > 10:
            handed_over.pop(0)
        stream.record().synchronize()
        if result.raw != given.raw:
            failures.append(number)


def started():
    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


started()
before = control.counts()
started()
after = control.counts()
assert failures == []
handed_over.clear()
assert cuda.memory_stats(0)["used_bytes"] == cuda.memory_stats(1)["used_bytes"] == 0
# A steady loop neither waits for a device nor asks for more.
assert sum(control.device_wide().values()) == 0
for name in ("cuMemAlloc", "cuMemPoolCreate", "cuDevicePrimaryCtxRetain"):
    assert before.get(name, 0) == after.get(name, 0)
