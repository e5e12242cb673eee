"""Expressions in documents, pictures and plans of graphs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, newaxis, types
from dali_core import math as dali_math
from dali_core.errors import DaliCoreError


def make() -> Pipeline:
    pipeline = Pipeline(batch_size=2, num_threads=1, device_id=None, seed=3)
    with pipeline:
        x = fn.random.uniform(range=[1.0, 2.0], shape=[4, 5])
        y = (x * 2 - np.float32([1, 2, 3, 4, 5])) / types.Constant(2, types.FLOAT64)
        index = fn.random.uniform(range=[0.0, 3.0], dtype=types.INT32)
        pipeline.set_outputs(y, x[1:, ..., newaxis], x[index], (x < 1.5) & (dali_math.sin(x) > 0))
    return pipeline


def results(pipeline: Pipeline) -> list[list[np.ndarray]]:
    outputs = pipeline.run()
    arrays = [[np.array(batch.at(i)) for i in range(2)] for batch in outputs]
    pipeline.close()
    return arrays


def test_documents_hold_expressions() -> None:
    document = make().serialize()
    restored = Pipeline.deserialize(document)
    for one, other in zip(results(restored), results(make()), strict=True):
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(ours, theirs, strict=True)


def wrong_documents() -> list[tuple[str, Any]]:
    return [
        ("function", "no function"),
        ("operands", [0, 7]),
        ("operands", [0]),
        ("operands", [-1, -1, -1]),
        ("constant_types", [99]),
        ("constant_types", []),
        ("entries", [0, 0, 0, 0, 0, 0, 0]),
        ("entries", [9, 1, 0, 0, 0, 0, 0]),
        ("entries", [1, 2, 9, 0, 0, 0, 0]),
        ("entries", [1, 2, 0, 0, 0, 0, 0]),
        ("entries", [1, 5, 0, 0, 0, 0, 0]),
        ("entries", [3, 0, 0, 0, 0, 0, 0] * 2),
        ("entries", [1, 0]),
    ]


@pytest.mark.parametrize(("argument", "value"), wrong_documents())
def test_wrong_documents(argument: str, value: Any) -> None:
    document = json.loads(make().serialize())
    for entry in document["operators"]:
        if argument in entry.get("arguments", {}):
            entry["arguments"][argument] = value
            break
    else:
        raise AssertionError(f"no operator has {argument}")
    with pytest.raises(DaliCoreError):
        results(Pipeline.deserialize(json.dumps(document).encode()))


def test_drawings_and_plans_name_the_expressions(tmp_path: Any) -> None:
    pipeline = make()
    plan = pipeline.plan()
    for name in ("operator *", "operator /", "operator []", "operator &", "math.sin"):
        assert name in plan
    path = tmp_path / "graph.dot"
    pipeline.save_graph_to_dot_file(str(path))
    assert 'label="operator <"' in path.read_text("utf-8")
    svg = pipeline._repr_svg_()
    assert "operator &lt;" in svg
    pipeline.close()
