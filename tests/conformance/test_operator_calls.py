"""Calls, and constructors in `ops`, accept the arguments that NVIDIA DALI accepts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dali_core
import dali_core.fn
import dali_core.ops
import dali_core.types
from tests.conformance.pipelines import plain, reference

pytest.importorskip("nvidia.dali.ops", reason="not available: NVIDIA DALI")

OPTIONS = {"batch_size": 2, "num_threads": 1, "device_id": None}
IMAGE = list(range(12))


def image(library: Any) -> Any:
    return library.fn.constant(
        idata=IMAGE, shape=[2, 2, 3], dtype=library.types.UINT8, layout="HWC"
    )


def result(build: Callable[[Any], Any], library: Any, **options: Any) -> Any:
    """Return a batch, the kind of the error, and the number of warnings of each kind."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            pipeline = library.pipeline_def(**OPTIONS)(lambda: build(library))(**options)
            pipeline.build()
            found = plain(list(pipeline.run()), library)
        except (TypeError, ValueError, RuntimeError):
            found = "refused"
    kinds = [warning.category.__name__ for warning in caught]
    return found, kinds.count("DeprecationWarning")


def check(build: Callable[[Any], Any]) -> None:
    ours, theirs = (result(build, library) for library in (dali_core, reference))
    assert ours == theirs
    assert ours[0] != "refused"


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.fn.copy(image(lib), seed=3),
        lambda lib: lib.fn.constant(idata=1, seed=-1),
        lambda lib: lib.ops.Copy(seed=3)(image(lib)),
        lambda lib: lib.ops.Copy()(image(lib), seed=3),
        lambda lib: lib.fn.copy(image(lib), seed=None),
        lambda lib: lib.fn.python_function(image(lib), function=lambda x: x, seed=3),
        lambda lib: lib.fn.external_source(lambda: np.ones((2, 1)), seed=3),
        lambda lib: lib.fn.random.coin_flip(probability=1.0, seed=3),
    ],
)
def test_a_seed_may_be_given_to_any_operator(call: Callable[[Any], Any]) -> None:
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.ops.ExternalSource(lambda: np.ones((2, 1)))(),
        lambda lib: tuple(lib.ops.ExternalSource(lambda: (np.ones((2, 1)),) * 2, 2)()),
        lambda lib: tuple(lib.ops.ExternalSource(None, 2)(source=lambda: (np.ones((2, 1)),) * 2)),
        lambda lib: lib.ops.PythonFunction(lambda x: x + 1)(image(lib)),
        lambda lib: tuple(lib.ops.PythonFunction(lambda x: (x + 1, x), 2)(image(lib))),
        lambda lib: lib.ops.PythonFunction(lambda x: [a + 1 for a in x], 1, "cpu", True)(
            image(lib)
        ),
    ],
)
def test_constructors_take_some_arguments_by_position(call: Callable[[Any], Any]) -> None:
    check(call)


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.ops.Copy(3)(image(lib)),
        lambda lib: lib.ops.ExternalSource(lambda: np.ones((2, 1)), source=np.ones((2, 1)))(),
        lambda lib: lib.ops.Cast(dtype=lib.types.FLOAT)(image(lib), dtype=lib.types.INT32),
        lambda lib: lib.ops.Rotate(angle=lib.fn.constant(fdata=[90.0], shape=[]))(
            image(lib), angle=180.0
        ),
        lambda lib: lib.ops.Cast(dtype=None)(image(lib)),
        lambda lib: lib.fn.slice(
            image(lib), 0, 1, axes=[0], dtype=lib.types.FLOAT, output_dtype=lib.types.FLOAT
        ),
        lambda lib: lib.fn.rotate(
            image(lib), angle=1.0, dtype=lib.types.FLOAT, output_dtype=lib.types.FLOAT
        ),
        lambda lib: lib.fn.crop_mirror_normalize(
            image(lib), dtype=lib.types.FLOAT, output_dtype=lib.types.FLOAT
        ),
    ],
)
def test_duplicate_and_missing_arguments_raise(call: Callable[[Any], Any]) -> None:
    for library in (dali_core, reference):
        assert result(call, library)[0] == "refused"


@pytest.mark.parametrize(
    "call",
    [
        lambda lib: lib.ops.Cast(dtype=lib.types.FLOAT)(image(lib), dtype=None),
        lambda lib: lib.ops.Cast(dtype=None)(image(lib), dtype=lib.types.FLOAT),
        lambda lib: lib.fn.cast(image(lib), dtype=lib.types.FLOAT, name=None, device=None),
        lambda lib: lib.fn.flip(image(lib), horizontal=None, unknown=None),
        lambda lib: lib.fn.slice(
            image(lib), 0, 1, axes=[0], dtype=lib.types.FLOAT, output_dtype=None
        ),
    ],
)
def test_none_means_left_out(call: Callable[[Any], Any]) -> None:
    check(call)


