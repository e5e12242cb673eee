"""Pipelines with conditionals: documents, pictures, and resuming from states."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core.errors import DaliCoreError, SerializationError
from tests.pipeline.conditionals.branching import build


def augment() -> Any:
    value = fn.random.uniform(range=[1, 2], shape=[3])
    if fn.random.coin_flip(dtype=types.BOOL):
        value = value + 10
        if fn.random.coin_flip():
            return value * 2
    elif value[0] < 1.5:
        value = fn.random.normal(shape=[3])
    return value


def batches(pipeline: Pipeline, count: int) -> list[Any]:
    return [np.asarray(pipeline.run()[0].as_array()).tolist() for _ in range(count)]


def test_documents() -> None:
    pipeline = build(augment, batch_size=16)
    text = pipeline.serialize()
    restored = Pipeline.deserialize(text)
    assert restored.plan() == pipeline.plan()
    assert " if " in restored.plan()
    assert restored.serialize() == text
    assert batches(restored, 2) == batches(pipeline, 2)


def with_condition(change: Callable[[list[Any]], Any]) -> str:
    """Write a document in which the last operator with conditions has others."""
    document = json.loads(build(augment).serialize())
    graph = document.get("graph", document)
    entry = [entry for entry in graph["operators"] if "conditions" in entry][-1]
    entry["conditions"] = change(entry["conditions"])
    return json.dumps(document)


@pytest.mark.parametrize(
    "change",
    [
        lambda conditions: 3,
        lambda conditions: [3],
        lambda conditions: [[]],
        lambda conditions: [[0, 0]],
        lambda conditions: [[0, 0, 1]],
        lambda conditions: [[999, 0, True]],
        lambda conditions: [["0", 0, True]],
        lambda conditions: [*conditions, *conditions, [0, 1, False]],
    ],
)
def test_damaged_documents(change: Callable[[list[Any]], Any]) -> None:
    text = with_condition(change)
    with pytest.raises(SerializationError, match="conditions"):
        Pipeline.deserialize(text)


def test_conditions_that_are_no_booleans() -> None:
    # Three floats instead of a boolean: no sample takes the branch.
    text = with_condition(lambda conditions: [[0, 0, True]])
    with pytest.raises(DaliCoreError):
        Pipeline.deserialize(text).run()


def test_merged_values_that_do_not_exist() -> None:
    def define() -> Any:
        value = fn.random.uniform()
        if fn.random.coin_flip():
            value = fn.copy(value)
        return fn.copy(value)

    document = json.loads(build(define).serialize())
    for entry in document["operators"]:
        if len(entry.get("inputs", [])) == 3:
            entry["inputs"][1:] = entry["inputs"][:0:-1]
    with pytest.raises(DaliCoreError, match="inputs must exist"):
        Pipeline.deserialize(json.dumps(document)).run()


def test_states() -> None:
    pipeline = build(augment)
    batches(pipeline, 2)
    state = pipeline.state_dict()
    expected = batches(pipeline, 2)
    resumed = build(augment, num_threads=3)
    resumed.load_state_dict(state)
    assert batches(resumed, 2) == expected


def test_states_belong_to_their_branches() -> None:
    def choose(swapped: bool) -> Any:
        value, other = fn.random.uniform(), fn.random.uniform()
        p = fn.random.coin_flip()
        if p:
            result = fn.copy(value) if swapped else value
        else:
            result = value if swapped else fn.copy(value)
        return result, other

    pipeline = build(choose, False)
    pipeline.run()
    with pytest.raises(DaliCoreError, match="connected in another way"):
        build(choose, True).load_state_dict(pipeline.state_dict())


def test_pictures() -> None:
    picture = build(augment)._repr_svg_()
    assert picture.count(">if<") + picture.count("if</") > 2
