"""Transforms by themselves and in `Compose`: inputs, outputs, threads, pickles and seeds."""

from __future__ import annotations

import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="not available: PyTorch")
Image = pytest.importorskip("PIL.Image", reason="not available: Pillow")

from dali_core import torchvision as tv  # noqa: E402
from dali_core.torchvision.v2 import functional  # noqa: E402


def image(height: int = 40, width: int = 50, mode: str = "RGB") -> Any:
    array = np.random.default_rng(height).integers(0, 256, (height, width, 3), np.uint8)
    return Image.fromarray(array).convert(mode)


def augmentation(seed: int | None = None) -> Any:
    return tv.Compose(
        [
            tv.RandomResizedCrop(24),
            tv.RandomHorizontalFlip(),
            tv.ColorJitter(0.3, 0.3, 0.3, 0.1),
            tv.ToTensor(),
            tv.Normalize([0.5], [0.25]),
        ],
        seed=seed,
    )


def test_module_needs_neither_torchvision_nor_pytorch() -> None:
    program = (
        "import sys, dali_core.torchvision, dali_core.experimental.torchvision as other\n"
        "assert other is dali_core.torchvision\n"
        "import dali_core.experimental.torchvision.v2.functional as functional\n"
        "assert functional is dali_core.torchvision.v2.functional\n"
        "print({'torch', 'torchvision', 'PIL'} & {name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "CMYK"])
def test_images_of_pillow_keep_their_mode(mode: str) -> None:
    source = image(mode="RGB" if mode == "LA" else mode)
    source = source.convert("LA") if mode == "LA" else source
    found = tv.Compose([tv.Resize(20), tv.RandomHorizontalFlip(1.0), tv.Pad(2)])(source)
    assert (found.mode, found.size) == (mode, (29, 24))


@pytest.mark.parametrize("mode", ["P", "1", "I", "F"])
def test_other_modes_are_refused(mode: str) -> None:
    with pytest.raises(ValueError, match=r"one of the modes.*convert"):
        tv.Resize(20)(image().convert("L").convert(mode))


@pytest.mark.parametrize("mode", ["RGBA", "CMYK"])
def test_colors_of_other_modes_are_those_of_pillow(mode: str) -> None:
    from PIL import ImageEnhance

    expected = ImageEnhance.Brightness(image(mode=mode)).enhance(0.5)
    assert functional.adjust_brightness(image(mode=mode), 0.5).tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "dtype", ["uint8", "int16", "uint16", "int32", "float16", "float32", "float64", "bool"]
)
def test_flips_keep_the_type_of_tensors(dtype: str) -> None:
    tensor = (torch.rand(2, 5, 6) * 9).to(getattr(torch, dtype))
    array = tensor.numpy()
    assert np.array_equal(tv.RandomHorizontalFlip(1.0)(tensor).numpy(), array[..., ::-1])
    assert np.array_equal(tv.RandomVerticalFlip(1.0)(tensor).numpy(), array[:, ::-1])
    assert np.array_equal(tv.CenterCrop(4)(tensor).numpy(), array[:, 0:4, 1:5])


def test_kinds_of_inputs() -> None:
    transform = tv.Compose([tv.CenterCrop(20), tv.RandomVerticalFlip(1.0)])
    picture = image()
    array = np.asarray(picture)
    tensor = torch.from_numpy(array.copy()).permute(2, 0, 1)
    expected = array[10:30, 15:35][::-1]
    assert np.array_equal(np.asarray(transform(picture)), expected)
    assert np.array_equal(transform(array), expected)
    assert np.array_equal(transform(array[..., 0]), expected[..., 0])
    for given in (tensor, tensor.contiguous(), tensor.flip(2).flip(2)):
        assert np.array_equal(transform(given).permute(1, 2, 0).numpy(), expected)
    batch = transform(torch.stack([tensor, tensor]))
    assert batch.shape == (2, 3, 20, 20)
    assert np.array_equal(transform(np.stack([array, array]))[1], expected)
    first, second = transform([picture, tensor])
    assert np.array_equal(np.asarray(first), second.permute(1, 2, 0).numpy())


@pytest.mark.parametrize(
    "value", [torch.zeros(4, 4), torch.zeros(1, 1, 3, 4, 4), np.zeros(5), "text", None, 3]
)
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="torchvision"):
        tv.Compose([tv.Resize(3)])(value)


def test_empty_compose_is_the_identity() -> None:
    picture = image()
    assert tv.Compose([])(picture) is picture


def test_results_do_not_change_inputs() -> None:
    tensor = torch.from_numpy(np.asarray(image()).copy()).permute(2, 0, 1).contiguous()
    before = tensor.clone()
    tv.Compose([tv.Resize(20), tv.ColorJitter(0.5), tv.RandomErasing(1.0)])(tensor).zero_()
    assert torch.equal(tensor, before)


