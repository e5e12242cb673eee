"""A cluster of two nodes in this machine, which is gone after the tests of a module."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from dali_core.plugin.base_iterator import IncompleteEpochWarning
from tests.adapters.dali_core_ray import pipelines

collect_ignore_glob: list[str] = []
try:
    import ray
    from ray.cluster_utils import Cluster
except ImportError:
    collect_ignore_glob.append("test_*.py")

STORE = 100 * 2**20


def children() -> list[str]:
    """Return the processes of Ray that this one has started, directly or not."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    rows = [line.split(None, 3) for line in listed]
    found, new = [], {str(os.getpid())}
    while new:
        below = [row for row in rows if row[1] in new]
        found += [row[3] for row in below if "Z" not in row[2] and "ps -eo" not in row[3]]
        new = {row[0] for row in below}
    return found


@pytest.fixture(autouse=True)
def any_epochs() -> Iterator[None]:
    """Allow epochs that repeat samples, which processes of the same length have."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IncompleteEpochWarning)
        yield


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """Start the nodes; every one has two CPUs, which are only counted."""
    before = children()
    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    # Sent by value: workers need not find the tests.
    ray.cloudpickle.register_pickle_by_value(pipelines)
    paths = os.pathsep.join(path for path in sys.path if path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of Ray's own processes and files
        nodes = Cluster(
            initialize_head=True,
            head_node_args={
                "num_cpus": 2,
                "object_store_memory": STORE,
                "include_dashboard": False,
                "include_log_monitor": False,
                "env_vars": {"PYTHONPATH": paths},
            },
        )
        try:
            add_node(nodes)
            ray.init(address=nodes.address, logging_level="ERROR", log_to_driver=False)
            yield nodes
        finally:
            ray.shutdown()
            nodes.shutdown()
    assert children() == before


def add_node(nodes: Any) -> Any:
    """Add a node with two CPUs."""
    return nodes.add_node(
        num_cpus=2, object_store_memory=STORE, include_log_monitor=False, wait=True
    )


@pytest.fixture(scope="package")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the paths of arrays."""
    return pipelines.make_arrays(tmp_path_factory.mktemp("arrays"))
