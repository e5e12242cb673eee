"""The thread that runs the steps of a pipeline."""

from __future__ import annotations

import weakref

from dali_core._execution.steps import Steps
from dali_core._runtime.executor import Executor
from dali_core._runtime.step_task import next_step


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
