"""The step that decodes whole batches on a device."""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy

from dali_core import _types as types
from dali_core._extras import install_command
from dali_core._messages import printable
from dali_core._runtime.device_data import OnDevice, retain_default_pool
from dali_core._runtime.step import Step, StepContext, StepOutput
from dali_core._runtime.tensor_list import TensorListCPU
from dali_core._runtime.tensor_list_gpu import adopted
from dali_core.errors import CudaError
from dali_core.operators.decoders.on_device.stored_colours import is_stored_as_rgb
from dali_core.operators.decoders.on_device.stored_orientation import has_unusual_orientation

if TYPE_CHECKING:
    from dali_core._cuda.stream import Stream

# Chroma is interpolated, as on the host.
_FIXED_OPTIONS = ":fancy_upsampling=1"
# Arguments that nvImageCodec knows by these names. The engines of some devices, and the code that
# computes on all, are decoders of their own.
_OPTIONS = {
    "hybrid_huffman_threshold": "nvjpeg_cuda_decoder",
    "device_memory_padding": "nvjpeg_cuda_decoder",
    "host_memory_padding": "nvjpeg_cuda_decoder",
    "preallocate_width_hint": "nvjpeg_hw_decoder",
    "preallocate_height_hint": "nvjpeg_hw_decoder",
}
_HINTS = ("preallocate_width_hint", "preallocate_height_hint")
_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
_MAX_PIXELS = 2**30
# For each colour model the names of nvImageCodec, and the channels.
_FORMATS = {
    types.RGB: ("SRGB", "I_RGB", 3),
    types.BGR: ("SRGB", "I_BGR", 3),
    types.GRAY: ("GRAY", "I_Y", 1),
}
_SOURCES = {1: "GRAY", 3: "SYCC"}