def test_functions_and_nested_transforms() -> None:
    seen = []

    def look(picture: Any) -> Any:
        seen.append(picture)
        return picture.rotate(90, expand=True)

    inner = tv.Compose([tv.Resize((10, 20)), look])
    found = tv.Compose([inner, tv.ToTensor(), torch.nn.Identity(), tv.Lambda(lambda t: t + 1)])(
        image()
    )
    assert seen[0].size == (20, 10)
    assert found.shape == (3, 20, 10)
    assert 1 <= float(found.min()) <= float(found.max()) <= 2


def test_functions_may_return_anything() -> None:
    assert tv.Compose([tv.Resize(10), lambda picture: picture.size, sum])(image()) == 22
    with pytest.raises(TypeError, match=r"Resize.*got a int"):
        tv.Compose([lambda picture: 5, tv.Resize(10)])(image())


def test_plan_of_transforms() -> None:
    transform = tv.Compose([tv.Resize(20), tv.RandomApply([tv.GaussianBlur(3)]), print])
    lines = transform.plan().splitlines()
    assert lines[0].startswith("Resize(")
    assert ": native" in lines[0]
    assert lines[1:] == [
        "RandomApply(p=0.5):",
        "  GaussianBlur(kernel_size=(3, 3), sigma=(0.1, 2.0)): native",
        "Lambda(print): Python function",
    ]


def test_manual_seed_governs() -> None:
    transform = augmentation()
    torch.manual_seed(4)
    first = [transform(image()) for _ in range(3)]
    torch.manual_seed(4)
    second = [transform(image()) for _ in range(3)]
    assert all(map(torch.equal, first, second))
    assert not torch.equal(first[0], first[1])


def test_seed_governs() -> None:
    one, other = augmentation(3), augmentation(3)
    torch.manual_seed(1)
    state = torch.get_rng_state()
    first = [one(image()) for _ in range(4)]
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(2)
    second = other([image()] * 4)
    assert all(map(torch.equal, first, second))
    assert not torch.equal(augmentation(5)(image()), first[0])


def test_every_image_of_a_batch_draws_for_itself() -> None:
    tensor = torch.from_numpy(np.asarray(image()).copy()).permute(2, 0, 1)
    batch = tv.Compose([tv.RandomCrop(10)], seed=1)(torch.stack([tensor] * 6))
    assert len({tuple(entry.flatten().tolist()) for entry in batch}) > 1


def test_batch_size_limits_batches() -> None:
    batch = torch.zeros(3, 1, 4, 4, dtype=torch.uint8)
    assert tv.Compose([tv.Resize(2)], batch_size=3, num_threads=2, seed=1)(batch).shape[0] == 3
    with pytest.raises(RuntimeError, match="batch_size=2"):
        tv.Compose([tv.Resize(2)], batch_size=2)(batch)


def test_threads_share_a_transform() -> None:
    transform = tv.Compose([tv.Resize(15), tv.CenterCrop(12), tv.ToTensor()])
    pictures = [image(20 + i, 30 + i % 7) for i in range(60)]
    expected = [transform(picture) for picture in pictures]
    with ThreadPoolExecutor(4) as threads:
        for _ in range(3):
            assert all(map(torch.equal, threads.map(transform, pictures), expected))


def test_pickles_before_and_after_use() -> None:
    transform = augmentation(7)
    fresh = pickle.loads(pickle.dumps(transform))
    first, second = transform(image()), transform(image())
    again = pickle.loads(pickle.dumps(transform))
    assert torch.equal(fresh(image()), first)
    assert torch.equal(fresh(image()), second)
    assert torch.equal(again(image()), transform(image()))


class Pictures(torch.utils.data.Dataset):  # type: ignore[misc, name-defined, unused-ignore]
    def __init__(self, transform: Any) -> None:
        self.transform = transform

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> Any:
        return self.transform(image(30 + index))


@pytest.mark.parametrize("seed", [None, 5])
def test_workers_of_data_loaders(seed: int | None) -> None:
    augmentation(seed)(image())  # used before the fork

    def epoch(number: int) -> Any:
        torch.manual_seed(number)
        loader = torch.utils.data.DataLoader(
            Pictures(augmentation(seed)), batch_size=2, num_workers=2
        )
        return torch.cat(list(loader))

    first = epoch(1)
    assert torch.equal(first, epoch(1))
    assert not torch.equal(first, epoch(2))


