"""Recordings whose headers lie about their length: ``python -m tests.lying_sounds COUNT``.

Each depends only on its number: a sound is encoded, then its header is changed, or tags and other
links are added, so that the samples stay the same. FFmpeg decodes the sound as it was encoded, link
by link, and is asked for the file with the lie, too: where it gives another number of samples, that
is counted. MP3 follows FFmpeg's rule for the samples that an encoder puts around the sound.
"""

from __future__ import annotations

import io
import json
import struct
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dali_core import Pipeline, fn
from dali_core.errors import SampleError
from tests.sounds import as_bytes, ogg_pages, sound_file, tones

_BATCH = 20
_MP3_BIT_RATES = ({"b": "128k"}, {"b": "48k"}, {"q": "2"}, {"q": "7"}, {"b": "64k", "abr": "1"})
_RATES = (8000, 16000, 22050, 44100, 48000)
_PCM = ("PCM_16", "PCM_24", "FLOAT", "ULAW")
# Decoders of the same codec differ by rounding, those of Opus by more where noise is filled in.
_TOLERANCES = {"mp3": 1e-3, "mp2": 1e-3, "vorbis": 1e-4, "opus": 0.05}


@dataclass(frozen=True)
class Recording:
    """A file, and the samples that FFmpeg finds in it as float32 (length, channels)."""

    kind: str
    lie: str
    file: bytes
    expected: np.ndarray
    rate: int
    by_ffmpeg: int  # samples that FFmpeg finds in spite of the lie; -1 for an error


def recording(number: int) -> Recording:
    generator = np.random.default_rng([number, 31])

    def choose(choices: Any) -> Any:
        return choices[int(generator.integers(len(choices)))]

    kind = choose(tuple(_LIES))
    rate = choose({"opus": (48000,), "mp2": _RATES[1:]}.get(kind, _RATES))
    channels = choose((1, 2))
    # Of Vorbis on a single page, FFmpeg gives another number of samples than was encoded.
    least = 20000 if kind == "vorbis" else 500
    loud = 0.8 * tones(
        2 * int(generator.integers(least, 2 * least + 15000)), channels, number, rate
    )
    quiet = np.zeros((2 * int(generator.integers(0, 15000)), channels), np.float32)
    sound = np.concatenate([loud, quiet])  # so that the bit rate varies
    honest = _encoded(kind, sound, rate, choose)
    lie = choose(_LIES[kind])
    file = lie(honest, choose)
    whole = by_ffmpeg(honest)
    if lie is _interrupted and file != honest:
        whole = by_ffmpeg(file)
    expected = np.concatenate([whole] * (2 if lie is _chained else 1))
    try:
        length = len(by_ffmpeg(file))
    except (OSError, ValueError, IndexError):
        length = -1
    return Recording(kind, lie.__name__.strip("_"), file, expected, rate, length)


def by_ffmpeg(file: bytes) -> np.ndarray:
    import av

    with av.open(io.BytesIO(file)) as container:
        stream = container.streams.audio[0]
        parts = []
        for frame in container.decode(stream):
            samples = frame.to_ndarray()
            if not frame.format.is_planar:
                samples = samples.reshape(-1, stream.channels).T
            if samples.dtype.kind == "u":
                samples = (samples.astype(np.float64) - 128) / 128
            elif samples.dtype.kind == "i":
                samples = samples / -float(np.iinfo(samples.dtype).min)
            parts.append(samples.T.astype(np.float32))
    return np.concatenate(parts) if parts else np.zeros((0, stream.channels), np.float32)


def _encoded(kind: str, sound: np.ndarray, rate: int, choose: Callable[..., Any]) -> bytes:
    if kind == "mp3":
        written = {"write_xing": choose(("0", "1")), "id3v2_version": "0"}
        return by_av("libmp3lame", "mp3", sound, rate, written, choose(_MP3_BIT_RATES))
    if kind == "mp2":
        return by_av("mp2", "mp2", sound, rate, {}, {"b": choose(("64k", "128k"))})
    form, subtype = {
        "flac": ("FLAC", choose(("PCM_16", "PCM_24"))),
        "vorbis": ("OGG", "VORBIS"),
        "opus": ("OGG", "OPUS"),
    }.get(kind, (kind.upper(), choose(_PCM)))
    return sound_file(sound, form, subtype, rate=rate)


def by_av(
    codec: str,
    form: str,
    sound: np.ndarray,
    rate: int,
    written: dict[str, str],
    how: dict[str, str],
) -> bytes:
    import av

    file = io.BytesIO()
    layout = "mono" if sound.shape[1] == 1 else "stereo"
    with av.open(file, "w", format=form, options=written) as container:
        stream = container.add_stream(codec, rate=rate, options=how, layout=layout)
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(sound.T), format="fltp", layout=layout
        )
        frame.sample_rate = rate
        context = stream.codec_context
        context.open()
        split = av.AudioResampler(
            format=context.format.name, layout=layout, rate=rate, frame_size=context.frame_size
        )
        for part in (*split.resample(frame), *split.resample(None), None):
            container.mux(stream.encode(part))
    return file.getvalue()


