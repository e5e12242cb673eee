"""Pipelines for the libraries with the same API: dali_core and NVIDIA DALI."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

from . import photo_settings as settings

PIPELINES = frozenset(
    {
        **settings.PHOTO_PIPELINES,
        **settings.DEVICE_PIPELINES,
        **settings.OVERHEAD_PIPELINES,
        **settings.SOURCE_PIPELINES,
        **settings.EXPRESSION_PIPELINES,
    }
)


def open_batches(
    library: ModuleType, pipeline: str, files: list[str], threads: int, batch_size: int
) -> Iterator[int]:
    """Build a pipeline with ``library`` and run it forever."""
    options = {"batch_size": batch_size, "num_threads": threads, "device_id": None, "seed": 1}
    if pipeline in settings.DEVICE_PIPELINES:
        options["device_id"] = 0
    if pipeline == "rand_augment":
        options["enable_conditionals"] = True
    if pipeline in settings.SOURCE_PIPELINES:
        options |= {"num_threads": 1, "py_num_workers": threads}
    built = library.pipeline_def(_GRAPHS[pipeline])(library, files, batch_size, **options)
    built.build()
    while True:
        yield len(built.run()[0])


def with_decoders(library: ModuleType, **arguments: Any) -> Any:
    """Return a library whose image decoders get more arguments."""
    decoders = SimpleNamespace(
        **{
            name: functools.partial(getattr(library.fn.decoders, name), **arguments)
            for name in ("image", "image_random_crop")
        }
    )
    return _Changed(library, fn=_Changed(library.fn, decoders=decoders))


class _Changed:
    """A module with other attributes."""

    def __init__(self, module: ModuleType, **changed: object) -> None:
        self._module = module
        self.__dict__ |= changed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


def _decode(library: ModuleType, files: list[str], num_samples: int) -> Any:
    return library.fn.decoders.image(_encoded(library, files), output_type=library.types.RGB)


def _random_crop(library: ModuleType, files: list[str], num_samples: int) -> Any:
    return _mirrored(library, _random_resized_crop(library, files, antialias=False))


def _mixed_random_crop(library: ModuleType, files: list[str], num_samples: int) -> Any:
    image = library.fn.decoders.image(
        _encoded(library, files), device="mixed", output_type=library.types.RGB
    )
    image = library.fn.random_resized_crop(
        image,
        size=[settings.CROP_SIDE, settings.CROP_SIDE],
        random_area=list(settings.RANDOM_AREA),
        random_aspect_ratio=list(settings.RANDOM_ASPECT_RATIO),
        antialias=False,
    )
    return _mirrored(library, image)


def _random_crop_antialias(library: ModuleType, files: list[str], num_samples: int) -> Any:
    return _mirrored(library, _random_resized_crop(library, files, antialias=True))


def _random_crop_colors(library: ModuleType, files: list[str], num_samples: int) -> Any:
    uniform = library.fn.random.uniform
    image = library.fn.color_twist(
        _random_resized_crop(library, files, antialias=False),
        hue=uniform(range=list(settings.HUE)),
        saturation=uniform(range=list(settings.FACTOR)),
        brightness=uniform(range=list(settings.FACTOR)),
        contrast=uniform(range=list(settings.FACTOR)),
    )
    return _mirrored(library, image)


def _rand_augment(library: ModuleType, files: list[str], num_samples: int) -> Any:
    scheme = importlib.import_module(f"{library.__name__}.auto_aug.rand_augment")
    image = _random_resized_crop(library, files, antialias=False)
    image = scheme.rand_augment(image, n=settings.NUM_AUGMENTATIONS, m=settings.MAGNITUDE_BIN)
    return _mirrored(library, image)


def _random_resized_crop(library: ModuleType, files: list[str], antialias: bool) -> Any:
    image = library.fn.decoders.image_random_crop(
        _encoded(library, files),
        output_type=library.types.RGB,
        random_area=list(settings.RANDOM_AREA),
        random_aspect_ratio=list(settings.RANDOM_ASPECT_RATIO),
    )
    return library.fn.resize(
        image, size=[settings.CROP_SIDE, settings.CROP_SIDE], antialias=antialias
    )


def _mirrored(library: ModuleType, image: Any) -> Any:
    return _normalise(library, image, mirror=library.fn.random.coin_flip())


def _centre_crop(library: ModuleType, files: list[str], num_samples: int) -> Any:
    image = library.fn.decoders.image(_encoded(library, files), output_type=library.types.RGB)
    image = library.fn.resize(image, resize_shorter=settings.SHORTER_SIDE, antialias=True)
    return _normalise(library, image, mirror=0)


def _encoded(library: ModuleType, files: list[str]) -> Any:
    encoded, _ = library.fn.readers.file(files=files, labels=[0] * len(files), name="photos")
    return encoded


def _normalise(library: ModuleType, image: Any, mirror: Any) -> Any:
    return library.fn.crop_mirror_normalize(
        image,
        crop=[settings.CROP_SIDE, settings.CROP_SIDE],
        mirror=mirror,
        mean=list(settings.MEAN),
        std=list(settings.STANDARD_DEVIATION),
        dtype=library.types.FLOAT,
        output_layout="CHW",
    )


def _random_operators(library: ModuleType, files: list[str], num_samples: int) -> Any:
    return library.fn.random.uniform(range=[0.0, 1.0]), library.fn.random.coin_flip()


def _external_source(library: ModuleType, files: list[str], num_samples: int) -> Any:
    import numpy

    batch = [numpy.zeros(4, numpy.float32) for _ in range(num_samples)]
    return tuple(library.fn.external_source(source=lambda: batch) for _ in range(2))


def _python_source(library: ModuleType, files: list[str], num_samples: int) -> Any:
    import numpy

    def source(info: Any) -> Any:
        total = 0
        for step in range(settings.SOURCE_STEPS):
            total += step * info.idx_in_epoch % 7
        return numpy.array([total], numpy.float32)

    return _source(library, source)


def _image_source(library: ModuleType, files: list[str], num_samples: int) -> Any:
    import numpy

    side = settings.CROP_SIDE

    def source(info: Any) -> Any:
        return numpy.full((side, side, 3), info.idx_in_epoch % 256, numpy.uint8)

    return _source(library, source)


def _source(library: ModuleType, source: Any) -> Any:
    in_workers = library.Pipeline.current().py_num_workers > 0
    return (library.fn.external_source(source, batch=False, parallel=in_workers),)


def _expression(compute: Callable[[ModuleType, Any], Any]) -> Callable[..., Any]:
    """Compute with images that take almost no time to create."""

    def graph(library: ModuleType, files: list[str], num_samples: int) -> Any:
        side = settings.CROP_SIDE
        image = library.fn.constant(
            idata=[150], shape=[side, side, 3], dtype=library.types.UINT8, layout="HWC"
        )
        return compute(library, image)

    return graph


def _channel_values(values: tuple[float, ...]) -> Any:
    import numpy

    return numpy.array(values, numpy.float32)


_GRAPHS = {
    "decode": _decode,
    "random_crop": _random_crop,
    "mixed_random_crop": _mixed_random_crop,
    "random_crop_antialias": _random_crop_antialias,
    "random_crop_colors": _random_crop_colors,
    "rand_augment": _rand_augment,
    "centre_crop": _centre_crop,
    "random_operators": _random_operators,
    "external_source": _external_source,
    "python_source": _python_source,
    "image_source": _image_source,
    "expression_source": _expression(lambda library, image: image),
    "expression_normalise": _expression(
        lambda library, image: (
            (image - _channel_values(settings.MEAN)) / _channel_values(settings.STANDARD_DEVIATION)
        )
    ),
    "expression_blend": _expression(
        lambda library, image: library.math.clamp(image * 1.2 + 8, 0, 255)
    ),
    "expression_mask": _expression(lambda library, image: (image > 100) & (image < 200)),
    "expression_integers": _expression(lambda library, image: (image * 3 + 7) // 2),
    "expression_sine": _expression(lambda library, image: library.math.sin(image * 0.1) * 0.5),
    "expression_slice": _expression(lambda library, image: image[16:-16, ::-1]),
}
