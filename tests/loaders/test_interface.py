"""The text, sizes and classes of a loader, and the modules that it is imported from."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import dali_core
from dali_core import Loader
from dali_core.errors import (
    ArgumentTypeError,
    MissingModuleError,
    PipelineStateError,
    SkippedFilesWarning,
)
from dali_core.loaders import BaseLoader, LoaderOptions
from tests.folders import make_folders
from tests.loaders.pipelines import from_source, images, numbers


@pytest.fixture
def root(tmp_path: Path) -> Path:
    make_folders(tmp_path, (4, 3, 3))
    return tmp_path


def test_classes(root: Path) -> None:
    (root / "class_3").mkdir()  # empty, and a class all the same
    with pytest.warns(SkippedFilesWarning, match="class_3"):
        loader = Loader(images(root))
    assert loader.classes == ["class_0", "class_1", "class_2", "class_3"]
    assert loader.class_to_idx == {f"class_{index}": index for index in range(4)}
    assert loader.dataset.classes == loader.classes
    assert loader.dataset.class_to_idx == loader.class_to_idx
    assert loader.pipelines[0].reader_meta("readers_file_0")["class_names"] == loader.classes


def test_classes_of_chosen_folders(root: Path) -> None:
    assert Loader(images(root, dir_filters=["*[02]"])).classes == ["class_0", "class_2"]


@pytest.mark.parametrize("of_source", [True, False])
def test_no_names_of_classes(root: Path, of_source: bool) -> None:
    loader = Loader(from_source(2, [2]) if of_source else numbers(root, 10, 2))
    with pytest.raises(PipelineStateError, match=r"file_root"):
        _ = loader.classes


def test_a_function_must_be_called() -> None:
    with pytest.raises(ArgumentTypeError, match=r"function 'images'\). Call it: images\("):
        Loader(images)  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="must be a pipeline or a list of them"):
        Loader(3)  # type: ignore[call-overload]


def test_sizes(root: Path) -> None:
    loader = Loader(images(root, num_shards=2, shard_id=1))
    assert loader.batch_size == 4
    assert len(loader) == 2
    assert len(loader.dataset) == 10  # of all shards
    assert loader.steps_per_epoch is None


def test_notebooks_show_the_description_as_a_table(root: Path) -> None:
    described: Any = Loader(images(root)).describe()
    assert described.startswith("Loader: 3 batches of 4 samples; every sample is given once")
    shown = described._repr_html_()
    assert "<table" in shown
    assert "3 batches of 4 samples" in shown


def test_text(root: Path) -> None:
    loader = Loader(images(root), ("image", "label"))
    next(iter(loader))
    assert repr(loader) == (
        "<Loader names=['image', 'label'], batch_size=4, last_batch='partial': epoch 0, 1 of 3 "
        "batches given>"
    )
    assert "steps_per_epoch=7: epoch 0, 0 of 7" in repr(Loader(images(root), steps_per_epoch=7))


@pytest.mark.parametrize(
    ("options", "first", "second"),
    [
        ({}, "3 batches of 4 samples; every sample is given once", "10 samples in 1 shards"),
        ({"last_batch": "drop"}, "2 batches of 4 samples; what does not fill", "10 samples"),
        ({"last_batch": "pad"}, "3 batches of 4 samples; the last sample is", "10 samples"),
        ({"last_batch": "fill"}, "3 batches of 4 samples; the last batch cont", "10 samples"),
        ({"steps_per_epoch": 5}, "5 batches of 4 samples; the data set is read over", "epoch 0"),
    ],
)
def test_describe(root: Path, options: Any, first: str, second: str) -> None:
    lines = Loader(images(root), **options).describe(2).splitlines()
    assert lines[0].startswith(f"Loader: {first}")
    assert second in lines[1]


def test_statistics(root: Path) -> None:
    loader = Loader([images(root), images(root)])
    list(loader)
    assert loader.statistics().headroom == min(
        pipeline.statistics().headroom for pipeline in loader.pipelines
    )


def test_closing_ends_the_pipelines(root: Path) -> None:
    with Loader(images(root)) as loader:
        (pixels, _), *_ = loader
    with pytest.raises(PipelineStateError):
        loader.pipelines[0].run()
    assert pixels.shape == (4, 6, 8, 3)


def test_options_are_the_arguments() -> None:
    parameters = inspect.signature(BaseLoader.__init__).parameters
    keywords = [name for name, one in parameters.items() if one.kind is one.KEYWORD_ONLY]
    assert sorted([*LoaderOptions.__annotations__, "as_dict"]) == sorted(keywords)
    assert set(get_type_hints(LoaderOptions)) == set(LoaderOptions.__annotations__)


def test_import_is_light() -> None:
    program = (
        "import sys, dali_core\n"
        "before = 'dali_core.loaders' in sys.modules\n"
        "dali_core.Loader\n"
        "print(before, 'torch' in sys.modules, 'jax' in sys.modules, 'keras' in sys.modules)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert found.stdout.split() == ["False"] * 4


@pytest.mark.parametrize(
    ("name", "module", "hint"),
    [
        ("pytorch", "torch", r'PyTorch must be installed.*pip install ".*\[pytorch\]"'),
        ("jax", "jax", r'JAX must be installed.*pip install ".*\[jax\]"'),
    ],
)
def test_a_framework_that_is_not_installed(name: str, module: str, hint: str) -> None:
    program = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "import dali_core\n"
        f"try:\n    dali_core.{name}.Loader\n"
        "except ImportError as error:\n    print(error)\n"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert re.search(hint, found.stdout), found.stdout + found.stderr


def test_an_unknown_name_of_the_package() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Loadr'"):
        _ = dali_core.Loadr  # type: ignore[attr-defined]


def test_keras_that_is_not_installed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keras", None)
    monkeypatch.setitem(sys.modules, "keras.utils", None)
    with pytest.raises(MissingModuleError, match="Keras 3 must be installed.*pip install keras"):
        Loader(images(root)).keras()