def _put(file: bytes, at: int, content: bytes) -> bytes:
    return file[:at] + content + file[at + len(content) :]


def _none(file: bytes, choose: Callable[..., Any]) -> bytes:
    return file


def _riff_size(file: bytes, choose: Callable[..., Any]) -> bytes:
    return _put(file, 4, choose((b"\0" * 4, b"\x08\0\0\0", b"\xff" * 4, b"\0\1\0\0")))


def _wav_data_size(file: bytes, choose: Callable[..., Any]) -> bytes:
    at = file.index(b"data") + 4
    length = len(file) - at - 4
    sizes = (0, 2**32 - 1, 2**31 - 1, 2**31, length * 2, length + 1)
    return _riff_size(_put(file, at, struct.pack("<I", choose(sizes))), choose)


def _rf64_sizes(file: bytes, choose: Callable[..., Any]) -> bytes:
    at = file.index(b"ds64") + 8
    honest = struct.unpack_from("<3Q", file, at)
    lies = [choose((value, 0, 2**64 - 1, 2**62)) for value in honest]
    return _put(file, at, struct.pack("<3Q", *lies))


def _w64_data_size(file: bytes, choose: Callable[..., Any]) -> bytes:
    at = file.index(b"data") + 16
    return _put(file, at, struct.pack("<Q", choose((0, 24, 2**64 - 1, 2**62))))


def _caf_data_size(file: bytes, choose: Callable[..., Any]) -> bytes:
    at = file.index(b"data") + 4
    return _put(file, at, struct.pack(">Q", choose((0, 2**64 - 1, 2**62, len(file)))))


def _au_data_size(file: bytes, choose: Callable[..., Any]) -> bytes:
    return _put(file, 8, struct.pack(">I", choose((0, 2**32 - 1, 2**31, len(file)))))


def _aiff_frames(file: bytes, choose: Callable[..., Any]) -> bytes:
    count = struct.pack(">I", choose((0, 1, 2**31 - 1, 2**32 - 1)))
    return _put(_put(file, file.index(b"COMM") + 10, count), 4, choose((file[4:8], b"\xff" * 4)))


