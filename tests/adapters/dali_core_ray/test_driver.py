"""A training program that is killed leaves no actors, and another one goes on from its state."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.adapters.dali_core_ray.pipelines import as_bytes, epochs_of
from tests.adapters.dali_core_ray.test_loader import make_loader
from tests.children import is_running
from tests.waiting import wait_until

NUM_BATCHES = 4
PROGRAM = f"""
import json, os, pickle, sys
import ray
from tests.adapters.dali_core_ray import pipelines
from tests.adapters.dali_core_ray.test_loader import make_loader, processes

address, files, saved = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
ray.cloudpickle.register_pickle_by_value(pipelines)
ray.init(address=address, logging_level="ERROR", log_to_driver=False)
loader = make_loader(files, num_actors=2)
given = [pipelines.as_bytes(next(loader)) for _ in range({NUM_BATCHES})]
with open(saved, "wb") as file:
    pickle.dump((given, loader.state_dict(), processes(loader)), file)
print("saved", flush=True)
sys.stdin.read()  # until somebody kills it
"""


def test_killed_driver_leaves_no_processes(cluster: Any, files: list[str], tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    driver = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, cluster.address, json.dumps(files), str(saved)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert driver.stdout is not None
    assert driver.stdin is not None
    with driver.stdout, driver.stdin:
        assert driver.stdout.readline() == "saved\n"
        driver.kill()
        driver.wait()
    given, state, actors = pickle.loads(saved.read_bytes())
    assert len(actors) == 2
    wait_until(lambda: not any(map(is_running, actors)), lambda: actors)
    with make_loader(files) as loader:
        loader.load_state_dict(state)
        given += [as_bytes(batch) for batch in loader]
    assert [given] == epochs_of(files, 1)
