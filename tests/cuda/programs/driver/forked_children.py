"""Forked children."""

import gc
import os

from dali_core import cuda, errors
from dali_core._cuda import memory
from tests.cuda.simulated_driver import control


def in_child(function):
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0


# A child may use GPUs before its parent does,
in_child(lambda: memory.Buffer(cuda.Stream(0), 10))

stream = cuda.Stream(0)
held = [memory.Buffer(stream, 100), stream.record()]
memory.preallocate_host(100)
control.set_delay(0.01)


def use_inherited():
    calls = control.counts()
    for use in (
        stream.synchronize,
        stream.record,
        held[1].is_done,
        cuda.memory_stats,
        cuda.device_count,
        lambda: memory.Buffer(stream, 1),
    ):
        try:
            use()
        except errors.CudaError as error:
            assert "its parent used before the fork" in str(error)
            assert "spawn" in str(error)
        else:
            raise AssertionError
    assert not cuda.is_available()
    # and what it has inherited is not its own to give back.
    held.clear()
    globals().pop("stream")
    gc.collect()
    assert control.counts() == calls


in_child(use_inherited)
held[0] = None
stream.synchronize()
