"""Loaders that are used as other loaders and data sets: errors name what is meant here."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core import Loader
from dali_core.errors import ArgumentTypeError, NotCopiedError
from tests.folders import make_folders
from tests.loaders.pipelines import images


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path, (4, 3, 3))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("shuffle", True, "random_shuffle=True"),
        ("num_workers", 4, "num_threads"),
        ("batch_size", 32, "pipeline_def"),
        ("drop_last", True, 'last_batch="drop"'),
        ("collate_fn", len, "fn.pad"),
        ("pin_memory", True, "device="),
    ],
)
def test_arguments_of_data_loader(name: str, value: Any, cure: str, root: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=f"Loader: '{name}' must be left out.*{cure}"):
        Loader(images(root), **{name: value})


@pytest.mark.parametrize(
    ("name", "value", "cure"),
    [
        ("shuffle", True, "train=True"),
        ("num_workers", 4, "num_threads"),
        ("drop_last", True, 'last_batch="drop"'),
        ("pin_memory", True, "device"),
        ("transform", None, "code"),
    ],
)
def test_arguments_of_data_loader_for_folders(name: str, value: Any, cure: str, root: Path) -> None:
    with pytest.raises(ArgumentTypeError, match=f"image_folder: '{name}' is no argument.*{cure}"):
        dali_core.image_folder(root, **{name: value})


def test_a_path_is_for_the_functions_for_folders(root: Path) -> None:
    for path in (root, str(root)):
        with pytest.raises(ArgumentTypeError, match="got the path .*Call image_folder"):
            Loader(path)  # type: ignore[call-overload]


def test_indexing_and_data_loader(root: Path) -> None:
    loader = Loader(images(root))
    with pytest.raises(ArgumentTypeError, match=r"\(got index 0\).*without DataLoader"):
        loader[0]
    torch = pytest.importorskip("torch", reason="not available: torch")
    for options in ({}, {"batch_size": None}):
        with pytest.raises(ArgumentTypeError, match="without DataLoader"):
            next(iter(torch.utils.data.DataLoader(loader, **options)))


@pytest.mark.parametrize("convert", [np.array, np.asarray, lambda one: np.array([one])])
def test_numpy_reads_no_epoch(convert: Callable[[Any], Any], root: Path) -> None:
    """NumPy takes what has a length and indices for a sequence, and would iterate over it."""
    loader = Loader(images(root))
    with pytest.raises(ArgumentTypeError, match="must be iterated over, and cannot be an array"):
        convert(loader)
    assert loader.epoch == 0
    assert "0 of 3 batches given" in repr(loader)
    assert [loader] == [loader]
    assert len(list(loader)) == 3


def test_a_loader_has_no_shape(root: Path) -> None:
    loader: Any = Loader(images(root))
    assert not hasattr(loader, "shape")
    with pytest.raises(AttributeError, match=r"model\.fit\(loader\.keras\(\)\)"):
        _ = loader.shape
    with pytest.raises(AttributeError, match="'Loader' object has no attribute 'clases'"):
        _ = loader.clases


@pytest.mark.parametrize("duplicate", [pickle.dumps, copy.copy, copy.deepcopy])
def test_copies_say_why_not(duplicate: Callable[[Any], Any], root: Path) -> None:
    loader = Loader(images(root))
    with pytest.raises(NotCopiedError, match=r"Loader: must not be .* state_dict\(\)"):
        duplicate(loader)
