"""The thread that runs the steps of a pipeline, and the end of all its threads."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable

from dali_core._execution.device_stages import DeviceStages
from dali_core._execution.steps import Steps
from dali_core._runtime.executor import Executor
from dali_core._runtime.step_task import next_step
from dali_core._storage import Storage

_GRACE_SECONDS = 2.0


def run_steps(executor: Executor, steps: weakref.ref[Steps]) -> None:
    """Body of the thread that runs steps. It keeps no pipeline alive while it waits."""
    while not executor.closed:
        task = next_step(executor, 1.0, for_caller=False)
        if task is None:
            continue
        owner = steps()
        if owner is None:
            break
        owner.run(task)
        del task, owner
    task = None
    # What the last step held has come back after the executor was closed.
    executor.trim()


def end_threads(
    executor: Executor,
    step_thread: threading.Thread | None,
    device: DeviceStages | None,
    storages: Iterable[Storage],
) -> None:
    """End the threads of a pipeline, and what runs on its device."""
    for storage in storages:
        storage.stop()
    executor.close()
    is_own = step_thread is threading.current_thread()
    if step_thread is not None and not is_own and step_thread.is_alive():  # it may not have started
        step_thread.join(_GRACE_SECONDS)
    if device is not None:
        device.close()
