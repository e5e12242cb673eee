"""Nodes of torchdata that read data sets with the imperative API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dali_core import dynamic
from dali_core.dynamic.pytorch import nodes
from dali_core.errors import ArgumentTypeError, ArgumentValueError, StateMismatchError

torchdata_nodes = pytest.importorskip("torchdata.nodes", reason="not available: torchdata")

COUNT = 11


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("files")
    for number in range(COUNT):
        (root / str(number % 2)).mkdir(exist_ok=True)
        (root / str(number % 2) / f"{number:02}.jpg").write_bytes(bytes([number]))
    return root


def reader(folder: Path, batch_size: int | None = 3, **arguments: Any) -> Any:
    return nodes.Reader(
        dynamic.readers.File,
        batch_size=batch_size,
        file_root=str(folder),
        random_shuffle=True,
        seed=5,
        **arguments,
    )


def loader(folder: Path, **arguments: Any) -> Any:
    mapped = nodes.DictMapper(reader(folder, **arguments), lambda data: data + 100)
    return torchdata_nodes.Loader(nodes.ToTorch(mapped))


def values(items: Iterator[Any]) -> list[list[int]]:
    return [images.flatten().tolist() for images, _ in items]


def test_items_are_tensors_of_torch(folder: Path) -> None:
    items = list(loader(folder, pad_last_batch=True))
    assert len(items) == 4
    for images, labels in items:
        assert isinstance(images, torch.Tensor)
        assert images.dtype == torch.int32
        assert images.shape == (3, 1)
        assert labels.shape == (3, 1)
        assert ((images - 100) % 2 == labels).all()


def test_single_samples_are_each_file_once(folder: Path) -> None:
    node = reader(folder, batch_size=None)
    found = [int(np.asarray(item["data"])[0]) for item in torchdata_nodes.Loader(node)]
    assert sorted(found) == list(range(COUNT))
    assert node.get_metadata()["epoch_size"] == COUNT


def test_epochs_are_those_of_next_epoch(folder: Path) -> None:
    own = dynamic.readers.File(file_root=str(folder), random_shuffle=True, seed=5)
    expected = [
        [(np.asarray(data.torch()) + 100).flatten().tolist() for data, _ in own.next_epoch(3)]
        for _ in range(3)
    ]
    nodes_of_epochs = loader(folder)
    assert [values(iter(nodes_of_epochs)) for _ in range(3)] == expected


@settings(deadline=None, max_examples=25)
@given(steps=st.lists(st.integers(0, 5), min_size=1, max_size=3), pads=st.booleans())
def test_resumes_at_any_step(folder: Path, steps: list[int], pads: bool) -> None:
    """Loops that are left after some steps; the state of the last is used in another loader."""
    whole = loader(folder, pad_last_batch=pads)
    for count in steps:
        iterator = iter(whole)
        for _ in range(count):
            if next(iterator, None) is None:
                break
    state = whole.state_dict()
    rest = [values(iterator), values(iter(whole))]
    resumed = loader(folder, pad_last_batch=pads)
    resumed.load_state_dict(state)
    found = values(iter(resumed))
    if not rest[0]:  # an epoch that is over: torchdata begins the next one
        assert found == rest[1]
    else:
        assert [found, values(iter(resumed))] == rest


def test_epoch_that_was_left_and_not_begun_again_is_over(folder: Path) -> None:
    node = reader(folder)
    node.reset()
    next(node)
    node.reset()
    state = node.state_dict()
    expected = [item["label"].torch().tolist() for item in node]
    other = reader(folder)
    other.reset(state)
    assert [item["label"].torch().tolist() for item in other] == expected


def test_names_of_outputs(folder: Path) -> None:
    assert set(next(reader(folder, output_names=["jpeg", "class"]))) == {"jpeg", "class"}
    with pytest.raises(ArgumentValueError, match=r"each of 2 outputs \(got \['one'\]\)"):
        next(reader(folder, output_names=["one"]))


def test_wrong_use_is_explained(folder: Path, tmp_path: Path) -> None:
    made: Any = dynamic.readers.File(file_root=str(folder))
    with pytest.raises(ArgumentTypeError, match="a class of dynamic.readers, not an object"):
        nodes.Reader(made, batch_size=2)
    with pytest.raises(TypeError, match="file_rot"):
        nodes.Reader(dynamic.readers.File, batch_size=2, file_rot=str(folder))
    with pytest.raises(ArgumentValueError, match=r"key must be one of \['data', 'label'\]"):
        next(nodes.DictMapper(reader(folder), abs, key="image"))
    with pytest.raises(StateMismatchError, match="must be one of such a node"):
        reader(folder).reset({"position": 3})
    (tmp_path / "a").write_bytes(b"12")
    (tmp_path / "b").write_bytes(b"1")
    ragged = nodes.Reader(dynamic.readers.File, batch_size=2, files=["a", "b"], file_root=tmp_path)
    with pytest.raises(ValueError, match="pad"):
        next(nodes.ToTorch(ragged))
