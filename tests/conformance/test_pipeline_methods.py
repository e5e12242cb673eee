"""Methods and properties of pipelines answer and refuse as those of NVIDIA DALI do.

Every test does the same with both libraries and compares a log of what came back: values, and of
errors the kinds that programs can catch.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.types
from tests.folders import make_folders

reference = pytest.importorskip("nvidia.dali", reason="NVIDIA DALI is not installed")
pytest.importorskip("nvidia.dali.fn")
pytest.importorskip("nvidia.dali.types")

SIZE = 3
KINDS = (
    StopIteration,
    KeyError,
    IndexError,
    NotImplementedError,
    TypeError,
    ValueError,
    RuntimeError,
)
ARRAY = np.arange(6).reshape(SIZE, 2)

pytestmark = pytest.mark.filterwarnings("ignore")


def source(iteration: int) -> list[np.int64]:
    return [np.int64(10 * iteration + i) for i in range(SIZE)]


def ending(iteration: int) -> list[np.int64]:
    if iteration == 2:
        raise StopIteration
    return source(iteration)


def plain(value: Any, library: Any) -> Any:
    """Give a value in a form that is the same for both libraries."""
    if isinstance(value, (list, tuple)):
        return [plain(entry, library) for entry in value]
    if isinstance(value, (library.tensors.TensorListCPU,)):
        samples = [np.array(value.at(i)).tolist() for i in range(len(value))]
        return [value.dtype.name, value.layout(), samples]
    if isinstance(value, library.Pipeline):
        return "a pipeline"
    return value.name if hasattr(value, "name") and not isinstance(value, str) else value


def outcome(call: Callable[[], Any], library: Any) -> Any:
    """Give what a call returns, or the kind of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return plain(call(), library)
    except KINDS as error:
        # RuntimeError is what the reference raises where there is no better kind.
        return next(kind.__name__ for kind in KINDS if isinstance(error, kind))


def made(library: Any, function: Any = source, count: int = 1, **arguments: Any) -> Any:
    """Make a pipeline of sources; `function` None gives inputs that are fed."""
    pipeline = library.Pipeline(SIZE, 2, None, **arguments)
    with pipeline:
        nodes = [
            library.fn.external_source(
                name=f"x{i or ''}", **({} if function is None else {"source": function})
            )
            for i in range(count)
        ]
        pipeline.set_outputs(*nodes)
    return pipeline


def check(*calls: Callable[[Any, Any], Any], make: Callable[[Any], Any] = made) -> list[Any]:
    """Do the same calls, given the pipeline and the library, with both; give what came back."""
    logs = []
    for library in (dali_core, reference):
        pipeline = make(library)
        logs.append([outcome(lambda: call(pipeline, library), library) for call in calls])  # noqa: B023
    assert logs[0] == logs[1]
    return logs[0]


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
        {"enable_memory_stats": True, "max_streams": 3, "default_cuda_stream_priority": -1},
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
                if name != "output_layout":  # the reference does not tell it
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
    if style == "unpacked" and name == "node":
        # A value that is unpacked is a mistake in the graph here, and a TypeError there.
        assert (ours, theirs) == ("RuntimeError", "TypeError")
        return
    assert ours == theirs


def run(p: Any, _: Any) -> Any:
    return p.run()


def schedule(p: Any, _: Any) -> Any:
    return p.schedule_run()


def share(p: Any, _: Any) -> Any:
    return p.share_outputs()


def release(p: Any, _: Any) -> Any:
    return p.release_outputs()


def outputs(p: Any, _: Any) -> Any:
    return p.outputs()


def empty(p: Any, _: Any) -> Any:
    return p.empty()


def reset(p: Any, _: Any) -> Any:
    return p.reset()


def build(p: Any, _: Any) -> Any:
    return p.build()


def unchecked(p: Any, _: Any) -> Any:
    return p.enable_api_check(False)


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
        depth = 2  # the reference waits forever for a batch that nobody starts
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
        lambda p, _: p.reader_meta("r"),
        lambda p, _: p.epoch_size("pruned"),
        lambda p, _: p.reader_meta("pruned"),
        lambda p, _: p.epoch_size("nobody"),
        # Readers without a name are listed under another one there.
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


