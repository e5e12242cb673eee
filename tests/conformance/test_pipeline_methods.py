"""Methods and properties of pipelines behave like those of NVIDIA DALI.

Every test performs the same calls with both libraries and compares a log of the results: values,
and for errors the classes that programs can catch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from tests.conformance.comparing import described
from tests.conformance.pipelines import (
    ARRAY,
    SIZE,
    build,
    check,
    empty,
    ending,
    made,
    outcome,
    outputs,
    plain,
    reference,
    release,
    reset,
    run,
    schedule,
    share,
    source,
    unchecked,
)
from tests.folders import make_folders

pytestmark = pytest.mark.filterwarnings("ignore")


PROPERTIES = [
    "batch_size",
    "max_batch_size",
    "num_threads",
    "device_id",
    "seed",
    "exec_pipelined",
    "exec_async",
    "exec_dynamic",
    "exec_separated",
    "prefetch_queue_depth",
    "cpu_queue_size",
    "gpu_queue_size",
    "default_cuda_stream_priority",
    "enable_memory_stats",
    "max_streams",
    "set_affinity",
    "num_outputs",
    "py_num_workers",
    "py_start_method",
    "concurrency",
    "stream_policy",
]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"seed": 5, "prefetch_queue_depth": 4},
        {"seed": -1, "exec_pipelined": False},
        {"exec_async": False, "exec_dynamic": False},
        {"exec_dynamic": True},
        {"experimental_exec_dynamic": False, "exec_dynamic": True},
        {"prefetch_queue_depth": {"cpu_size": 3, "gpu_size": 2}},
        # The reference ignores the priority of its stream; here it is the argument.
        {"enable_memory_stats": True, "max_streams": 3},
        {"py_num_workers": 3, "py_start_method": "spawn", "bytes_per_sample": 7},
    ],
    ids=str,
)
def test_properties(arguments: dict[str, Any]) -> None:
    calls = [lambda p, _, name=name: getattr(p, name) for name in PROPERTIES]
    log = check(
        *calls,
        lambda p, _: [p.output_dtype(), p.output_ndim()],
        lambda p, _: p.run(),
        *calls,
        make=lambda library: made(library, **arguments),
    )
    assert len(log) == 2 * len(PROPERTIES) + 2


def test_policies() -> None:
    for name, members in (
        ("OperatorConcurrency", ("UNSPECIFIED", "NONE", "BACKEND", "FULL")),
        ("StreamPolicy", ("UNSPECIFIED", "SINGLE", "PER_BACKEND", "PER_OPERATOR")),
    ):
        argument = {"OperatorConcurrency": "concurrency", "StreamPolicy": "stream_policy"}[name]
        ours, theirs = getattr(dali_core, name), getattr(reference, name)
        assert {member.name for member in ours} == {member.name for member in theirs}
        assert {m.name: m.value for m in ours} == {m.name: int(m.value) for m in theirs}
        for member in members:
            check(
                lambda p, _, argument=argument: getattr(p, argument).name,
                lambda p, _: p.run(),
                make=lambda library, name=name, member=member, argument=argument: made(
                    library, **{argument: getattr(getattr(library, name), member)}
                ),
            )


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("output_dtype", ["INT64", ["INT64"], ["INT64", None], "FLOAT", "NO_TYPE", [None], None]),
        ("output_ndim", [0, [0], 1, [0, 1], -1, "a", [None], None]),
        ("output_layout", ["", "HWC", ["HWC"], [""], 3, None]),
    ],
)
def test_expected_outputs(name: str, values: Sequence[Any]) -> None:
    def value_in(library: Any, value: Any) -> Any:
        if isinstance(value, list):
            return [value_in(library, entry) for entry in value]
        return getattr(library.types, value) if name == "output_dtype" and value else value

    for value in values:
        logs = []
        for library in (dali_core, reference):
            arguments = {name: value_in(library, value)}
            log = [outcome(lambda: made(library, **arguments), library)]  # noqa: B023
            if log == ["a pipeline"]:
                pipeline = made(library, **arguments)
                method = getattr(pipeline, name, lambda: None)
                calls = [pipeline.run, pipeline.run]
                if name != "output_layout":  # not available in the reference
                    calls.append(method)
                log += [outcome(call, library) for call in calls]
            logs.append(log)
        assert logs[0] == logs[1], value


OUTPUTS: dict[str, Callable[[Any], Any]] = {
    "node": lambda x: x,
    "tuple": lambda x: (x, x),
    "nested tuple": lambda x: (x, (x, x)),
    "nested list": lambda x: (x, [x]),
    "string": lambda x: (x, "a"),
    "None in a tuple": lambda x: (x, None),
    "dict": lambda x: {"a": x},
    "generator": lambda x: (x for _ in range(2)),
    "object": lambda x: (x, object()),
    "list": lambda x: [x, x],
    "int": lambda x: (x, 5),
    "only an int": lambda _: 3,
    "float": lambda x: (1.5, x),
    "bool": lambda x: (x, True),
    "array": lambda x: (x, np.array([1, 2])),
    "list of arrays": lambda _: [np.arange(3.0)],
    "list of numbers": lambda x: (x, [1, 2]),
    "only a list of numbers": lambda _: [1, 2],
    "number of NumPy": lambda x: (x, np.int16(3)),
    "None": lambda _: None,
    "no outputs": lambda _: (),
    "empty list": lambda _: [],
}
# Here, another error is raised, or earlier, than in the reference.
OTHER_ERRORS = {
    ("None", "function"): ("TypeError", "NotImplementedError"),
    ("no outputs", "class"): ("NotImplementedError", "RuntimeError"),
    ("empty list", "class"): ("NotImplementedError", "RuntimeError"),
}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.parametrize("style", ["function", "class", "set_outputs", "unpacked"])
def test_forms_of_outputs(name: str, style: str) -> None:
    give = OUTPUTS[name]

    def run(library: Any) -> Any:
        if style == "function":

            @library.pipeline_def(batch_size=SIZE, num_threads=2, device_id=None)
            def function() -> Any:
                return give(library.fn.external_source(source))

            return function().run()
        if style == "class":

            class Derived(library.Pipeline):  # type: ignore[misc]
                def define_graph(self) -> Any:
                    return give(library.fn.external_source(source))

            return Derived(SIZE, 2, None).run()
        pipeline = library.Pipeline(SIZE, 2, None)
        with pipeline:
            outputs = give(library.fn.external_source(source))
            if style == "unpacked":
                pipeline.set_outputs(*outputs)
            else:
                pipeline.set_outputs(outputs)
        return pipeline.run()

    ours, theirs = (outcome(lambda: run(library), library) for library in (dali_core, reference))  # noqa: B023
    if (name, style) in OTHER_ERRORS:
        assert (ours, theirs) == OTHER_ERRORS[name, style]
    else:
        assert ours == theirs


SEQUENCES: dict[str, list[Any]] = {
    "run": [empty, run, empty, run, run],
    "build is optional": [build, empty, build, run],
    "one at a time": [schedule, outputs, schedule, outputs, empty],
    "shared twice": [schedule, share, share, release, release, release, empty],
    "shared too often": [schedule, share, share, share, schedule],
    "nothing was started": [share, outputs, release, empty, schedule, share],
    "schedule more": [schedule, schedule, schedule, share, share, share, share, share],
    "mixed after run": [run, schedule, share, outputs, release, run],
    "mixed after schedule": [schedule, run, share, run],
    "mixed unchecked": [run, unchecked, schedule, share, share, release],
    "released early": [release, schedule, release, share],
}


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_of_calls(name: str, depth: int) -> None:
    if (name, depth) in {("shared twice", 1), ("schedule more", 1)}:
        depth = 2  # the reference waits forever for a batch that is never started
    check(*SEQUENCES[name], make=lambda library: made(library, prefetch_queue_depth=depth))


ENDINGS: dict[str, list[Any]] = {
    "until the end": [run, run, run, run, reset, run, run, run],
    "reset in mid-epoch": [run, reset, run, run, reset, run],
    "reset before": [reset, run, run, run],
    "scheduled": [
        schedule,
        outputs,
        schedule,
        outputs,
        schedule,
        outputs,
        reset,
        schedule,
        outputs,
    ],
}


@pytest.mark.parametrize("name", ENDINGS)
def test_ends_and_resets(name: str) -> None:
    # Deeper queues of the reference lose batches at a reset.
    check(*ENDINGS[name], make=lambda library: made(library, ending, prefetch_queue_depth=1))


def test_current_pipelines() -> None:
    def current(p: Any, library: Any) -> Any:
        return [library.Pipeline.current() is p, library.Pipeline.current() is None]

    def inside(p: Any, library: Any) -> Any:
        with p as entered:
            with library.Pipeline(1, 1, None) as inner:
                nested = library.Pipeline.current() is inner
            return [entered is p, nested, current(p, library)]

    log = check(
        current,
        inside,
        current,
        lambda p, library: library.Pipeline.push_current(p),
        current,
        lambda _, library: library.Pipeline.pop_current(),
        current,
    )
    assert log[1] == [True, True, [True, False]]


def test_readers(tmp_path: Path) -> None:
    make_folders(tmp_path, (2, 3))

    def make(library: Any) -> Any:
        pipeline = library.Pipeline(2, 2, None)
        with pipeline:
            _, label = library.fn.readers.file(
                file_root=str(tmp_path), name="r", num_shards=2, shard_id=1, pad_last_batch=True
            )
            _, other = library.fn.readers.file(file_root=str(tmp_path), stick_to_shard=True)
            library.fn.readers.file(file_root=str(tmp_path), name="pruned")
            pipeline.set_outputs(label, other)
        return pipeline

    log = check(
        lambda p, _: p.epoch_size("r"),
        lambda p, _: p.epoch_size(name="r"),
        lambda p, _: described(p.reader_meta("r")),
        lambda p, _: p.epoch_size("pruned"),
        lambda p, _: p.reader_meta("pruned"),
        lambda p, _: p.epoch_size("nobody"),
        # Readers without a name have another one in the reference.
        lambda p, _: sorted(p.epoch_size().values()),
        lambda p, _: len(p.reader_meta()),
        make=make,
    )
    assert log[0] == 6
    assert log[3] == "RuntimeError"
    check(
        lambda p, _: p.epoch_size(),
        lambda p, _: p.reader_meta(),
        lambda p, _: p.epoch_size("x"),
    )


def test_sinks() -> None:
    logs = []
    for library in (dali_core, reference):
        seen: list[int] = []
        pipeline = library.Pipeline(SIZE, 2, None, prefetch_queue_depth=1)
        with pipeline:
            data = library.fn.external_source(source)
            kept = library.fn.copy(data)
            pipeline.add_sink(kept)
            pipeline.set_outputs(data)
        logs.append([plain(pipeline.run(), library), seen])
    assert logs[0] == logs[1]


def test_pipelines_that_are_not_complete() -> None:
    check(build, make=lambda library: library.Pipeline(SIZE, 2, None))

    def without_size(library: Any, size: Any = None) -> Any:
        pipeline = library.Pipeline(size, 2, None)
        with pipeline:
            pipeline.set_outputs(library.fn.random.uniform())
        return pipeline

    check(build, make=without_size)
    check(build, make=lambda library: without_size(library, -1))


def test_executor_statistics() -> None:
    """The same numbers if all samples are equal; the reference adds steps of its own."""

    def statistics(p: Any, _: Any) -> Any:
        found = p.executor_statistics()
        return {name: found[name] for name in ("CPU_x", "CPU_cast")}

    def make(library: Any, **arguments: Any) -> Any:
        pipeline = library.Pipeline(SIZE, 2, None, exec_dynamic=False, **arguments)
        with pipeline:
            data = library.fn.external_source(lambda: ARRAY, name="x")
            pipeline.set_outputs(library.fn.cast(data, dtype=library.types.UINT8, name="cast"))
        return pipeline

    log = check(
        run,
        statistics,
        run,
        statistics,
        make=lambda library: make(library, enable_memory_stats=True),
    )
    assert log[1] == log[3]
    assert log[1]["CPU_cast"]["real_memory_size"] == [6]
    assert check(run, lambda p, _: p.executor_statistics(), make=make)[1] == {}
