"""The loader of PyTorch: tensors as losses and models expect them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="not available: PyTorch")

import dali_core  # noqa: E402
from dali_core import DataNode, adapters, fn, pipeline_def  # noqa: E402
from dali_core.pytorch import Loader  # noqa: E402
from tests.folders import make_folders  # noqa: E402
from tests.loaders.pipelines import images, numbers  # noqa: E402


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_folders(folder, (4, 3, 3))
    return folder


def test_names_of_the_loader(root: Path) -> None:
    assert dali_core.pytorch.Loader is Loader
    made = adapters.get_adapter("pytorch").loader(images(root), ("a", "b"), as_dict=True)
    assert type(made) is Loader
    assert made.names == ["a", "b"]


def test_batches_fit_a_loss(root: Path) -> None:
    for pixels, labels in Loader(images(root), channels_last=True):
        assert labels.dtype is torch.int64
        assert labels.shape == (len(pixels),)
        model = torch.nn.Sequential(
            torch.nn.Conv2d(3, 3, 2), torch.nn.Flatten(), torch.nn.LazyLinear(3)
        )
        loss = torch.nn.functional.cross_entropy(model(pixels), labels)
        assert loss.isfinite()
        assert (pixels[:, 0, 0, 0] == labels).all()


def test_dictionaries(root: Path) -> None:
    batch = next(iter(Loader(images(root), ("image", "label"), as_dict=True)))
    assert list(batch) == ["image", "label"]
    assert batch["label"].tolist() == [0, 0, 0, 0]


def test_images_of_any_layout_get_channels_last(root: Path) -> None:
    @pipeline_def(batch_size=2, num_threads=1)
    def define() -> tuple[DataNode, ...]:
        _, label = fn.readers.file(file_root=str(root))
        values = fn.random.uniform(range=[0.0, 1.0], shape=[6, 8, 3], seed=1) + 0 * label
        rows = fn.reshape(values, layout="HWC")
        frames = fn.reshape(values, shape=[2, 3, 8, 3], layout="FHWC")
        return rows, fn.transpose(rows, perm=[2, 0, 1]), frames

    rows, planes, frames = next(iter(Loader(define(), channels_last=True)))
    plain, _, plain_frames = next(iter(Loader(define())))
    assert plain.shape == (2, 6, 8, 3)
    for tensor in (rows, planes):
        assert tensor.shape == (2, 3, 6, 8)
        assert tensor.is_contiguous(memory_format=torch.channels_last)
        assert torch.equal(tensor, plain.permute(0, 3, 1, 2))
    assert frames.shape == (2, 3, 2, 3, 8)
    assert frames.is_contiguous(memory_format=torch.channels_last_3d)
    assert torch.equal(frames, plain_frames.permute(0, 4, 1, 2, 3))


def test_channels_last_of_rows_copies_nothing() -> None:
    from dali_core_pytorch.loader import TorchPlacement

    rows = torch.arange(2 * 6 * 8 * 3).reshape(2, 6, 8, 3)
    assert TorchPlacement(None).channels_last(rows, 3).data_ptr() == rows.data_ptr()


def test_a_device(root: Path) -> None:
    for pixels, labels in Loader(images(root), device="meta"):
        assert pixels.device.type == labels.device.type == "meta"
        assert labels.dtype is torch.int64
    (samples,) = next(iter(Loader(numbers(root, 4, 2), device="meta", output_types=["list"])))
    assert [sample.device.type for sample in samples] == ["meta", "meta"]
    with pytest.raises(RuntimeError, match="nowhere"):
        Loader(images(root), device="nowhere")


def test_several_pipelines_are_joined(root: Path) -> None:
    pipelines = [numbers(root, 10, 3, num_shards=2, shard_id=shard) for shard in (0, 1)]
    loader = Loader(pipelines)
    for _ in range(3):
        epoch = [number for (number,) in loader]
        assert [len(batch) for batch in epoch] == [6, 4]
        assert sorted(torch.cat(epoch).tolist()) == list(range(10))


def test_a_loop_in_the_shape_of_timm(root: Path) -> None:
    """What its training script asks a loader for."""
    loader: Any = Loader(images(root))
    for epoch in range(2):
        loader.set_epoch(epoch)
        seen = 0
        for index, (pixels, target) in enumerate(loader):
            is_last = index == len(loader) - 1
            assert is_last == (len(target) == 2)
            seen += pixels.size(0)
        assert is_last
        assert seen == len(loader.dataset)
