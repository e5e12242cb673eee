"""Finds resources of the simulated driver that a program has leaked when it ends."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from tests.cuda.simulated_driver import control


def expect_nothing_left(num_devices: int = 1) -> None:
    """Make the program fail if it leaks resources of the driver. Call it before any use."""
    from cuda.bindings import driver

    driver.cuInit(0)
    # Otherwise the context frees its resources.
    for number in range(num_devices):
        driver.cuDevicePrimaryCtxRetain(number)
    before = control.live()

    def compare() -> None:
        # Objects that the program still references are deleted with it.
        program = vars(sys.modules["__main__"])
        for name in [name for name in program if not name.startswith("__")]:
            del program[name]
        gc.collect()
        after = control.live()
        if after != before:
            changed = {name: count for name, count in after.items() if count != before[name]}
            print(f"not given back: {changed}", file=sys.stderr, flush=True)
            os._exit(70)

    # Functions that are registered later run earlier.
    atexit.register(compare)
