"""One process of a job that `test_processes` starts: prints the data that it received."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import numpy
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from dali_core.plugin.jax import LastBatchPolicy, data_iterator
from tests.adapters.dali_core_jax.pipelines import read_numbers
from tests.hanging import HANG_SECONDS


def run(options: argparse.Namespace) -> dict[str, Any]:
    """Iterate over some epochs, and let all processes compute with the global batches."""
    mesh = Mesh(jax.devices(), ("data",))
    make = data_iterator(
        read_numbers,
        output_map=["x"],
        reader_name="numbers",
        auto_reset=True,
        last_batch_policy=LastBatchPolicy[options.policy],
        sharding=NamedSharding(mesh, PartitionSpec("data")),
        mask_name="mask",
    )
    iterator = make(
        options.folder,
        options.num_samples,
        batch_size=options.batch_size,
        num_threads=1,
        pad_last_batch=options.pad,
        random_shuffle=options.shuffle,
    )
    total = jax.jit(lambda batch: (batch["x"][:, 0] * batch["mask"]).sum())
    epochs = []
    for _ in range(options.epochs):
        batches = []
        for batch in iterator:
            batches.append(
                {
                    "shape": batch["x"].shape,
                    "local": local_values(batch["x"]),
                    "mask": local_values(batch["mask"]),
                    # A collective operation: it would hang if one process were a batch short.
                    "sum": int(total(batch)),
                }
            )
        epochs.append(batches)
    return {"devices": [device.id for device in jax.local_devices()], "epochs": epochs}


def local_values(array: jax.Array) -> list[list[int]]:
    """Return the values on each device of this process."""
    return [numpy.asarray(shard.data).ravel().tolist() for shard in array.addressable_shards]


def main() -> None:
    """Join the job, run, and leave it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--coordinator", required=True)
    parser.add_argument("--processes", type=int, required=True)
    parser.add_argument("--process", type=int, required=True)
    parser.add_argument("--devices", type=int, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--num-samples", type=int, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--policy", default="PARTIAL")
    parser.add_argument("--pad", action="store_true")
    parser.add_argument("--shuffle", action="store_true")
    options = parser.parse_args()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", options.devices)
    jax.distributed.initialize(
        options.coordinator,
        options.processes,
        options.process,
        initialization_timeout=HANG_SECONDS,
    )
    print(json.dumps(run(options)))
    jax.distributed.shutdown()


if __name__ == "__main__":
    main()
