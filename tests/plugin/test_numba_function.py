"""Functions that Numba compiles: results, errors, and what they do not depend on."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core._extras import install_command
from dali_core.errors import (
    ArgumentTypeError,
    ArgumentValueError,
    SampleError,
    SerializationError,
)
from dali_core.testing.examples import list_of

pytest.importorskip("numba", reason="not available: Numba")

from dali_core.operators.numba_function import compiling
from dali_core.plugin.numba.experimental import NumbaFunction
from dali_core.plugin.numba.fn.experimental import numba_function

BYTES = types.UINT8
THREE = {"out_types": [BYTES], "in_types": [BYTES], "outs_ndim": [3], "ins_ndim": [3]}


@pytest.fixture(scope="module", autouse=True)
def functions_stay_compiled() -> Iterator[None]:
    """Keep what is compiled for later pipelines, since compiling takes longer than all else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "_known", {})
        yield


def double(out: Any, data: Any) -> None:
    out[:] = 2 * data


def turned(outs: Any, ins: Any) -> None:
    for sample in range(len(outs[0])):
        for axis in range(3):
            outs[0][sample][axis] = ins[0][sample][(axis + 2) % 3]


def turn(out: Any, data: Any) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for k in range(out.shape[2]):
                out[i, j, k] = data[j, k, i]


def largest(outs: Any, ins: Any) -> None:
    for axis in range(3):
        extent = 0
        for sample in range(len(ins[0])):
            extent = max(extent, ins[0][sample][axis])
        for sample in range(len(ins[0])):
            outs[0][sample][axis] = extent


def padded(out: Any, data: Any) -> None:
    out[:] = 0
    out[: data.shape[0], : data.shape[1], : data.shape[2]] = data


def fails_for_two(out: Any, data: Any) -> None:
    if data[0, 0, 0] == 2:
        raise ValueError("two")
    out[:] = data


def arrays(count: int) -> list[np.ndarray]:
    generator = np.random.default_rng(count)
    shapes = generator.integers(1, 9, (count, 3))
    return [generator.integers(0, 256, shape, dtype=np.uint8) for shape in shapes]


def run(
    call: Callable[[Any], Any], samples: Sequence[np.ndarray], **settings: Any
) -> list[list[np.ndarray]]:
    size = max(len(samples), 1)
    pipeline = Pipeline(**{"batch_size": size, "num_threads": 2, "device_id": None} | settings)
    with pipeline:
        outputs = call(fn.external_source(lambda: list(samples), layout="HWC"))
        outputs = list_of(outputs)
        pipeline.set_outputs(*outputs)
    try:
        return [[np.array(batch.at(i)) for i in range(len(batch))] for batch in pipeline.run()]
    finally:
        pipeline.close()


def check(results: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> None:
    for result, wanted in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, wanted, strict=True)


@pytest.mark.parametrize("threads", [1, 4])
def test_each_sample(threads: int) -> None:
    for count in (0, 1, 17):
        samples = arrays(count)
        (results,) = run(
            lambda data: numba_function(data, run_fn=double, **THREE), samples, num_threads=threads
        )
        check(results, [sample * np.uint8(2) for sample in samples])


@pytest.mark.parametrize("threads", [1, 4])
def test_shapes_of_outputs(threads: int) -> None:
    samples = arrays(9)
    call = {**THREE, "run_fn": turn, "setup_fn": turned}
    (results,) = run(lambda data: numba_function(data, **call), samples, num_threads=threads)
    check(results, [sample.transpose(2, 0, 1) for sample in samples])


def test_shapes_may_depend_on_the_batch() -> None:
    samples = arrays(5)
    call = {**THREE, "run_fn": padded, "setup_fn": largest}
    (results,) = run(lambda data: numba_function(data, **call), samples)
    shape = np.max([sample.shape for sample in samples], axis=0)
    pads = [[(0, most - own) for most, own in zip(shape, s.shape, strict=True)] for s in samples]
    check(results, [np.pad(sample, pad) for sample, pad in zip(samples, pads, strict=True)])