def test_nodes_as_arguments_of_constructors() -> None:
    def rotated(lib: Any) -> Any:
        return lib.ops.Rotate(angle=lib.fn.constant(fdata=[90.0], shape=[]))(image(lib))

    def outside(lib: Any) -> Any:
        return rotations[lib](image(lib))

    rotations = {
        lib: lib.ops.Rotate(angle=lib.fn.constant(fdata=[90.0], shape=[]))
        for lib in (dali_core, reference)
    }
    for build in (rotated, outside, outside):
        check(build)


def test_members_of_enumerations_as_data() -> None:
    def resized(lib: Any) -> Any:
        kinds = [lib.types.INTERP_NN, lib.types.INTERP_NN]
        drawn = lib.fn.random.choice(kinds, seed=1)
        constant = lib.types.Constant(lib.types.INTERP_NN, device="cpu")
        copied = lib.fn.copy(lib.types.INTERP_NN)
        return tuple(
            lib.fn.resize(image(lib), size=[3, 4], interp_type=kind)
            for kind in (drawn, constant, copied)
        )

    check(resized)
    for value in ([dali_core.types.RGB, dali_core.types.GRAY], dali_core.types.GRAY):
        numbers = np.atleast_1d([int(entry) for entry in np.atleast_1d(value)])
        found = result(lambda lib: lib.fn.copy(value), dali_core)[0]  # noqa: B023
        assert np.ravel(found[0][2]).tolist() == [*numbers, *numbers]
        assert found[0][0] == "INT32"
    assert result(lambda lib: image(lib) + lib.types.GRAY, dali_core)[0] == "refused"
    assert result(lambda lib: image(lib) + lib.types.GRAY, reference)[0] == "refused"


def conditional(library: Any, *, decorated: Any, called: Any) -> Any:
    def define() -> Any:
        condition = library.fn.external_source(lambda: np.array([True, False]))
        number = library.fn.constant(idata=2)
        if condition:
            number = library.fn.constant(idata=1)
        return number

    arguments = {} if decorated is None else {"enable_conditionals": decorated}
    given = {} if called is None else {"enable_conditionals": called}
    try:
        pipeline = library.pipeline_def(**OPTIONS, **arguments)(define)(**given)
    except (TypeError, RuntimeError, ValueError):
        return "refused"
    pipeline.build()
    return plain(list(pipeline.run()), library)


@pytest.mark.parametrize("decorated", [None, False, True])
@pytest.mark.parametrize("called", [None, False, True])
def test_conditionals_may_be_enabled_by_the_call(decorated: Any, called: Any) -> None:
    ours, theirs = (
        conditional(library, decorated=decorated, called=called)
        for library in (dali_core, reference)
    )
    if (called is None and not decorated) or called is False:
        assert ours == "refused"
    else:
        assert ours == theirs != "refused"


def test_a_parameter_of_that_name_is_the_function_s_own() -> None:
    for library in (dali_core, reference):

        @library.pipeline_def(**OPTIONS)
        def define(enable_conditionals: bool) -> Any:
            return library.fn.constant(idata=int(enable_conditionals))  # noqa: B023

        pipeline = define(enable_conditionals=True)
        pipeline.build()
        assert np.ravel(pipeline.run()[0].as_array()).tolist() == [1, 1]


def test_no_workers() -> None:
    for library in (dali_core, reference):
        pipeline = library.Pipeline(2, 1, None, py_num_workers=None)
        with pipeline:
            source = library.fn.external_source(
                lambda info: np.int32(info.idx_in_batch), batch=False
            )
            pipeline.set_outputs(source)
        pipeline.build()
        assert pipeline.py_num_workers is None
        assert np.ravel(pipeline.run()[0].as_array()).tolist() == [0, 1]
        parallel = library.Pipeline(2, 1, None, py_num_workers=None)
        with parallel:
            parallel.set_outputs(library.fn.external_source(lambda info: 1, parallel=True))
        with pytest.raises(RuntimeError if library is reference else dali_core.errors.GraphError):
            parallel.build()


def test_calling_the_type_of_a_tensor() -> None:
    kinds = ["bool", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float64"]
    logs = []
    for library in (dali_core, reference):
        log: list[Any] = []
        for kind in kinds:
            with pytest.warns(Warning, match="dtype"):
                log.append(library.tensors.TensorCPU(np.zeros(2, kind)).dtype())
        logs.append(log)
    assert logs[0] == logs[1]


def test_warnings_name_the_line_of_the_program() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        node = dali_core.types.Constant([1, 2])
        dali_core.fn.copy(node, seed=1)
        dali_core.ops.Copy(seed=1)(node)
        dali_core.ops.Copy()(node, seed=1)
        dali_core.fn.copy([node, node], seed=1)
        dali_core.fn.shapes(node, type=dali_core.types.INT32)
        dali_core.ops.Shapes(type=dali_core.types.INT32)(node)
    assert {warning.filename for warning in caught} == {__file__}
    assert len(caught) >= 6