def _flac_total(file: bytes, choose: Callable[..., Any]) -> bytes:
    bits = int.from_bytes(file[21:26], "big")
    total = choose((0, 1, (bits & (2**36 - 1)) // 2))
    return _put(file, 21, (bits >> 36 << 36 | total).to_bytes(5, "big"))


def _mp3_description(file: bytes, choose: Callable[..., Any]) -> bytes:
    """Change the number of bytes in the description, and that of frames where nothing is cut."""
    at = max(file[:200].find(b"Xing"), file[:200].find(b"Info"))
    if at < 0:
        return file
    return _put(file, at + 12, struct.pack(">I", choose((0, 1, 2**32 - 1, len(file) * 2))))


def _tag_in_front(file: bytes, choose: Callable[..., Any]) -> bytes:
    size = choose((1, 100, 5000, 70000))
    lengths = bytes((size >> 21 & 127, size >> 14 & 127, size >> 7 & 127, size & 127))
    # A picture holds anything, also what looks like a frame or a file of its own.
    content = (b"\xff\xfb\x90\x64" + file[:500]) * (size // len(file[:504]) + 1)
    return b"ID3\4\0\0" + lengths + content[:size] + file


def _tags_behind(file: bytes, choose: Callable[..., Any]) -> bytes:
    item = bytes(choose((10, 3000)))
    ape = item + b"APETAGEX" + struct.pack("<4I8x", 2000, len(item) + 32, 1, 0)
    lyrics = b"LYRICSBEGIN" + item + b"%06dLYRICS200" % (len(item) + 11)
    id3 = b"TAG" + bytes(125)
    return file + choose((ape, id3, ape + id3, lyrics + id3, ape + lyrics + id3))


def _all_tags(file: bytes, choose: Callable[..., Any]) -> bytes:
    return _tag_in_front(_tags_behind(file, choose), choose)


def _open_end(file: bytes, choose: Callable[..., Any]) -> bytes:
    """Take the mark of the end from the last page."""
    pages = ogg_pages(file)
    return b"".join(page.bytes(flags=page.flags & ~4) for page in pages)


def _interrupted(file: bytes, choose: Callable[..., Any]) -> bytes:
    """Leave the last page out."""
    pages = ogg_pages(file)
    return b"".join(page.content for page in pages[:-1]) if len(pages) > 3 else file


def _chained(file: bytes, choose: Callable[..., Any]) -> bytes:
    return file + file


_ANYWHERE = (_none, _tag_in_front, _tags_behind, _all_tags)
_OGG = (_none, _open_end, _interrupted, _chained, _tag_in_front, _tags_behind)
_LIES: dict[str, tuple[Callable[..., bytes], ...]] = {
    "wav": (_wav_data_size, _wav_data_size, _riff_size, *_ANYWHERE),
    "rf64": (_rf64_sizes, *_ANYWHERE),
    "w64": (_w64_data_size, *_ANYWHERE),
    "caf": (_caf_data_size, _none, _tag_in_front),
    "au": (_au_data_size, _none, _tag_in_front),
    "aiff": (_aiff_frames, *_ANYWHERE),
    "flac": (_flac_total, _flac_total, *_ANYWHERE),
    "mp3": (_mp3_description, *_ANYWHERE, *_ANYWHERE),
    "mp2": _ANYWHERE,
    "vorbis": _OGG,
    "opus": _OGG,
}


def outcomes(first: int, count: int) -> Iterator[tuple[Recording, str]]:
    """Decode recordings whole and a part of each; yield each with how it differs, if it does."""
    for start in range(first, first + count, _BATCH):
        batch = [recording(n) for n in range(start, min(start + _BATCH, first + count))]
        try:
            decoded = zip(*_decoded(batch), strict=True)
            yield from (
                (one, _difference(one, *found)) for one, found in zip(batch, decoded, strict=True)
            )
        except SampleError:
            yield from ((one, _difference_alone(one)) for one in batch)


def _difference_alone(one: Recording) -> str:
    try:
        ((whole,), (mixed,), (part,)) = _decoded([one])
    except SampleError as error:
        return error.message
    return _difference(one, whole, mixed, part)


def _difference(one: Recording, whole: np.ndarray, mixed: np.ndarray, part: np.ndarray) -> str:
    expected = one.expected
    if whole.shape != expected.shape:
        return f"{whole.shape} for {expected.shape}"
    tolerance = _TOLERANCES.get(one.kind, 1e-7)
    if (error := float(np.abs(whole - expected).max(initial=0))) > tolerance:
        return f"values differ by {error}"
    if abs(len(mixed) - len(expected) * 11025 / one.rate) > 1:
        return f"{len(mixed)} samples resampled from {len(expected)}"
    first, length = _part(one)
    same = expected[first : first + length].mean(axis=1)
    if part.shape != same.shape:
        return f"{part.shape} for the part of {same.shape}"
    if (error := float(np.abs(part - same).max(initial=0))) > tolerance:
        return f"values of the part differ by {error}"
    return ""


def _part(one: Recording) -> tuple[int, int]:
    return len(one.expected) * 2 // 3, len(one.expected)


def _decoded(batch: list[Recording]) -> list[list[np.ndarray]]:
    with tempfile.TemporaryDirectory() as folder:
        entries = []
        for i, one in enumerate(batch):
            path = Path(folder, f"{i}.{one.kind}")
            path.write_bytes(one.file)
            first, _ = _part(one)
            entries.append({"audio_filepath": str(path), "offset": first / one.rate})
        manifest = Path(folder, "manifest.json")
        manifest.write_text("\n".join(map(json.dumps, entries)))
        pipeline = Pipeline(batch_size=len(batch), num_threads=2, device_id=None)
        with pipeline:
            data = fn.external_source(source=lambda: [as_bytes(one.file) for one in batch])
            whole, _ = fn.decoders.audio(data)
            mixed, _ = fn.decoders.audio(data, sample_rate=11025, downmix=True)
            part = fn.readers.nemo_asr(
                manifest_filepaths=str(manifest), read_sample_rate=False, read_text=False
            )
            part = part[0] if isinstance(part, list) else part
            pipeline.set_outputs(whole, mixed, part)
        outputs = pipeline.run()
        pipeline.close()
    return [[np.array(output.at(i)) for i in range(len(batch))] for output in outputs]


def main() -> None:
    count = int(sys.argv[1])
    same: Counter[str] = Counter()
    num_different, num_by_ffmpeg, kinds = 0, 0, set()
    for number, (one, difference) in enumerate(outcomes(0, count)):
        same[one.kind] += not difference
        kinds.add((one.kind, one.lie))
        num_by_ffmpeg += one.by_ffmpeg == len(one.expected)
        if difference:
            num_different += 1
            print(f"{number}: {one.kind}, {one.lie}: {difference}", flush=True)
    print(f"{count} recordings, {len(kinds)} kinds of lies: {dict(same)} as expected")
    print(f"FFmpeg finds as many samples in {num_by_ffmpeg} in spite of the lie")
    if num_different:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
