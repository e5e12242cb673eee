"""Accelerated loaders: the batches of the loader of PyTorch, in the same order."""

from __future__ import annotations

import gc
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.torchvision_import import import_torchvision

torch = pytest.importorskip("torch", reason="not available: PyTorch")
import_torchvision()
Image = pytest.importorskip("PIL.Image", reason="not available: Pillow")

from torchvision.datasets import ImageFolder  # noqa: E402
from torchvision.transforms import v2  # noqa: E402

from dali_core.torchvision import accelerate  # noqa: E402
from dali_core.torchvision._known import of_torchvision  # noqa: E402
from tests.waiting import wait_until  # noqa: E402

MOMENTS = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of classes, with JPEG files of several kinds and others."""
    root: Path = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(1)
    for number in range(24):
        place = root / "abc"[number % 3]
        place.mkdir(exist_ok=True)
        small = rng.integers(0, 256, (9 + number, 12, 3), np.uint8)
        image = Image.fromarray(small).resize((90 + number, 70 + number))
        if number == 5:
            image = image.convert("L")
        if number == 6:
            image = image.convert("CMYK")
        suffix = {7: "png", 8: "webp", 9: "png", 10: "bmp"}.get(number, "jpg")
        if number == 9:
            image = image.convert("P")
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by a quarter, which torchvision ignores
        more = {"exif": exif} if number == 11 else {}
        image.save(place / f"{number:02}.{suffix}", **more)
    return root


def evaluation() -> Any:
    return v2.Compose(
        [
            v2.Resize(64),
            v2.CenterCrop(56),
            v2.PILToTensor(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(*MOMENTS),
        ]
    )


def training() -> Any:
    return v2.Compose(
        [
            v2.RandomResizedCrop(40),
            v2.RandomHorizontalFlip(),
            v2.ColorJitter(0.2),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(*MOMENTS),
        ]
    )


def loader(dataset: Any, **arguments: Any) -> Any:
    return torch.utils.data.DataLoader(dataset, **{"batch_size": 5, **arguments})


@pytest.mark.parametrize("workers", [0, 2])
def test_batches_are_those_of_the_loader(folder: Path, workers: int) -> None:
    for arguments in ({}, {"shuffle": True}, {"shuffle": True, "drop_last": True}):
        given = loader(ImageFolder(folder, evaluation()), num_workers=workers, **arguments)
        faster = accelerate(given)
        assert len(faster) == len(given)
        torch.manual_seed(3)
        expected = list(given)
        torch.manual_seed(3)
        found = list(faster)
        assert len(found) == len(expected)
        for (images, labels), (their_images, their_labels) in zip(found, expected, strict=True):
            assert labels.tolist() == their_labels.tolist()
            assert images.dtype == their_images.dtype
            wrong = (images - their_images).abs() > 1.01 / 255 / 0.224
            assert wrong.float().mean() < 0.001
        # As many random numbers of the process were taken.
        torch.manual_seed(3)
        list(given)
        expected_next = torch.rand(1)
        torch.manual_seed(3)
        list(faster)
        assert torch.equal(torch.rand(1), expected_next)


def test_pixels_without_transform_are_those_of_pillow(folder: Path) -> None:
    dataset = ImageFolder(folder, v2.PILToTensor())
    for (image, label), (expected, their_label) in zip(
        accelerate(loader(dataset, batch_size=None)), dataset, strict=True
    ):
        assert label == their_label
        assert torch.equal(image, expected)


def test_random_numbers_depend_on_the_seed_and_the_sample(folder: Path) -> None:
    def epoch(seed: int, threads: int, batch_size: int = 5) -> Any:
        given = loader(ImageFolder(folder, training()), batch_size=batch_size, shuffle=True)
        torch.manual_seed(seed)
        return torch.cat([images for images, _ in accelerate(given, num_threads=threads)])

    first = epoch(1, 1)
    assert torch.equal(first, epoch(1, 3))
    assert torch.equal(first, epoch(1, 2, batch_size=7))
    assert not torch.equal(first, epoch(2, 1))


def test_epochs_differ(folder: Path) -> None:
    faster = accelerate(loader(ImageFolder(folder, training())))
    torch.manual_seed(0)
    one, other = (torch.cat([images for images, _ in faster]) for _ in range(2))
    assert not torch.equal(one, other)


def test_subsets_concatenations_and_samplers(folder: Path) -> None:
    dataset = ImageFolder(folder, evaluation())
    subset = torch.utils.data.Subset(dataset, [20, 3, 9])
    joined = torch.utils.data.ConcatDataset([subset, dataset])
    sampler = [0, 26, 2, 5, 1]
    given = loader(joined, batch_size=2, sampler=sampler, collate_fn=lambda batch: batch)
    faster = accelerate(given)
    assert "Subset of 3 samples" in faster.plan()
    for found, expected in zip(faster, given, strict=True):
        assert [label for _, label in found] == [label for _, label in expected]
        assert [image.shape for image, _ in found] == [image.shape for image, _ in expected]


def test_plan(folder: Path) -> None:
    def blur(image: Any) -> Any:
        return image

    transform = v2.Compose(
        [v2.Resize(32), v2.CenterCrop(32), blur, v2.ToImage(), v2.RandomPhotometricDistort(p=0.0)]
    )
    dataset = ImageFolder(folder, transform, target_transform=lambda label: label + 1)
    plan = accelerate(loader(dataset, num_workers=2)).plan().splitlines()
    assert plan[0].startswith("ImageFolder: native")
    assert [line.rpartition(": ")[2].partition(" (")[0] for line in plan[1:8]] == [
        *("native", "native", "Python function", "native", "Python function"),
        *("Python function", "Python function"),
    ]
    assert plan[-1] == "in 2 threads, no worker processes"
    labels = torch.cat([labels for _, labels in accelerate(loader(dataset))])
    assert sorted(set(labels.tolist())) == [1, 2, 3]


def test_changed_data_sets_stay_with_their_loader(folder: Path) -> None:
    class Own(ImageFolder):  # type: ignore[misc, unused-ignore]
        def __getitem__(self, index: int) -> Any:
            return index, super().__getitem__(index)[1]

    class Decoding(ImageFolder):  # type: ignore[misc, unused-ignore]
        pass

    own = accelerate(loader(Own(folder)))
    assert own.plan() == "Own: Python function\nby the data loader itself"
    assert torch.cat([index for index, _ in own]).tolist() == list(range(24))
    other = accelerate(loader(ImageFolder(folder, loader=lambda path: 1)))
    assert "by the data loader itself" in other.plan()
    assert "Decoding: native" in accelerate(loader(Decoding(folder))).plan()


def test_changed_transforms_are_functions(folder: Path) -> None:
    class Halved(v2.Resize):  # type: ignore[misc, unused-ignore]
        def transform(self, image: Any, parameters: Any) -> Any:
            return super().transform(image, parameters).resize((8, 8))

    dataset = ImageFolder(folder, v2.Compose([Halved(16), v2.PILToTensor()]))
    faster = accelerate(loader(dataset))
    assert "Lambda" in faster.plan().splitlines()[1]
    assert next(iter(faster))[0].shape == (5, 3, 8, 8)


def test_errors_of_samples_arrive(folder: Path, tmp_path: Path) -> None:
    place = tmp_path / "a"
    place.mkdir()
    for number in range(4):
        (place / f"{number}.jpg").write_bytes((folder / "a" / "00.jpg").read_bytes())
    (place / "2.jpg").write_bytes(b"\xff\xd8 broken")
    faster = accelerate(loader(ImageFolder(tmp_path, evaluation()), batch_size=2))
    found = iter(faster)
    assert len(next(found)[1]) == 2
    with pytest.raises(OSError, match="cannot identify"):
        next(found)

    def fail(image: Any) -> Any:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        list(accelerate(loader(ImageFolder(folder, fail))))


def test_threads_end_with_the_loop(folder: Path) -> None:
    def threads() -> int:
        return sum(t.name.startswith("dali_core.torchvision") for t in threading.enumerate())

    faster = accelerate(loader(ImageFolder(folder, evaluation()), num_workers=2))
    for _ in range(5):
        for _ in faster:
            break
    gc.collect()
    wait_until(lambda: threads() == 0)
    assert len(list(faster)) == len(faster)


def test_wrong_loaders() -> None:
    class Stream(torch.utils.data.IterableDataset):  # type: ignore[misc, name-defined, unused-ignore]
        def __iter__(self) -> Any:
            return iter([1])

    with pytest.raises(TypeError, match="DataLoader"):
        accelerate([1, 2])
    with pytest.raises(TypeError, match="IterableDataset"):
        accelerate(loader(Stream()))
    with pytest.raises(ValueError, match="num_threads"):
        accelerate(loader([1, 2]), num_threads=0)


TRANSFORMS: dict[str, tuple[Any, ...]] = {
    "AugMix": (),
    "AutoAugment": (),
    "CenterCrop": (3,),
    "ColorJitter": (0.2, (0.5, 1.5), 0.0, 0.1),
    "Compose": ([v2.Resize(3)],),
    "ConvertImageDtype": (torch.float32,),
    "GaussianBlur": (3,),
    "Grayscale": (3,),
    "Identity": (),
    "Lambda": (len,),
    "Normalize": ([0.5], [0.5], True),
    "PILToTensor": (),
    "Pad": ((1, 2), 3, "edge"),
    "RandAugment": (),
    "RandomAdjustSharpness": (2.0,),
    "RandomAffine": (5, (0.1, 0.1), (0.5, 1.0), 3),
    "RandomApply": ([v2.Resize(3)],),
    "RandomAutocontrast": (),
    "RandomChoice": ([v2.Resize(3)],),
    "RandomCrop": (5, 1, True),
    "RandomEqualize": (),
    "RandomErasing": (0.5, (0.1, 0.2), (0.3, 3.0), "random"),
    "RandomGrayscale": (),
    "RandomHorizontalFlip": (),
    "RandomInvert": (),
    "RandomOrder": ([v2.Resize(3)],),
    "RandomPerspective": (),
    "RandomPosterize": (3,),
    "RandomResizedCrop": (40,),
    "RandomRotation": (5, v2.InterpolationMode.BILINEAR),
    "RandomSolarize": (3.0,),
    "RandomVerticalFlip": (),
    "Resize": ((32, 30),),
    "ToDtype": (torch.float32, True),
    "ToImage": (),
    "ToPILImage": (),
    "ToPureTensor": (),
    "ToTensor": (),
    "TrivialAugmentWide": (),
}


@pytest.mark.filterwarnings("ignore:The transform `ToTensor")
@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_of_torchvision_are_known(name: str) -> None:
    from torchvision import transforms as former

    for module in (v2, former):
        if hasattr(module, name):
            made = of_torchvision(getattr(module, name)(*TRANSFORMS[name]))
            assert type(made).__name__ == name
            assert type(made).__module__.startswith("dali_core.torchvision.")


def test_former_transforms_are_known(folder: Path) -> None:
    from torchvision import transforms as former

    transform = former.Compose(
        [
            former.RandomResizedCrop(40),
            former.RandomHorizontalFlip(),
            former.RandAugment(),
            former.ToTensor(),
            former.Normalize(*MOMENTS),
            former.RandomErasing(0.5),
        ]
    )
    faster = accelerate(loader(ImageFolder(folder, transform)))
    assert "Python function" not in "\n".join(faster.plan().splitlines()[:-2])
    assert next(iter(faster))[0].shape == (5, 3, 40, 40)


def test_batches_in_use_are_never_overwritten(folder: Path) -> None:
    transform = v2.Compose([v2.Resize((200, 300)), v2.PILToTensor()])
    dataset = ImageFolder(folder, transform)
    given = loader(dataset, batch_size=6)  # of a megabyte
    faster = accelerate(given, num_threads=2)
    expected = [images.clone() for images, _ in faster]
    parts = []
    for _ in range(3):
        for (images, labels), copy in zip(faster, expected, strict=True):
            assert torch.equal(images, copy)
            assert labels.dtype == torch.int64
            parts.append((images[1:2], copy[1:2]))  # a view keeps the memory
            del images
    assert all(torch.equal(view, copy) for view, copy in parts)
    del parts
    places = set()
    for _ in range(5):
        for images, _ in faster:
            places.add(images.data_ptr())
            del images
    assert 1 <= len(places) <= 8
