"""Classes of `ops` take every value that the functions of `fn` take, in the constructor as well."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, ops
from dali_core._graph.namespaces import class_name
from dali_core._registry.specs import all_specs
from dali_core._spec import OpSpec

SPECS = {
    name: spec
    for name, spec in all_specs().items()
    # Former names are the same operators, and warn.
    if not spec.deprecated and any(arg.tensor for arg in spec.args)
}
VALUES = (
    *(1, [1, 2], np.array(1), np.float32([0.5]), np.array([1, 2, 3])),
    *(np.float32([[1, 0, 2], [0, 1, 3]]), np.ones((1, 1, 3), np.float32)),
)
IMAGES = [np.arange(48, dtype=np.uint8).reshape(4, 4, 3)]


def find(module: Any, path: str) -> Any:
    for part in path.split("."):
        module = getattr(module, part)
    return module


def class_of(name: str) -> Any:
    group = name.split(".")[:-1]
    return find(ops, ".".join([*group, class_name(name)]))


def outcome(call: Any, spec: OpSpec, **arguments: Any) -> str:
    """Return the error of a call, or no text."""
    with Pipeline(1, 1, None):
        inputs = [fn.external_source(name=f"input {i}") for i in range(spec.input_range[0])]
        try:
            call(*inputs, **arguments)
        except Exception as error:
            return type(error).__name__
    return ""


@pytest.mark.parametrize("name", SPECS)
def test_every_argument_takes_the_same_values(name: str) -> None:
    function, cls = find(fn, name), class_of(name)
    for arg in SPECS[name].args:
        for value in VALUES if arg.tensor else VALUES[:2]:
            given = {arg.name: value}
            wanted = outcome(function, SPECS[name], **given)
            found = outcome(lambda *inputs: cls(**given)(*inputs), SPECS[name])  # noqa: B023
            assert found == wanted, (arg.name, value)


MATRIX = np.float32([[0, 1, 0], [1, 0, 0]])
MEAN = np.arange(3, dtype=np.float32).reshape(1, 1, 3)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("warp_affine", {"matrix": MATRIX, "fill_value": 0}),
        ("normalize", {"mean": MEAN, "stddev": MEAN + 1}),
        ("crop_mirror_normalize", {"mean": np.float32([1, 2, 3]), "std": [2, 2, 2]}),
        ("transpose", {"perm": np.array([2, 0, 1])}),
        ("coord_transform", {"M": np.eye(3, dtype=np.float32) * 2}),
        ("lookup_table", {"keys": [1, 2], "values": np.float32([5, 6])}),
    ],
)
def test_arrays_give_the_same_results(name: str, given: dict[str, Any]) -> None:
    pipe = Pipeline(1, 1, None)
    with pipe:
        images = fn.external_source(lambda: IMAGES, layout="HWC")
        pipe.set_outputs(find(fn, name)(images, **given), class_of(name)(**given)(images))
    function, cls = (output.as_array() for output in pipe.run())
    np.testing.assert_array_equal(function, cls)
    assert function.size


def test_one_object_is_called_in_several_pipelines() -> None:
    normalize = ops.Normalize(mean=MEAN, stddev=MEAN + 1)
    for _ in range(2):
        pipe = Pipeline(1, 1, None)
        with pipe:
            pipe.set_outputs(normalize(fn.external_source(lambda: IMAGES)))
        (result,) = pipe.run()
        np.testing.assert_allclose(result.as_array()[0], (IMAGES[0] - MEAN) / (MEAN + 1))