BAD_ARGUMENTS = [
    (lambda: tv.Resize(0), ValueError),
    (lambda: tv.Resize((1, 2, 3)), ValueError),
    (lambda: tv.Resize(5.5), ValueError),
    (lambda: tv.Resize("big"), ValueError),
    (lambda: tv.Resize((4, 5), max_size=9), ValueError),
    (lambda: tv.Resize(10, max_size=10), ValueError),
    (lambda: tv.Resize(None), ValueError),
    (lambda: tv.Resize(5, interpolation=9), ValueError),
    (lambda: tv.Resize(5, interpolation="linear"), ValueError),
    (lambda: tv.Resize(5, interpolation=tv.InterpolationMode.BOX), NotImplementedError),
    (lambda: tv.Resize(5, device="gpu"), RuntimeError),
    (lambda: tv.RandomCrop(5, padding_mode="other"), ValueError),
    (lambda: tv.RandomCrop(5, padding=(1, 2, 3)), TypeError),
    (lambda: tv.RandomResizedCrop(5, scale=(1, 0.5)), ValueError),
    (lambda: tv.RandomResizedCrop(5, ratio=(-1, 2)), ValueError),
    (lambda: tv.RandomHorizontalFlip(1.5), ValueError),
    (lambda: tv.RandomApply([], p=-1), ValueError),
    (lambda: tv.Grayscale(2), ValueError),
    (lambda: tv.ColorJitter(brightness=-1), ValueError),
    (lambda: tv.ColorJitter(hue=0.7), ValueError),
    (lambda: tv.ColorJitter(contrast=(2, 1)), ValueError),
    (lambda: tv.GaussianBlur(4), ValueError),
    (lambda: tv.GaussianBlur(3, sigma=0), ValueError),
    (lambda: tv.Pad(-1), ValueError),
    (lambda: tv.Pad((1, 2, 3)), TypeError),
    (lambda: tv.Pad(1, fill={"a": 1}), TypeError),
    (lambda: tv.Pad(1, padding_mode="x"), ValueError),
    (lambda: tv.Normalize([0.5], [0]), ValueError),
    (lambda: tv.Normalize(0.5, 0.5), TypeError),
    (lambda: tv.Normalize([0.5], [0.5], inplace=True), NotImplementedError),
    (lambda: tv.RandomErasing(value="noise"), ValueError),
    (lambda: tv.RandomRotation(-5), ValueError),
    (lambda: tv.RandomAffine(0, translate=(2, 0)), ValueError),
    (lambda: tv.RandomPosterize(9), ValueError),
    (lambda: tv.AutoAugment("other"), ValueError),
    (lambda: tv.Compose([3]), TypeError),
    (lambda: tv.Compose(tv.Resize(3)), TypeError),
    (lambda: tv.Compose([], unknown=1), TypeError),
    (lambda: tv.Compose([], seed="a"), TypeError),
    (lambda: tv.MixUp(alpha=0), ValueError),
]


@pytest.mark.parametrize("number", range(len(BAD_ARGUMENTS)))
def test_bad_arguments(number: int) -> None:
    call, error = BAD_ARGUMENTS[number]
    with pytest.raises(error, match="torchvision|device"):
        call()  # type: ignore[no-untyped-call, unused-ignore]


def test_errors_at_the_call() -> None:
    with pytest.raises(RuntimeError, match=r"RandomCrop.*pad_if_needed"):
        tv.RandomCrop(100)(image())
    with pytest.raises(TypeError, match="got one of Pillow"):
        tv.Normalize([0.5], [0.5])(image())
    with pytest.raises(ValueError, match="3 channels"):
        tv.Normalize([0.5] * 2, [0.5] * 2)(torch.zeros(3, 4, 4))
    with pytest.raises(TypeError, match=r"1 or 3 channels"):
        tv.ColorJitter(contrast=(0.5, 0.5))(torch.zeros(2, 4, 4))
    with pytest.raises(TypeError, match="array"):
        functional.resize(np.zeros((4, 4, 3), np.uint8), 2)


def test_sizes_of_images() -> None:
    picture = image(40, 50)
    for given in (picture, torch.zeros(3, 40, 50)):
        assert functional.get_dimensions(given) == [3, 40, 50]
        assert functional.get_image_size(given) == [50, 40]
        assert functional.get_size(given) == [40, 50]
    assert functional.get_dimensions(torch.zeros(4, 5)) == [1, 4, 5]
    with pytest.raises(TypeError):
        functional.get_size(np.zeros((4, 5)))


def test_images_of_tensors() -> None:
    tensor = torch.randint(0, 256, (3, 5, 6), dtype=torch.uint8)
    expected = tensor.permute(1, 2, 0).numpy()
    assert np.array_equal(np.asarray(functional.to_pil_image(tensor)), expected)
    assert np.array_equal(
        np.asarray(functional.to_pil_image(tensor.permute(1, 2, 0), input_layout="HWC")), expected
    )
    assert [p.mode for p in functional.to_pil_image(torch.rand(2, 1, 5, 6))] == ["L", "L"]
    assert functional.to_tensor(expected).max() <= 1
    with pytest.raises(ValueError, match="mode"):
        functional.to_pil_image(tensor, mode="L")
