"""A fake PyNvVideoCodec: PyAV decodes, and surfaces are copied to the device.

It implements the part of the documented API of version 2 that the library uses: `SimpleDecoder`
with `get_batch_frames_by_index`, frames with `getPTS` and DLPack, and `CreateDemuxer`. For programs
with the simulated driver, which PyNvVideoCodec itself cannot use.

What is unknown about the original, because it is not documented
------------------------------------------------------------------
- The unit of `getPTS`, and whether it is the timestamp of the container for all of them. Here it is
  that of the stream. Otherwise no timestamp agrees with the index, and the host decodes.
- Whether index n is frame n in presentation order for open GOPs, edit lists, negative timestamps
  and streams without timestamps. Here it is. Otherwise timestamps do not agree.
- How long the memory of a frame stays valid. Here it is overwritten at the next call.
- Whether surfaces of odd sizes are cropped or padded, and where rows have a pitch. Such sizes are
  not used here; surfaces are dense.
- The value of `ColorSpace` for matrices other than BT.601 and BT.709: here, "UNSPEC".
- Which exceptions damaged files raise, whether errors are concealed in some, and whether malicious
  ones can crash the process.
- The lowest bits of values beyond 8 bits, here zeros, and the codecs and sizes that each GPU
  rejects.
- In which stream, and after which event, pixels are complete. Here it is the given stream.
"""

from __future__ import annotations

import enum
import importlib.machinery
import sys
import types
from pathlib import Path
from typing import Any

import av
import numpy

from tests.cuda.other_library import DeviceArray

OutputColorType = enum.Enum("OutputColorType", "NATIVE RGB RGBP")
ColorSpace = enum.Enum("ColorSpace", "BT_601 BT_709 UNSPEC")
ColorRange = enum.Enum("ColorRange", "MPEG JPEG UDEF")
_SPACES = {1: ColorSpace.BT_709, 5: ColorSpace.BT_601, 6: ColorSpace.BT_601}
_RANGES = {1: ColorRange.MPEG, 2: ColorRange.JPEG}

decoded: list[tuple[str, int]] = []
"""File name and index of each decoded frame."""

late: set[str] = set()
"""Names of files whose index is off by one frame."""

refused: set[str] = set()
"""Names of files that it cannot decode."""


class PyNvVCException(Exception):
    pass


class DecodedFrame:
    def __init__(self, surface: Any, pts: int, device: int, stream: int) -> None:
        self._array = DeviceArray(surface, stream=stream, device=device)
        self._pts = pts
        self.shape = surface.shape

    def getPTS(self) -> int:  # noqa: N802 (its name there)
        return self._pts

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._array.__dlpack_device__()

    def __dlpack__(self, *, stream: int | None = None, max_version: Any = None) -> Any:
        return self._array.__dlpack__(stream=stream, max_version=max_version)

    def free(self) -> None:
        self._array.free()


class SimpleDecoder:
    def __init__(
        self,
        enc_file_path: str,
        gpu_id: int = 0,
        cuda_context: int = 0,
        cuda_stream: int = 0,
        use_device_memory: bool = True,
        output_color_type: OutputColorType = OutputColorType.NATIVE,
    ) -> None:
        assert use_device_memory
        assert output_color_type is OutputColorType.NATIVE
        self._name = Path(enc_file_path).name
        if self._name in refused:
            raise PyNvVCException("HW decoder: not supported")
        self._gpu, self._stream = gpu_id, cuda_stream
        self._given: list[DecodedFrame] = []
        with av.open(enc_file_path) as container:
            frames = list(container.decode(video=0))
        self._frames = sorted(frames, key=lambda frame: frame.pts)

    def __len__(self) -> int:
        return len(self._frames)

    def get_batch_frames_by_index(self, indices: list[int]) -> list[DecodedFrame]:
        assert indices == sorted(set(indices)), "doubles are left out there"
        for frame in self._given:
            frame.free()
        decoded.extend((self._name, index) for index in indices)
        shift = self._name in late
        self._given = [self._decode(min(i + shift, len(self) - 1)) for i in indices]
        return list(self._given)

    def _decode(self, index: int) -> DecodedFrame:
        frame = self._frames[index]
        return DecodedFrame(_surface(frame), frame.pts, self._gpu, self._stream)


class _Demuxer:
    def __init__(self, path: str) -> None:
        with av.open(path) as container:
            stream = container.streams.video[0]
            frame = next(container.decode(stream))
            self._size = stream.codec_context.height, stream.codec_context.width
            self._bits = max(part.bits for part in frame.format.components)
            self._space = _SPACES.get(frame.colorspace, ColorSpace.UNSPEC)
            self._range = _RANGES.get(frame.color_range, ColorRange.UDEF)

    def Height(self) -> int:  # noqa: N802 (its name there, as the next ones)
        return self._size[0]

    def Width(self) -> int:  # noqa: N802
        return self._size[1]

    def BitDepth(self) -> int:  # noqa: N802
        return self._bits

    def ColorSpace(self) -> ColorSpace:  # noqa: N802
        return self._space

    def ColorRange(self) -> ColorRange:  # noqa: N802
        return self._range


def CreateDemuxer(filename: str) -> _Demuxer:  # noqa: N802 (its name there)
    return _Demuxer(filename)


def _surface(frame: Any) -> Any:
    """Return luma above interleaved chroma, for what is 4:2:0; something else for the rest."""
    name = {"yuv420p": "nv12", "yuvj420p": "nv12", "yuv420p10le": "p010le"}.get(frame.format.name)
    if name is None:
        return numpy.zeros((3 * frame.height, frame.width), numpy.uint8)
    dtype = numpy.uint8 if name == "nv12" else numpy.uint16
    shifted = [
        numpy.frombuffer(plane, dtype).reshape(plane.height, -1)[:, : plane.width]
        for plane in frame.planes
    ]
    if dtype is numpy.uint16:
        shifted = [plane << 6 for plane in shifted]
    luma, blue, red = shifted
    chroma = numpy.stack([blue, red], -1).reshape(blue.shape[0], -1)
    return numpy.ascontiguousarray(numpy.concatenate([luma, chroma]))


def install() -> None:
    """Install this module as PyNvVideoCodec in `sys.modules`."""
    stand_in = types.ModuleType("PyNvVideoCodec")
    vars(stand_in).update({name: value for name, value in globals().items() if name[0] != "_"})
    stand_in.__spec__ = importlib.machinery.ModuleSpec("PyNvVideoCodec", None)
    sys.modules["PyNvVideoCodec"] = stand_in
