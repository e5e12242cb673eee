"""Decoding audio."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn, types
from dali_core._extras import install_command
from dali_core.errors import ArgumentValueError, MissingModuleError, SampleError
from dali_core.operators.decoders.audio import library
from tests.operators.suite import Example, Input
from tests.sounds import as_bytes, sound_file, tones

soundfile = pytest.importorskip("soundfile", reason="not available: soundfile")

_FILES = [as_bytes(sound_file(tones(400 + 37 * i, 2, i))) for i in range(3)]
EXAMPLES = [
    Example("defaults", [Input(lambda i: _FILES[i % 3])]),
    Example(
        "resampled",
        [Input(lambda i: _FILES[i % 3])],
        {"sample_rate": 11025.0, "downmix": True, "dtype": types.INT16},
    ),
]
FORMATS = (
    *(("WAV", "PCM_16"), ("WAV", "PCM_24"), ("WAV", "PCM_U8"), ("WAV", "FLOAT"), ("WAV", "DOUBLE")),
    *(("FLAC", "PCM_16"), ("OGG", "VORBIS"), ("OGG", "OPUS"), ("MP3", None), ("AIFF", None)),
    *(("RF64", None), ("W64", None), ("AU", None), ("CAF", None)),
)


def decode(files: Sequence[bytes], **arguments: Any) -> list[tuple[np.ndarray, float]]:
    pipeline = Pipeline(batch_size=len(files), num_threads=2, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: [as_bytes(file) for file in files])
        pipeline.set_outputs(*fn.decoders.audio(data, **arguments))
    sounds, rates = pipeline.run()
    pipeline.close()
    return [(np.array(sounds.at(i)), float(np.array(rates.at(i)))) for i in range(len(files))]


def failure(file: bytes, **arguments: Any) -> str:
    with pytest.raises(SampleError) as caught:
        decode([file], **arguments)
    return caught.value.message


@pytest.mark.parametrize(("form", "subtype"), FORMATS)
def test_formats(form: str, subtype: str | None) -> None:
    """The samples are those that the library gives, whatever the format."""
    for channels in (1, 2):
        file = sound_file(tones(3000, channels), form, subtype)
        with soundfile.SoundFile(io.BytesIO(file)) as opened:
            expected = opened.read(dtype="float32", always_2d=True)
        ((sound, rate),) = decode([file])
        assert rate == 16000
        np.testing.assert_array_equal(sound, expected, strict=True)
        ((mixed, _),) = decode([file], downmix=True)
        assert mixed.shape == (len(expected),)
        np.testing.assert_allclose(mixed, expected.mean(axis=1), atol=1e-7)
        for dtype, most in ((types.INT16, 2**15), (types.INT32, 2**31)):
            ((integers, _),) = decode([file], dtype=dtype)
            assert integers.dtype.itemsize * 8 == np.log2(most) + 1
            np.testing.assert_allclose(integers / most, expected, atol=2 / 2**15)


def test_resampling_is_that_of_audio_resample() -> None:
    file = sound_file(tones(2500, 2))
    ((sound, _),) = decode([file])
    pipeline = Pipeline(batch_size=1, num_threads=1, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: [sound])
        pipeline.set_outputs(fn.audio_resample(data, in_rate=16000, out_rate=22050, quality=70))
    expected = np.array(pipeline.run()[0].at(0))
    pipeline.close()
    ((resampled, rate),) = decode([file], sample_rate=22050, quality=70)
    assert rate == 22050
    np.testing.assert_array_equal(resampled, expected)
    ((same, rate),) = decode([file], sample_rate=16000)
    np.testing.assert_array_equal(same, sound)


def test_rates_per_sample() -> None:
    file = sound_file(tones(1600))
    pipeline = Pipeline(batch_size=3, num_threads=2, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: [as_bytes(file)] * 3)
        rates = fn.external_source(source=lambda: np.float32([8000, 0, 48000]))
        pipeline.set_outputs(*fn.decoders.audio(data, sample_rate=rates))
    sounds, given = pipeline.run()
    assert [np.array(sounds.at(i)).shape for i in range(3)] == [(800, 1), (1600, 1), (4800, 1)]
    assert np.array(given.as_tensor()).tolist() == [8000, 16000, 48000]
    pipeline.close()


def test_empty_sound() -> None:
    ((sound, rate),) = decode([sound_file(tones(0, 2))])
    assert (sound.shape, rate) == ((0, 2), 16000)
    assert decode([sound_file(tones(0, 2))], downmix=True, sample_rate=8000)[0][0].shape == (0,)


def test_no_sound() -> None:
    for file in (b"", b"x", b"\0" * 100, b"%PDF-1.4" + b"x" * 100):
        assert "the bytes must be audio of a known format" in failure(file)
    assert "must have a sound header" in failure(b"RIFF" + b"x" * 20)
    flac = sound_file(tones(20000), "FLAC")
    assert "as many frames as its header says" in failure(flac[: len(flac) // 2])


def test_headers_that_claim_too_much() -> None:
    """Memory is not reserved for what a file of a few bytes says that it has."""
    flac = bytearray(sound_file(tones(1000), "FLAC"))
    # The total number of samples has 36 bits, from byte 21.5 of the file on.
    flac[21] |= 0x0F
    flac[22:26] = b"\xff\xff\xff\xff"
    assert "of 68719476735" in failure(bytes(flac))
    wav = bytearray(sound_file(tones(1000)))
    wav[40:44] = b"\xff\xff\xff\xff"
    assert decode([bytes(wav)])[0][0].shape == (1000, 1)


def test_more_than_its_bytes() -> None:
    """Silence of many hours in a small file is not refused."""
    silence = sound_file(np.zeros((20_000_000, 1), np.int16), "FLAC")
    assert len(silence) < 200_000
    ((sound, _),) = decode([silence], dtype=types.INT16)
    assert sound.shape == (20_000_000, 1)
    assert not sound.any()


def test_bad_arguments() -> None:
    file = sound_file(tones(100))
    for arguments in ({"dtype": types.UINT8}, {"quality": 101.0}, {"sample_rate": -1.0}):
        with pytest.raises(ArgumentValueError, match=next(iter(arguments))):
            decode([file], **arguments)


def test_without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_bundled_libraries", list)
    monkeypatch.setattr(library, "_SYSTEM_LIBRARY", "no_such_library.so")
    with pytest.raises(MissingModuleError, match=re.escape(install_command("audio"))):
        decode([b""])


def test_soundfile_is_not_imported() -> None:
    code = (
        "import sys; from dali_core.operators.decoders.audio.library import library_arguments\n"
        "assert library_arguments()['sound_libraries']; print('soundfile' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"
