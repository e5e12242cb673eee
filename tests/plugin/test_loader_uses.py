"""Iterators and pipelines that are used as other loaders: errors name what is meant here."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, pipeline_def
from dali_core.errors import ArgumentTypeError, NotCopiedError, PipelineStateError, SampleError
from dali_core.plugin.base_iterator import BaseIterator
from tests.plugin.fake_pipeline import ListAdapter


@pipeline_def(batch_size=2, num_threads=1, device_id=None)
def numbers() -> Any:
    return fn.random.uniform(range=[0, 1])


def iterator(cls: type[BaseIterator] = BaseIterator, **arguments: Any) -> BaseIterator:
    return cls(numbers(), ["x"], ListAdapter(), size=4, **arguments)


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("shuffle", True, "random_shuffle=True"),
        ("num_workers", 4, "num_threads"),
        ("batch_size", 32, "pipeline_def"),
        ("drop_last", True, "LastBatchPolicy.DROP"),
        ("collate_fn", len, "fn.pad"),
        ("pin_memory", True, "device_id=0"),
    ],
)
def test_arguments_of_data_loader(name: str, value: Any, cure: str) -> None:
    with pytest.raises(ArgumentTypeError, match=f"BaseIterator: '{name}' must be left out.*{cure}"):
        iterator(**{name: value})


def test_unknown_arguments_and_those_of_subclasses() -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'shufle'"):
        iterator(shufle=True)

    class Own(BaseIterator):
        def __init__(self, *args: Any, shuffle: bool, **arguments: Any) -> None:
            super().__init__(*args, **arguments)
            self.shuffle = shuffle

    made = iterator(Own, shuffle=True)
    assert made.shuffle
    assert len(list(made)) == 2


def test_indexing_is_refused_and_iterating_is_not() -> None:
    made = iterator()
    with pytest.raises(ArgumentTypeError, match=r"\(got index 0\).*without DataLoader"):
        made[0]
    assert isinstance(made, Iterable)
    assert not isinstance(made, Sequence)
    assert len(list(made)) == len(made) == 2


def test_data_loader_of_pytorch() -> None:
    torch = pytest.importorskip("torch", reason="not available: torch")
    made = iterator()
    with pytest.raises(ArgumentTypeError, match="Iterate over it directly, without DataLoader"):
        next(iter(torch.utils.data.DataLoader(made)))


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_say_why_not(duplicate: Callable[[Any], Any]) -> None:
    made = iterator()
    with pytest.raises(NotCopiedError, match=r"BaseIterator: must not be .* state_dict\(\)"):
        duplicate(made)
    pipeline = numbers()
    for _ in range(2):  # before and after it is built
        with pytest.raises(NotCopiedError, match=r"Pipeline: must not be .* the function that"):
            duplicate(pipeline)
        pipeline.run()
    assert issubclass(NotCopiedError, (TypeError, PipelineStateError))


def test_alternatives_to_copies() -> None:
    pipeline = numbers(seed=3)
    again = Pipeline.deserialize(pipeline.serialize())
    np.testing.assert_array_equal(pipeline.run()[0].as_array(), again.run()[0].as_array())
    made, other = iterator(), iterator()
    next(made)
    state = pickle.loads(pickle.dumps(made.state_dict()))
    other.load_state_dict(state)
    assert len(list(other)) == 1


class Photos:
    """A data set of dicts."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> dict[str, Any]:
        return {"image": np.zeros(3), "label": index}


@pytest.mark.parametrize("num_outputs", [None, 2])
def test_data_sets_of_dicts(num_outputs: int | None) -> None:
    with Pipeline(batch_size=1, num_threads=1, device_id=None) as pipeline:
        with pipeline:
            outputs = fn.readers.python(Photos(), num_outputs=num_outputs)
            pipeline.set_outputs(*(outputs if num_outputs else [outputs]))
        message = r"\(got a dict with 'image', 'label'\).*dali_core\.arrow\.ArrowSource"
        with pytest.raises(SampleError, match=message):
            pipeline.run()
