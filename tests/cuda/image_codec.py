"""A fake nvImageCodec: Pillow decodes, and images are copied to the device in stream order.

It implements the part of the API of version 0.9 that the library uses. For programs with the
simulated driver, which nvImageCodec itself cannot use.
"""

from __future__ import annotations

import enum
import importlib.util
import io
import sys
import types
from typing import Any

import numpy
from PIL import Image as Picture
from PIL import ImageOps

from tests.cuda.other_library import DeviceArray

BackendKind = enum.Enum("BackendKind", "CPU_ONLY GPU_ONLY HYBRID_CPU_GPU HW_GPU_ONLY")
LoadHintPolicy = enum.Enum("LoadHintPolicy", "IGNORE FIXED ADAPTIVE_MINIMIZE_IDLE_TIME")
ColorSpec = enum.Enum("ColorSpec", "SRGB GRAY SYCC CMYK")
SampleFormat = enum.Enum("SampleFormat", "I_RGB I_BGR I_Y")
_SPECS = {"RGB": ColorSpec.SYCC, "L": ColorSpec.GRAY, "CMYK": ColorSpec.CMYK}

decoders: list[Decoder] = []
alive: list[int] = []  # one entry for each image that is referenced
refused: set[int] = set()
"""Indices of files that it cannot decode, in the order in which it gets them."""

errors: list[Exception] = []
"""Exceptions of the next calls."""


class Backend:
    def __init__(
        self,
        kind: BackendKind,
        load_hint: float = 1.0,
        load_hint_policy: LoadHintPolicy = LoadHintPolicy.FIXED,
    ) -> None:
        self.kind = kind
        self.load_hint = load_hint
        self.load_hint_policy = load_hint_policy


class DecodeParams:
    def __init__(
        self, *, apply_exif_orientation: bool, color_spec: ColorSpec, sample_format: SampleFormat
    ) -> None:
        self.turns = apply_exif_orientation
        self.color_spec = color_spec
        self.sample_format = sample_format


class CodeStream:
    def __init__(self, array: Any) -> None:
        # The memory is not copied, as in the original.
        self.array = array
        try:
            picture = Picture.open(io.BytesIO(array.tobytes()))
        except OSError as error:
            raise RuntimeError("Failed to get image info") from error
        self.width, self.height = picture.size
        self.num_channels = len(picture.getbands())
        self.color_spec = _SPECS.get(picture.mode)
        self.dtype = numpy.dtype("uint8")


class Image:
    """An image whose memory is freed with its last reference, in stream order."""

    def __init__(self, pixels: Any, device: int, stream: int) -> None:
        self.array = DeviceArray(pixels, stream=stream, device=device)
        alive.append(1)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {
            "shape": self.array.array.shape,
            "strides": self.array.array.strides,
            "typestr": "|u1",
            "data": (self.array.pointer, False),
            "version": 3,
            "stream": self.array.stream,
        }

    def __del__(self) -> None:
        self.array.free()
        alive.pop()


class Decoder:
    def __init__(
        self, *, device_id: int, max_num_cpu_threads: int, backends: list[Backend], options: str
    ) -> None:
        assert BackendKind.CPU_ONLY not in [backend.kind for backend in backends]
        self.device_id = device_id
        self.max_num_cpu_threads = max_num_cpu_threads
        self.backends = backends
        self.options = options
        self.num_files = 0
        decoders.append(self)

    def decode(
        self, files: list[CodeStream], *, params: DecodeParams, cuda_stream: int
    ) -> list[Image | None]:
        if errors:
            raise errors.pop()
        return [self._decode(file, params, cuda_stream) for file in files]

    def _decode(self, file: CodeStream, params: DecodeParams, stream: int) -> Image | None:
        number, self.num_files = self.num_files, self.num_files + 1
        if number in refused:
            return None
        try:
            picture = Picture.open(io.BytesIO(file.array.tobytes()))
            picture.load()
        except OSError:
            return None
        if params.turns:
            picture = ImageOps.exif_transpose(picture)
        is_gray = params.sample_format is SampleFormat.I_Y
        pixels = numpy.array(picture.convert("L" if is_gray else "RGB"))
        if params.sample_format is SampleFormat.I_BGR:
            pixels = numpy.ascontiguousarray(pixels[..., ::-1])
        return Image(pixels[..., None] if is_gray else pixels, self.device_id, stream)


def install(*, nvjpeg: bool = True) -> None:
    """Install this module as nvImageCodec in `sys.modules`."""
    stand_in = types.ModuleType("nvidia.nvimgcodec")
    vars(stand_in).update({name: value for name, value in globals().items() if name[0] != "_"})
    stand_in.__spec__ = importlib.util.find_spec("nvidia.nvimgcodec")
    sys.modules["nvidia.nvimgcodec"] = stand_in
    if nvjpeg:
        sys.modules["nvidia.nvjpeg"] = types.ModuleType("nvidia.nvjpeg")