FED: dict[str, Callable[[Any], Any]] = {
    "array": lambda _: ARRAY,
    "list": lambda _: [np.arange(2)] * SIZE,
    "tuple": lambda _: (np.arange(2),) * SIZE,
    "ragged": lambda _: [np.arange(i + 1) for i in range(SIZE)],
    "short": lambda _: [np.arange(2)] * 2,
    "long": lambda _: [np.arange(2)] * 4,
    "numbers of NumPy": lambda _: [np.float32(1)] * SIZE,
    "batch": lambda library: library.tensors.TensorListCPU(ARRAY, "X"),
    "tensor": lambda library: library.tensors.TensorCPU(ARRAY, ""),
    "tensors": lambda library: [library.tensors.TensorCPU(np.arange(2), "X")] * SIZE,
    "types differ": lambda _: [np.arange(2), np.arange(2.0), np.arange(2)],
    "dimensions differ": lambda _: [np.arange(2), np.zeros((2, 2)), np.arange(2)],
}


def fed(library: Any, depth: int = 1, **arguments: Any) -> Any:
    pipeline = library.Pipeline(SIZE, 2, None, prefetch_queue_depth=depth)
    with pipeline:
        pipeline.node = library.fn.external_source(name="x", **arguments)
        pipeline.set_outputs(pipeline.node)
    return pipeline


def feeding(*given: Any, **named: Any) -> Callable[[Any, Any], Any]:
    def feed_and_run(p: Any, _: Any) -> Any:
        p.feed_input(*given, **named)
        return p.run()

    return feed_and_run


@pytest.mark.parametrize("name", FED)
def test_what_can_be_fed(name: str) -> None:
    def feed_and_run(p: Any, library: Any) -> Any:
        p.feed_input("x", FED[name](library))
        return p.run()

    ours, theirs = (
        outcome(lambda: feed_and_run(fed(library), library), library)  # noqa: B023
        for library in (dali_core, reference)
    )
    if "differ" in name:
        # What is wrong with the data is a TypeError here, and found when it is fed.
        assert (ours, theirs) == ("TypeError", "RuntimeError")
    else:
        assert ours == theirs


def test_ways_to_feed() -> None:
    for call in (
        lambda p, library: feeding(p.node, ARRAY)(p, library),
        feeding("x", ARRAY, "X"),
        feeding("x", ARRAY, layout="X"),
        feeding("x", ARRAY, None, None, True),
        feeding("y", ARRAY),
        feeding(3, ARRAY),
        feeding("x", ARRAY, unknown=1),
    ):
        check(call, make=fed)
    check(feeding("x", ARRAY), make=lambda library: fed(library, layout="Q"))
    for arguments in (
        {"source": lambda: ARRAY},
        {"ndim": 3},
    ):
        check(feeding("x", ARRAY), make=lambda library, a=arguments: fed(library, **a))


def test_feeding_a_layout_that_does_not_fit() -> None:
    for library, error in ((dali_core, ValueError), (reference, RuntimeError)):
        with pytest.raises(error):
            fed(library).feed_input("x", ARRAY, layout="XYZ")


def test_feeding_too_little() -> None:
    check(run, make=fed)
    check(
        lambda p, _: p.feed_input("x", ARRAY),
        lambda p, _: p.run(),
        make=lambda library: fed(library, depth=2),
    )


def test_counts_of_batches_to_feed() -> None:
    for depth in (1, 3):
        check(
            lambda p, _: p.input_feed_count("x"),
            lambda p, _: p.input_feed_count("y"),
            make=lambda library, depth=depth: fed(library, depth),
        )


