"""Concurrent initialization happens once."""

import threading

from dali_core import cuda
from tests.cuda.simulated_driver import control

start = threading.Barrier(8)
streams = []


def begin():
    start.wait()
    streams.append(cuda.Stream(0))


threads = [threading.Thread(target=begin) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert len({stream.handle for stream in streams}) == 8
assert control.counts()["cuInit"] == 1
assert control.live()["primary_context_retains"] == 1
