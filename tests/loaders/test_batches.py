"""Batches of loaders: tuples and dictionaries, class indices, layouts, several pipelines."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import DataNode, Loader, fn, pipeline_def, types
from dali_core.errors import AdapterError, ArgumentTypeError, ArgumentValueError
from tests.folders import make_folders
from tests.loaders.pipelines import images, numbers


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_folders(folder, (4, 3, 3))
    return folder


def test_tuples_in_the_order_of_the_outputs(root: Path) -> None:
    sizes = []
    for pixels, labels in Loader(images(root)):
        assert pixels.shape[1:] == (6, 8, 3)
        assert pixels.dtype == np.float32
        assert labels.dtype == np.int64
        assert labels.shape == (len(pixels),)
        assert (pixels[:, 0, 0, 0] == labels).all()
        sizes.append(len(labels))
    assert sizes == [4, 4, 2]


def test_dictionaries_by_names(root: Path) -> None:
    loader = Loader(images(root), ("image", "label"), as_dict=True)
    assert loader.names == ["image", "label"]
    for batch in loader:
        assert list(batch) == ["image", "label"]
        assert (batch["image"][:, 0, 0, 0] == batch["label"]).all()


def test_names_are_those_of_the_operators(root: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def define() -> tuple[DataNode, ...]:
        file, label = fn.readers.file(file_root=str(root), name="photos")
        size = fn.shapes(file, name="size")
        return size, size, label

    loader = Loader(define(), as_dict=True)
    assert loader.names == ["size_1", "size_2", "photos[1]"]
    batch = next(iter(loader))
    assert (batch["size_1"] == batch["size_2"]).all()


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ("ab", ArgumentTypeError),
        ((1, 2), ArgumentTypeError),
        (("a",), ArgumentValueError),
        (("a", "a"), ArgumentValueError),
    ],
)
def test_names_must_fit(root: Path, names: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="names: must hold|names: must be"):
        Loader(images(root), names)


class TestLabels:
    """The rule by which an output is class indices."""

    def outputs(self, root: Path, **options: Any) -> dict[str, Any]:
        @pipeline_def(batch_size=4, num_threads=1)
        def define() -> tuple[DataNode, ...]:
            _, label = fn.readers.file(file_root=str(root))
            return label, fn.copy(label), label + 0, fn.cast(label, dtype=types.FLOAT)

        names = ("label", "copy", "computed", "float")
        return dict(next(iter(Loader(define(), names, as_dict=True, **options))))

    def test_outputs_of_a_reader(self, root: Path) -> None:
        batch = self.outputs(root)
        for name, shape, dtype in (
            ("label", (4,), np.int64),
            ("copy", (4,), np.int64),
            ("computed", (4, 1), np.int32),
            ("float", (4, 1), np.float32),
        ):
            assert batch[name].shape == shape
            assert batch[name].dtype == dtype
            assert batch[name].ravel().tolist() == [0, 0, 0, 0]

    def test_none(self, root: Path) -> None:
        assert self.outputs(root, labels=())["label"].shape == (4, 1)

    def test_by_name(self, root: Path) -> None:
        batch = self.outputs(root, labels=["computed"])
        assert batch["computed"].shape == (4,)
        assert batch["computed"].dtype == np.int64
        assert batch["label"].shape == (4, 1)

    def test_must_be_integers(self, root: Path) -> None:
        with pytest.raises(AdapterError, match=r"output 'float': labels must be int32 or int64"):
            self.outputs(root, labels=["float"])

    @pytest.mark.parametrize(
        ("labels", "error"), [("label", ArgumentTypeError), (["lable"], ArgumentValueError)]
    )
    def test_must_be_outputs(self, root: Path, labels: Any, error: type[Exception]) -> None:
        with pytest.raises(error, match="labels: must be"):
            self.outputs(root, labels=labels)

    def test_bytes_are_no_labels(self, tmp_path: Path) -> None:
        for name in "abc":
            (tmp_path / name).write_bytes(b"x")

        @pipeline_def(batch_size=3, num_threads=1)
        def define() -> DataNode:
            file, _ = fn.readers.file(files=[str(tmp_path / name) for name in "abc"])
            return file

        (batch,) = next(iter(Loader(define())))
        assert batch.shape == (3, 1)
        assert batch.dtype == np.uint8

    def test_several_numbers_stay(self, tmp_path: Path) -> None:
        np.save(tmp_path / "a.npy", np.arange(3, dtype=np.int32))

        @pipeline_def(batch_size=1, num_threads=1)
        def define() -> DataNode:
            node: DataNode = fn.readers.numpy(files=[str(tmp_path / "a.npy")])
            return node

        (batch,) = next(iter(Loader(define())))
        assert batch.shape == (1, 3)
        assert batch.dtype == np.int32


def test_channels_last(root: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def define() -> tuple[DataNode, ...]:
        _, label = fn.readers.file(file_root=str(root))
        planes = fn.reshape(fn.zeros(shape=[3, 6, 8]) + label, layout="CHW")
        return planes, fn.transpose(planes, perm=[1, 2, 0]), fn.zeros(shape=[3, 6, 8])

    for is_wanted, shapes in (
        (False, [(2, 3, 6, 8), (2, 6, 8, 3), (2, 3, 6, 8)]),
        (True, [(2, 6, 8, 3), (2, 6, 8, 3), (2, 3, 6, 8)]),
    ):
        batch = next(iter(Loader(define(), channels_last=is_wanted)))
        assert [array.shape for array in batch] == shapes


def test_samples_of_different_shapes(root: Path) -> None:
    @pipeline_def(batch_size=4, num_threads=1)
    def define() -> tuple[DataNode, ...]:
        return tuple(fn.readers.file(file_root=str(root)))

    loader = Loader(define(), output_types=["list", "dense"])
    files: list[Any] = []
    for contents, labels in loader:
        assert isinstance(contents, list)
        assert len(contents) == len(labels)
        files += contents
    assert [bytes(file) for file in files] == [
        path.read_bytes() for path in sorted(root.glob("*/*"))
    ]
    with pytest.raises(AdapterError, match="must have the same shape"):
        next(iter(Loader(define())))


def test_several_pipelines_are_joined(root: Path) -> None:
    pipelines = [
        numbers(root, 10, 3, num_shards=2, shard_id=shard, stick_to_shard=True) for shard in (0, 1)
    ]
    loader = Loader(pipelines)
    assert loader.batch_size == 6
    assert len(loader.pipelines) == 2
    for _ in range(2):
        assert [number.tolist() for (number,) in loader] == [[0, 1, 2, 5, 6, 7], [3, 4, 8, 9]]


def test_arrays_own_their_memory(root: Path) -> None:
    loader = Loader(images(root))
    kept = [pixels for pixels, _ in loader]
    labels = [label.copy() for _, label in loader]
    loader.close()
    del loader
    gc.collect()
    for pixels, label in zip(kept, labels, strict=True):
        assert (pixels == label[:, None, None, None]).all()


def test_a_device_is_that_of_a_framework(root: Path) -> None:
    assert len(Loader(images(root), device="cpu")) == 3
    with pytest.raises(ArgumentValueError, match=r"device: must be None or 'cpu'"):
        Loader(images(root), device="cuda")
