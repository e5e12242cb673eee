"""Finds what a program has not given back to the simulated driver when it ends."""

from __future__ import annotations

import atexit
import gc
import os
import sys

from tests.cuda.simulated_driver import control


def expect_nothing_left(num_devices: int = 1) -> None:
    """Let the program fail if it holds anything of the driver at its end. Comes before any use."""
    from cuda.bindings import driver

    driver.cuInit(0)
    # Otherwise the context takes with it what belongs to it.
    for number in range(num_devices):
        driver.cuDevicePrimaryCtxRetain(number)
    before = control.live()

    def compare() -> None:
        # What the program still holds goes with it.
        program = vars(sys.modules["__main__"])
        for name in [name for name in program if not name.startswith("__")]:
            del program[name]
        gc.collect()
        after = control.live()
        if after != before:
            changed = {name: count for name, count in after.items() if count != before[name]}
            print(f"not given back: {changed}", file=sys.stderr, flush=True)
            os._exit(70)

    # What is registered later runs earlier.
    atexit.register(compare)