def test_whole_batches() -> None:
    def add_count(outs: Any, ins: Any) -> None:
        for i in range(len(outs)):
            outs[i][:] = ins[i] + len(ins)

    def turn_all(outs: Any, ins: Any) -> None:
        for i in range(len(outs)):
            turn(outs[i], ins[i])

    import numba

    for count in (0, 1, 6):
        samples = arrays(count)
        call = {**THREE, "run_fn": add_count, "batch_processing": True}
        (results,) = run(lambda data, call=call: numba_function(data, **call), samples)
        check(results, [sample + np.uint8(count) for sample in samples])
    names = {"turn": numba.njit(turn)}
    compiled = type(turn_all)(turn_all.__code__, names, "turn_all")
    call = {**THREE, "run_fn": compiled, "setup_fn": turned, "batch_processing": True}
    (results,) = run(lambda data: numba_function(data, **call), arrays(4))
    check(results, [sample.transpose(2, 0, 1) for sample in arrays(4)])


def test_several_inputs_and_outputs_of_several_types() -> None:
    def shapes(outs: Any, ins: Any) -> None:
        for sample in range(len(ins[0])):
            for axis in range(3):
                outs[0][sample][axis] = ins[0][sample][axis]
            outs[1][sample][0] = 2

    def compute(scaled: Any, sums: Any, data: Any, factor: Any) -> None:
        scaled[:] = data * factor[0]
        sums[0] = data.sum()
        sums[1] = data.size

    import numba

    def call(data: Any) -> Any:
        factor = fn.external_source(lambda: np.float32([[0.5]] * 3))
        return NumbaFunction(
            numba.njit(compute), [types.FLOAT, types.INT64], [BYTES, types.FLOAT], [3, 1], [3, 1]
        )(data, factor, setup_fn=shapes)

    samples = arrays(3)
    scaled, sums = run(call, samples)
    check(scaled, [sample * np.float32(0.5) for sample in samples])
    check(sums, [np.array([sample.sum(), sample.size], np.int64) for sample in samples])


def test_every_type_and_number_of_dimensions() -> None:
    def copy(out: Any, data: Any) -> None:
        for i in range(data.size):
            out.flat[i] = data.flat[i]

    for name, ndim in (("int16", 1), ("uint32", 2), ("float64", 4), ("bool", 0)):
        kind = types.to_dali_type(np.dtype(name))
        data = np.arange(4 if ndim else 1).reshape([1] * (ndim - 1) + [-1] * (ndim > 0)) % 2
        data = data.astype(name)
        call = {"out_types": [kind], "in_types": [kind], "outs_ndim": [ndim]}
        call |= {"ins_ndim": [ndim], "run_fn": copy}
        pipeline = Pipeline(1, 1, None)
        with pipeline:
            source = fn.external_source(partial(list, [data]))
            pipeline.set_outputs(numba_function(source, **call))
        check([np.array(pipeline.run()[0].at(0))], [data])


def test_exceptions_are_bad_samples() -> None:
    samples = [np.full((2, 2, 3), number, np.uint8) for number in (1, 2, 3)]
    call = {**THREE, "run_fn": fails_for_two}
    with pytest.raises(SampleError, match="run_fn must not raise an exception") as caught:
        run(lambda data: numba_function(data, **call), samples)
    assert "sample 1" in str(caught.value)
    assert f"plugin.numba.fn.experimental.numba_function, at {__file__}:" in str(caught.value)
    (results,) = run(lambda data: numba_function(data, **call), samples, on_sample_error="replace")
    check(results, [samples[0], samples[2], samples[2]])
    batch = {**THREE, "run_fn": fails_for_all, "batch_processing": True}
    with pytest.raises(SampleError, match="the function must not raise an exception"):
        run(lambda data: numba_function(data, **batch), samples)


def fails_for_all(outs: Any, ins: Any) -> None:
    raise ValueError("all")


