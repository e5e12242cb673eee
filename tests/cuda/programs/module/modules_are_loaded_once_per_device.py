"""Modules are loaded once per device."""

import threading

from dali_core._cuda import module
from tests.cuda.leaks import expect_nothing_left
from tests.cuda.simulated_driver import control

expect_nothing_left(2)
start = threading.Barrier(6)


def load(number):
    start.wait()
    module.load_kernel("copy_rows", number % 2)


threads = [threading.Thread(target=load, args=(number,)) for number in range(6)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
# If two threads loaded one, only one of the two is kept.
assert control.live()["modules"] == 2
loaded = control.counts()["cuModuleLoadDataEx"]
for number in (0, 1, 0, 1):
    module.load_kernel("copy_rows", number)
assert control.counts()["cuModuleLoadDataEx"] == loaded
