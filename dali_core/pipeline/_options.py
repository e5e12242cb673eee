"""The arguments of `Pipeline`, checked."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

from dali_core import types
from dali_core._call.location import user_location
from dali_core.batching.arguments import make_batching
from dali_core.batching.plan import Batching
from dali_core.pipeline._checks import (
    bad_sample_limit,
    checkpoint_data,
    is_left_out,
    optional_enum,
    optional_int,
    positive_int,
    prefetch_depth,
    thread_count,
)
from dali_core.pipeline._outputs import ExpectedOutputs
from dali_core.pipeline._worker_settings import WorkerSettings


class PipelineOptions:
    """The arguments of `Pipeline`, which has them as properties.

    Parameters
    ----------
    given : dict
        All arguments as they were given, or by default.

    Attributes
    ----------
    given : dict
        The same; what `serialize` writes.
    batching : Batching
        The batches; of size 0 as long as none is given. Those by lengths are bound to their data
        when the pipeline starts.
    seed : int
        The seed, or a random one if `seed_is_given` is False.
    depth : int
        How many batches are in flight at once; 1 unless they are computed ahead.
    replaces_failed : bool
        Whether good samples take the place of bad ones.

    Raises
    ------
    ArgumentTypeError, ArgumentValueError
        If an argument has the wrong type or an impossible value.
    """

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        size, seed = given["batch_size"], given["seed"]
        # A flag is a number, too: programs pass one to draw the same numbers each time.
        seed = optional_int("seed", int(seed) if isinstance(seed, bool) else seed, *_SEEDS)
        size = None if is_left_out(size) else positive_int("batch_size", size)
        self.batching: Batching = make_batching(
            f"Pipeline at {user_location()}", given["batching"], size, given["lengths"]
        )
        self.num_threads = thread_count(given["num_threads"])
        self.device_id = optional_int("device_id", given["device_id"])
        self.seed_is_given = seed is not None and seed >= 0
        self.seed = (seed or 0) % 2**64 if self.seed_is_given else secrets.randbits(63)
        self.exec_pipelined = bool(given["exec_pipelined"])
        self.exec_async = bool(given["exec_async"])
        self.prefetch_queue_depth: int | Mapping[str, int] = given["prefetch_queue_depth"]
        depth = prefetch_depth(self.prefetch_queue_depth)
        self.depth = depth if self.exec_pipelined else 1
        self.set_affinity = bool(given["set_affinity"])
        self.enable_memory_stats = bool(given["enable_memory_stats"])
        self.enable_checkpointing = bool(given["enable_checkpointing"])
        self.workers = WorkerSettings(
            given["py_num_workers"], given["py_start_method"], given["py_callback_pickler"]
        )
        self.exec_dynamic: bool | None = given["exec_dynamic"]
        if given["experimental_exec_dynamic"] is not None:
            self.exec_dynamic = given["experimental_exec_dynamic"]
        name = "default_cuda_stream_priority"
        self.stream_priority = optional_int(name, given[name]) or 0
        self.stream_policy = optional_enum(
            "stream_policy", given["stream_policy"], types.StreamPolicy
        )
        self.concurrency = optional_enum(
            "concurrency", given["concurrency"], types.OperatorConcurrency
        )
        self.optimize = bool(given["optimize"])
        on_sample_error = given["on_sample_error"]
        self.max_bad_samples = bad_sample_limit(on_sample_error, given["max_bad_samples"])
        self.replaces_failed = on_sample_error == "replace"
        self.expected = ExpectedOutputs(
            given["output_dtype"], given["output_ndim"], given["output_layout"]
        )
        self.checkpoint = checkpoint_data(given["checkpoint"])

    def queue_size(self, kind: str) -> int:
        """Return how many batches are in flight at once: `kind` is "cpu_size" or "gpu_size"."""
        depth = self.prefetch_queue_depth
        return depth[kind] if isinstance(depth, Mapping) else depth


_SEEDS = (-(2**63), 2**64 - 1)