def test_inputs_by_name() -> None:
    check(
        lambda p, _: p.run(x=ARRAY),
        lambda p, _: p.run(None, x=[np.arange(2)] * SIZE),
        lambda p, _: p.run(x=ARRAY),
        make=fed,
    )
    check(lambda p, _: p.run(x=ARRAY), make=lambda library: fed(library, 2))
    check(
        lambda p, _: p.run(x=ARRAY, x1=ARRAY + 1),
        lambda p, _: p.run(x=ARRAY + 2, x1=ARRAY),
        make=lambda library: made(library, None, 2, exec_pipelined=False),
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
    for library, error in ((dali_core, RuntimeError), (reference, NotImplementedError)):
        with pytest.raises(error):
            library.Pipeline(SIZE, 2, None).build()

    def without_size(library: Any, size: Any = None) -> Any:
        pipeline = library.Pipeline(size, 2, None)
        with pipeline:
            pipeline.set_outputs(library.fn.random.uniform())
        return pipeline

    check(build, make=without_size)
    check(build, make=lambda library: without_size(library, -1))


class TestSerialization:
    """What one library writes, it reads again; the documents differ."""

    @staticmethod
    def graph(library: Any, **arguments: Any) -> Any:
        pipeline = library.Pipeline(SIZE, 2, None, **{"seed": 3, **arguments})
        with pipeline:
            pipeline.set_outputs(
                library.fn.random.uniform(range=[0.0, 1.0]), library.fn.random.coin_flip()
            )
        return pipeline

    def test_round_trip(self, tmp_path: Path) -> None:
        def same(p: Any, library: Any) -> Any:
            document = p.serialize(filename=str(tmp_path / "document"))
            again = library.Pipeline.deserialize(document)
            from_file = library.Pipeline.deserialize(filename=str(tmp_path / "document"))
            expected = plain(p.run(), library)
            return [
                type(document).__name__,
                plain(again.run(), library) == expected,
                plain(from_file.run(), library) == expected,
                *(getattr(again, name) for name in ("batch_size", "num_threads", "seed")),
                again.num_outputs,
            ]

        assert check(same, make=self.graph) == [["bytes", True, True, 3, 2, 3, 2]]

    def test_arguments(self) -> None:
        def changed(p: Any, library: Any) -> Any:
            again = library.Pipeline.deserialize(
                p.serialize(), batch_size=5, num_threads=1, seed=9, prefetch_queue_depth=1
            )
            return [
                *(getattr(again, name) for name in ("batch_size", "num_threads", "seed")),
                again.prefetch_queue_depth,
                len(again.run()[0]),
            ]

        check(changed, make=self.graph)

    def test_becoming(self) -> None:
        def become(p: Any, library: Any) -> Any:
            log = []
            expected = plain(self.graph(library).run(), library)
            for other in (library.Pipeline(device_id=None), library.Pipeline(5, 1, None, seed=7)):
                other.deserialize_and_build(p.serialize())
                log.append([other.batch_size, other.num_threads, other.seed])
                log.append(plain(other.run(), library) == expected)
            return log

        assert check(become, make=self.graph) == [[[3, 2, 3], True, [5, 1, 7], False]]

    def test_refused(self) -> None:
        def reading(*given: Any, **named: Any) -> Callable[[Any, Any], Any]:
            return lambda _, library: library.Pipeline.deserialize(*given, **named)

        check(
            reading(),
            reading(b"abc", filename="x"),
            reading(b""),
            reading(b"abc"),
            reading("abc"),
            reading(3),
            lambda p, library: library.Pipeline.deserialize(p.serialize()[:40]),
            lambda p, _: p.serialize("file"),
            make=self.graph,
        )
        check(
            lambda p, library: p.serialize(define_graph=library.fn.random.uniform), make=self.graph
        )
        check(
            lambda p, library: len(p.serialize(define_graph=library.fn.random.uniform)) > 0,
            make=lambda library: library.Pipeline(SIZE, 2, None),
        )

    def test_python_functions(self) -> None:
        def make(library: Any) -> Any:
            pipeline = library.Pipeline(SIZE, 2, None)
            with pipeline:
                data = library.fn.external_source(name="x")
                pipeline.set_outputs(library.fn.python_function(data, function=lambda x: x))
            return pipeline

        assert check(lambda p, _: p.serialize(), make=make) == ["RuntimeError"]

    def test_fed_inputs(self) -> None:
        def feed(p: Any, library: Any) -> Any:
            again = library.Pipeline.deserialize(p.serialize(), prefetch_queue_depth=1)
            again.feed_input("x", ARRAY)
            return [plain(again.run(), library), plain(again.run(x=ARRAY + 1), library)]

        check(feed, make=fed)
