"""Augmentations with fixed magnitudes: on average within one grey level of Pillow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

from dali_core import types
from dali_core.auto_aug import augmentations
from dali_core.auto_aug.core import signed_bin
from dali_core.errors import ArgumentTypeError, ArgumentValueError
from tests.auto_aug.augmenting import PHOTO, indices, run

BINS = 5
HEIGHT, WIDTH, _ = PHOTO.shape
PHOTO_OF_PILLOW = Image.fromarray(PHOTO)


def affine(*coefficients: float) -> Image.Image:
    return PHOTO_OF_PILLOW.transform(
        PHOTO_OF_PILLOW.size,
        Image.Transform.AFFINE,
        coefficients,
        Image.Resampling.BILINEAR,
        fillcolor=(128, 128, 128),
    )


def solarized_sum(shift: float) -> np.ndarray:
    return np.where(PHOTO < 128, PHOTO + int(shift), PHOTO)


# Of a name: the ends of the range, whether it is negated, and what a magnitude does.
WITH_MAGNITUDES: dict[str, tuple[float, float, bool, Callable[[float], Any]]] = {
    "shear_x": (0, 0.3, True, lambda m: affine(1, -m, 0, 0, 1, 0)),
    "shear_y": (0, 0.3, True, lambda m: affine(1, 0, 0, -m, 1, 0)),
    "translate_x": (0, 1, True, lambda m: affine(1, 0, -m * WIDTH, 0, 1, 0)),
    "translate_y": (0, 1, True, lambda m: affine(1, 0, 0, 0, 1, -m * HEIGHT)),
    "translate_x_no_shape": (0, 250, True, lambda m: affine(1, 0, -m, 0, 1, 0)),
    "translate_y_no_shape": (0, 250, True, lambda m: affine(1, 0, 0, 0, 1, -m)),
    "rotate": (
        0,
        30,
        True,
        lambda m: PHOTO_OF_PILLOW.rotate(m, Image.Resampling.BILINEAR, fillcolor=(128, 128, 128)),
    ),
    "brightness": (0, 0.9, True, lambda m: ImageEnhance.Brightness(PHOTO_OF_PILLOW).enhance(1 + m)),
    "contrast": (0, 0.9, True, lambda m: ImageEnhance.Contrast(PHOTO_OF_PILLOW).enhance(1 + m)),
    "color": (0, 0.9, True, lambda m: ImageEnhance.Color(PHOTO_OF_PILLOW).enhance(1 + m)),
    "sharpness": (0, 0.9, True, lambda m: ImageEnhance.Sharpness(PHOTO_OF_PILLOW).enhance(1 + m)),
    "posterize": (
        0,
        4,
        False,
        lambda m: ImageOps.posterize(PHOTO_OF_PILLOW, max(round(m), 1)),
    ),
    "solarize": (256, 0, False, lambda m: ImageOps.solarize(PHOTO_OF_PILLOW, m)),
    "solarize_add": (0, 110, False, solarized_sum),
}
EXACT = {"posterize", "solarize", "solarize_add"}


def transformed(name: str, signs: list[int], number: int, **keywords: Any) -> list[np.ndarray]:
    """Return a photo transformed with a magnitude bin and some signs."""
    one = getattr(augmentations, name)
    if name in ("translate_x", "translate_y"):
        keywords.setdefault("shape", PHOTO.shape[:2])

    def define(image: Any) -> Any:
        signed = signed_bin(number, random_sign=indices(signs))
        return one(image, magnitude_bin=signed, num_magnitude_bins=BINS, **keywords)

    return run(define, [PHOTO] * len(signs))


@pytest.mark.parametrize("name", WITH_MAGNITUDES)
def test_magnitudes(name: str) -> None:
    low, high, is_negated, expect = WITH_MAGNITUDES[name]
    one = getattr(augmentations, name)
    assert one.mag_range == (low, high)
    assert one.randomly_negate == is_negated
    assert one.name == name.removesuffix("_no_shape")
    for number in (0, 1, 3, 4):
        magnitude = float(np.linspace(low, high, BINS)[number])
        found = transformed(name, [0, 1], number)
        for image, sign in zip(found, (1, -1), strict=True):
            expected = np.asarray(expect(magnitude * sign if is_negated else magnitude))
            assert image.shape == expected.shape
            # Pillow copies the border where it convolves.
            within = np.s_[1:-1, 1:-1] if name == "sharpness" else np.s_[:]
            difference = np.abs(image.astype(int) - expected)[within]
            assert difference.mean() <= (0 if name in EXACT else 1), (number, sign)


def equalized(image: np.ndarray) -> np.ndarray:
    """Equalise by OpenCV's formula."""
    channels = []
    for values in np.moveaxis(image, -1, 0):
        counts = np.cumsum(np.bincount(values.ravel(), minlength=256))
        least = counts[counts > 0][0]
        table = np.rint((counts - least) * (255 / (counts[-1] - least)))
        channels.append(table[values])
    return np.stack(channels, -1)


WITHOUT_MAGNITUDES: dict[str, tuple[float, Callable[[], Any]]] = {
    "auto_contrast": (1, lambda: ImageOps.autocontrast(PHOTO_OF_PILLOW)),
    "equalize": (0.01, lambda: equalized(PHOTO)),
    "invert": (0, lambda: ImageOps.invert(PHOTO_OF_PILLOW)),
    "identity": (0, lambda: PHOTO),
}


@pytest.mark.parametrize("name", WITHOUT_MAGNITUDES)
def test_without_magnitudes(name: str) -> None:
    tolerance, expect = WITHOUT_MAGNITUDES[name]
    one = getattr(augmentations, name)
    assert one.mag_range is None
    (found,) = run(one)
    assert np.abs(found.astype(int) - np.asarray(expect())).mean() <= tolerance


