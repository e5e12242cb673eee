"""Headers that lie about length: a sound is as long as decoding it gives."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from dali_core import types
from tests.operators.decoders.test_audio import decode, failure
from tests.sounds import ogg_pages, sound_file, tones

pytest.importorskip("soundfile", reason="not available: soundfile")


def test_false_headers_do_not_change_samples() -> None:
    """FFmpeg decodes the same samples; ``python -m tests.lying_sounds 1000`` makes more."""
    pytest.importorskip("av", reason="not available: PyAV")
    from tests.lying_sounds import outcomes

    found = list(outcomes(0, 120))
    assert [(one.kind, one.lie, difference) for one, difference in found if difference] == []
    assert len({(one.kind, one.lie) for one, _ in found}) > 25


def test_variable_bit_rate_without_a_count() -> None:
    """The length is not estimated from the first frames, which are short in silence."""
    pytest.importorskip("av", reason="not available: PyAV")
    from tests.lying_sounds import by_av

    loud = 0.8 * tones(100_000, 1, 3, 44100)
    sound = np.concatenate([np.zeros((30_000, 1), np.float32), loud])
    file = by_av("libmp3lame", "mp3", sound, 44100, {"write_xing": "0"}, {"q": "0"})
    ((decoded, _),) = decode([file])
    # Whole frames, with the delays of encoder and decoder, which only a description tells.
    assert len(decoded) % 1152 == 0
    assert len(sound) < len(decoded) < len(sound) + 4 * 1152
    described = by_av("libmp3lame", "mp3", sound, 44100, {"write_xing": "1"}, {"q": "0"})
    assert len(decode([described])[0][0]) == len(sound)


@pytest.mark.parametrize("kept", [0.3, 0.51, 0.9, 0.999])
@pytest.mark.parametrize("has_count", [True, False])
@pytest.mark.parametrize("kind", ["flac", "mp3", "ogg"])
def test_cut_files_are_damaged(kind: str, has_count: bool, kept: float) -> None:
    """What is compressed ends with a whole frame or page, whether or not a length is known."""
    sound = 0.8 * tones(50_000, 1, 5, 44100)
    if kind == "mp3":
        pytest.importorskip("av", reason="not available: PyAV")
        from tests.lying_sounds import by_av

        options = {"write_xing": str(int(has_count)), "id3v2_version": "0"}
        file = by_av("libmp3lame", "mp3", sound, 44100, options, {"b": "96k"})
    elif kind == "flac":
        file = sound_file(sound, "FLAC", rate=44100)
        if not has_count:
            file = file[:21] + bytes([file[21] & 0xF0, 0, 0, 0, 0]) + file[26:]
    else:
        file = sound_file(sound, "OGG", "VORBIS", rate=44100)
        if not has_count:
            file = b"".join(page.bytes(flags=page.flags & ~4) for page in ogg_pages(file))
    assert len(decode([file])[0][0]) >= len(sound)
    cut = file[: int(len(file) * kept)]
    assert "cut short" in failure(cut)


def test_an_empty_sound_and_chunks_behind_it() -> None:
    """A data size of 0 is the truth where chunks follow, and unknown where samples do."""
    empty = sound_file(tones(0))
    chunks = b"LIST" + struct.pack("<I", 10) + b"0123456789"
    assert decode([empty + chunks])[0][0].shape == (0, 1)
    wav = sound_file(tones(1000))
    assert decode([wav[:40] + bytes(4) + wav[44:]])[0][0].shape == (1000, 1)
    assert decode([wav + chunks])[0][0].shape == (1000, 1)


def test_chained_ogg() -> None:
    """All links are given; of different rates or channels, none."""
    links = [sound_file(tones(20_000, 2, i), "OGG", "VORBIS") for i in range(3)]
    expected = np.concatenate([decode([link])[0][0] for link in links])
    for dtype in (types.FLOAT, types.INT16):
        ((sound, _),) = decode([b"".join(links)], dtype=dtype)
        assert sound.shape == expected.shape == (60_000, 2)
    np.testing.assert_array_equal(decode([b"".join(links)])[0][0], expected)
    for other in (tones(100), np.zeros((100, 2), np.float32)):
        rate = 16000 if other.shape[1] == 1 else 8000
        last = sound_file(other, "OGG", "VORBIS", rate=rate)
        message = failure(links[0] + last)
        assert "must have the same channels and rate" in message
        assert "not supported" in message


def test_claims_reserve_little() -> None:
    """A header of terabytes costs the memory of the samples that are there."""
    for channels in (1, 2):
        rf64 = bytearray(sound_file(tones(1000, channels), "RF64"))
        at = rf64.index(b"ds64") + 8
        rf64[at : at + 24] = struct.pack("<3Q", *[2**62] * 3)
        assert decode([bytes(rf64)])[0][0].shape == (1000, channels)