class DecodeStep(Step):
    """Decodes images on the device, in the order of the pipeline's stream.

    Parameters
    ----------
    arguments : dict
        Checked arguments of the operator.
    """

    def __init__(self, arguments: dict[str, Any]) -> None:
        self._color, self._format, self._channels = _FORMATS[arguments["output_type"]]
        self._turns = bool(arguments["adjust_orientation"])
        self._load = float(arguments["hw_decoder_load"])
        given = {name: int(arguments[name]) for name in _OPTIONS}
        self._options = " ".join(
            [
                _FIXED_OPTIONS,
                *(
                    f"{_OPTIONS[name]}:{name}={value}"
                    for name, value in given.items()
                    if value or name not in _HINTS
                ),
            ]
        )
        self._num_threads = 1
        self._stream: Stream | None = None
        self._codec: Any = None
        self._decoder: Any = None
        self._parameters: Any = None

    def use_device(self, stream: Stream, num_threads: int) -> None:
        """Set the stream in which images are needed, and how many threads may help."""
        self._num_threads = num_threads
        if self._stream is not None and self._stream.device_id != stream.device_id:
            self._decoder = None
        self._stream = stream

    def run(self, context: StepContext, inputs: list[TensorListCPU]) -> list[StepOutput]:
        """Decode a batch."""
        stream = self._stream
        assert stream is not None
        if self._decoder is None:
            self._open(stream.device_id)
        encoded = [_in_one_dimension(numpy.asarray(sample)) for sample in inputs[0]]
        files = [self._parse(data) for data in encoded]
        wanted = [number for number, file in enumerate(files) if file is not None]
        images = self._decode([files[number] for number in wanted], stream) if wanted else []
        results = [self._nothing() for _ in encoded]
        for number, image in zip(wanted, images, strict=True):
            interface = None if image is None else self._interface(image, files[number], stream)
            if interface is not None:
                results[number] = OnDevice(interface, image, files[number], encoded[number], stream)
        return [StepOutput(adopted(results, "HWC", stream), origin=0)]

    def _open(self, device_id: int) -> None:
        try:
            codec = importlib.import_module("nvidia.nvimgcodec")
            self._decoder = codec.Decoder(
                device_id=device_id,
                max_num_cpu_threads=self._num_threads,
                backends=self._backends(codec),
                options=self._options,
            )
        except (ImportError, RuntimeError) as error:
            raise CudaError(
                f"nvImageCodec must be able to decode on device {device_id} (got {error}). Run "
                f"{install_command('nvjpeg')}, or set DALI_CORE_GPU_DECODER=0 to decode on the "
                "host."
            ) from error
        # Images are in its memory.
        retain_default_pool(device_id)
        self._codec = codec
        self._parameters = codec.DecodeParams(
            apply_exif_orientation=self._turns,
            color_spec=getattr(codec.ColorSpec, self._color),
            sample_format=getattr(codec.SampleFormat, self._format),
        )

    def _backends(self, codec: Any) -> list[Any]:
        """Return what may decode: engines for JPEG first, which take their share of a batch."""
        kinds = codec.BackendKind
        backends = [codec.Backend(kind) for kind in (kinds.GPU_ONLY, kinds.HYBRID_CPU_GPU)]
        if self._load > 0:
            fixed = codec.LoadHintPolicy.FIXED
            backends.insert(0, codec.Backend(kinds.HW_GPU_ONLY, self._load, fixed))
        return backends

    def _parse(self, data: Any) -> Any:
        """Read the header of a file; None if it is for the host."""
        # A file that was cut off might be decoded in part.
        if data.ndim != 1 or bytes(data[:3]) != _START or bytes(data[-2:]) != _END:
            return None
        try:
            file = self._codec.CodeStream(data)
            source = _SOURCES.get(file.num_channels)
            is_usual = (
                source is not None
                and file.color_spec == getattr(self._codec.ColorSpec, source)
                and file.dtype == "uint8"
                and 0 < file.height * file.width <= _MAX_PIXELS
                # nvImageCodec says that all files of three channels are YCbCr.
                and not is_stored_as_rgb(memoryview(data))
                and not (self._turns and has_unusual_orientation(memoryview(data)))
            )
        except RuntimeError:
            return None  # the host says what is wrong
        return file if is_usual else None

    def _decode(self, files: Sequence[Any], stream: Stream) -> list[Any]:
        options = {"params": self._parameters, "cuda_stream": stream.handle}
        try:
            return list(self._decoder.decode(list(files), **options))
        except RuntimeError as error:
            warnings.warn(
                "fn.decoders: nvImageCodec must give None for files that it cannot decode on the "
                f"GPU (got {printable(str(error))}). The host decodes this batch; "
                "DALI_CORE_GPU_DECODER=0 lets it decode all.",
                RuntimeWarning,
                stacklevel=2,
            )
            return [None] * len(files)

    def _interface(self, image: Any, file: Any, stream: Stream) -> dict[str, Any] | None:
        """Describe an image as height, width and channels; None if it is something else."""
        interface = dict(image.__cuda_array_interface__)
        shape = tuple(interface["shape"])
        dense = tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
        if self._channels == 1 and len(shape) == 3 and shape[0] == 1:
            extents = shape[1:]  # one plane
        else:
            extents = shape[:2]
        is_expected = (
            interface["typestr"] == "|u1"
            and tuple(interface.get("strides") or dense) == dense
            and extents in ((file.height, file.width), (file.width, file.height))
            and math.prod(shape) == file.height * file.width * self._channels
        )
        if not is_expected:
            return None
        # It was decoded in the order of our stream, which lives as long as we hold it.
        if interface.get("stream") == stream.handle:
            interface["stream"] = None
        return interface | {"shape": (*extents, self._channels), "strides": None}

    def _nothing(self) -> OnDevice:
        return OnDevice(
            {
                "shape": (0, 0, self._channels),
                "typestr": "|u1",
                "data": (0, False),
                "version": 3,
                "stream": None,
            }
        )


def _in_one_dimension(data: numpy.ndarray) -> numpy.ndarray:
    """Return data without dimensions of one element, as the host reads them."""
    return data.reshape(-1) if data.size and max(data.shape, default=0) == data.size else data