@pytest.mark.parametrize("batch_processing", [False, True])
def test_setup_that_returns_nonsense(batch_processing: bool) -> None:
    def negative(outs: Any, ins: Any) -> None:
        outs[0][0][1] = -5

    def raising(outs: Any, ins: Any) -> None:
        raise ValueError("no")

    for setup, message in (
        (negative, r"must set extents of at least 0 .got -\d"),
        (raising, "must not raise an exception"),
    ):
        call = {**THREE, "run_fn": batch_double if batch_processing else double, "setup_fn": setup}
        with pytest.raises(SampleError, match=message):
            run(
                lambda data, call=call: numba_function(
                    data, batch_processing=batch_processing, **call
                ),
                arrays(2),
            )


def batch_double(outs: Any, ins: Any) -> None:
    for i in range(len(outs)):
        outs[i][:] = ins[i]


def unknown_method(out: Any, data: Any) -> None:
    out[:] = data.nothing()  # the line that the message names


@pytest.mark.parametrize(
    ("changes", "kind", "message"),
    [
        ({"run_fn": unknown_method}, ArgumentValueError, "(?s)'run_fn' must be a function that "
         "Numba compiles.*test_numba_function.py:.*Unknown attribute 'nothing'.*line \\d+"),
        ({"run_fn": 3}, ArgumentTypeError, "'run_fn' must be a function in Python"),
        ({"setup_fn": len}, ArgumentTypeError, "'setup_fn' must be a function in Python"),
        ({"out_types": ["uint8"]}, ArgumentTypeError, "'out_types' must be a list of types"),
        ({"in_types": [types.FLOAT16]}, ArgumentValueError, "'in_types' must be types of numbers"),
        ({"ins_ndim": ["3"]}, ArgumentTypeError, "'ins_ndim' must be a list of integers"),
        ({"ins_ndim": [9], "outs_ndim": [9]}, ArgumentValueError, "from 0 to 8"),
        ({"in_types": [BYTES] * 2}, ArgumentValueError, "must have an entry for each"),
        ({"outs_ndim": [2]}, ArgumentValueError, "without setup_fn, outputs must have"),
        ({"device": "gpu"}, ArgumentValueError, "device must be 'cpu'"),
        ({"blocks": [1, 1, 1]}, ArgumentValueError, "without blocks"),
        ({"factor": 2}, TypeError, "unknown argument 'factor'"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit(
    changes: dict[str, Any], kind: type[Exception], message: str
) -> None:
    call = {**THREE, "run_fn": double, **changes}
    with pytest.raises(kind, match=message) as caught:
        run(lambda data: numba_function(data, **call), arrays(1))
    assert f"numba_function at {__file__}:" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"in_types": [types.FLOAT]}, "input 0 must be of type float32.*got uint8"),
        ({"ins_ndim": [2], "outs_ndim": [2]}, "input 0 must have 2 dimensions.*got"),
    ],
)
@pytest.mark.parametrize("batch_processing", [False, True])
def test_inputs_that_do_not_fit(
    changes: dict[str, Any], message: str, batch_processing: bool
) -> None:
    function = batch_double if batch_processing else double
    call = {**THREE, "run_fn": function, "batch_processing": batch_processing, **changes}
    with pytest.raises(SampleError, match=f"(?i){message}"):
        run(lambda data: numba_function(data, **call), arrays(2))


def test_addresses_are_not_written_to_documents() -> None:
    pipeline = Pipeline(1, 1, None)
    with pipeline:
        data = fn.external_source(name="data")
        pipeline.set_outputs(numba_function(data, run_fn=double, **THREE))
    with pytest.raises(SerializationError, match="run_fn"):
        pipeline.serialize()


def test_without_numba_the_error_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['numba'] = None\n"
        "from dali_core import fn, types\n"
        "from dali_core.plugin.numba.fn.experimental import numba_function\n"
        "U = [types.UINT8]\n"
        "numba_function(fn.random.uniform(), run_fn=print, out_types=U, in_types=U, outs_ndim=[3],"
        " ins_ndim=[3])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "ImportError: dali_core.plugin.numba: Numba must be installed" in done.stderr
    assert install_command("numba") in done.stderr