def test_equalize_is_close_to_pillow() -> None:
    # Its formula is another one; for even histograms, the results are nearly the same.
    image = np.random.default_rng(1).integers(0, 256, (160, 200, 3), np.uint8)
    (found,) = run(augmentations.equalize, [image])
    expected = np.asarray(ImageOps.equalize(Image.fromarray(image)))
    assert np.abs(found.astype(int) - expected).mean() <= 1


def test_channels_of_one_value() -> None:
    image = np.full((6, 8, 3), (77, 100, 9), np.uint8)
    image[0, 0] = (77, 120, 9)
    (found,) = run(augmentations.auto_contrast, [image])
    assert found[..., 0].tolist() == image[..., 0].tolist()
    assert sorted(set(found[..., 1].ravel().tolist())) == [0, 255]
    assert found[..., 2].tolist() == image[..., 2].tolist()


def test_arguments_of_geometry() -> None:
    for name in ("rotate", "shear_x", "shear_y", "translate_x", "translate_y_no_shape"):
        (black,) = transformed(name, [0], 1, fill_value=0)
        (grey,) = transformed(name, [0], 1)
        (border,) = transformed(name, [0], 1, fill_value=None, interp_type=types.INTERP_NN)
        outside = (black == 0).all(-1) & (grey == 128).all(-1)
        assert outside.any()
        assert not (border[outside] == 128).all()
        colors = {tuple(color) for color in PHOTO.reshape(-1, 3)}
        assert {tuple(color) for color in border.reshape(-1, 3)} <= colors


def test_rotation_with_all_of_the_image() -> None:
    (found,) = transformed("rotate", [0], BINS - 1, rotate_keep_size=False)
    assert found.shape[0] > HEIGHT
    assert found.shape[1] > WIDTH


def test_shapes_of_samples() -> None:
    def define(image: Any) -> Any:
        signed = signed_bin(1, random_sign=indices([0]))
        return tuple(
            augmentations.translate_x(
                image, magnitude_bin=signed, num_magnitude_bins=3, shape=shape, fill_value=0
            )
            for shape in (image.shape(), [HEIGHT, WIDTH])
        )

    narrow = np.full((4, 6, 3), 200, np.uint8)
    (found,) = run(lambda image: define(image)[0], [narrow], batch_size=1)
    assert found[0, :, 0].tolist() == [0, 0, 0, 200, 200, 200]
    (found,) = run(lambda image: define(image)[1], [PHOTO], batch_size=1)
    assert not found[:, : WIDTH // 2].any()
    assert found[:, WIDTH // 2 :].tolist() == PHOTO[:, : WIDTH - WIDTH // 2].tolist()


@pytest.mark.parametrize("name", [*WITH_MAGNITUDES, *WITHOUT_MAGNITUDES])
def test_sequences_are_transformed_frame_by_frame(name: str) -> None:
    frames = [PHOTO, PHOTO // 2, PHOTO[::-1]]
    keywords = {"shape": (HEIGHT, WIDTH)} if name in ("translate_x", "translate_y") else {}

    def define(image: Any) -> Any:
        signed = signed_bin(2, random_sign=indices([1]))
        one = getattr(augmentations, name)
        return one(image, magnitude_bin=signed, num_magnitude_bins=BINS, **keywords)

    (clip,) = run(define, [np.stack(frames)], "FHWC", batch_size=1)
    images = [run(define, [frame], batch_size=1)[0] for frame in frames]
    assert clip.tolist() == [image.tolist() for image in images]


def test_parameters() -> None:
    assert augmentations.warp_x_param(0.5) == [0.5, 0]
    assert augmentations.warp_y_param(0.5) == [0, 0.5]
    assert augmentations.shift_enhance_range(-0.25) == 0.75
    masks = [int(augmentations.poster_mask_uint8(bits)) for bits in (0, 1, 1.5, 4, 8)]
    assert masks == [0x80, 0x80, 0xC0, 0xF0, 0xFF]
    assert augmentations.solarize_add_shift(109.9) == 109
    unchanged = np.array([[0, 0, 0], [0, 1, 0], [0, 0, 0]])
    assert (augmentations.sharpness_kernel(0) == unchanged).all()
    assert (augmentations.sharpness_kernel_shifted(1) == unchanged).all()
    assert augmentations.sharpness_kernel(-1) == pytest.approx(
        np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]]) / 13
    )


def test_sums_must_fit() -> None:
    one = augmentations.solarize_add.augmentation(mag_range=(0, 128))
    assert run(lambda image: one(image, magnitude_bin=0, num_magnitude_bins=2))
    with pytest.raises(ArgumentValueError, match=r"'solarize_add'.* from 0 to 127 \(got 128"):
        run(lambda image: one(image, magnitude_bin=1, num_magnitude_bins=2))


def test_missing_arguments_are_named() -> None:
    with pytest.raises(ArgumentTypeError, match=r"augmentation 'translate_x'.*'shape'"):
        run(lambda image: augmentations.translate_x(image, magnitude_bin=0, num_magnitude_bins=2))


def test_grey_images() -> None:
    grey = PHOTO[..., :1].copy()
    (found,) = run(augmentations.equalize, [grey])
    assert found.tolist() == equalized(grey).tolist()
    contrast = augmentations.contrast.augmentation(mag_range=(-1, 0), randomly_negate=False)
    (found,) = run(lambda x: contrast(x, magnitude_bin=0, num_magnitude_bins=2), [grey])
    assert found.tolist() == np.full(grey.shape, round(grey.mean())).tolist()
