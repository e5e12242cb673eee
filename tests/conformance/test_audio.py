"""Operators on audio, and all of their arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dali_core
from dali_core.testing.examples import list_of
from tests.conformance.comparing import check, check_refused, reference
from tests.sounds import as_bytes, sound_file, tones

SIGNALS = ([tones(length)[:, 0] for length in (3000, 700, 1500)], "")
SPECTRA = ([np.abs(tones(length * 65)).reshape(65, length) for length in (30, 1, 17)], "ft")


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"nfft": 1024, "layout": "tf"},
        {"nfft": 400, "window_length": 400, "window_step": 160, "power": 1},
        {"nfft": 514, "window_length": 500},
        {"window_length": 7, "window_step": 3, "reflect_padding": False},
        {"center_windows": False, "nfft": 600},
        {"window_length": 4, "window_fn": [1.0, 2.0, 3.0, -1.0], "window_step": 50},
    ],
)
def test_spectrogram(arguments: dict[str, Any]) -> None:
    check("spectrogram", SIGNALS, tolerance=0.02, relative=1e-5, **arguments)


def test_spectrogram_errors() -> None:
    for arguments in ({"nfft": 100}, {"power": 3}, {"window_step": 0}, {"layout": "xy"}):
        check_refused("spectrogram", SIGNALS, **arguments)
    check_refused("spectrogram", ([np.zeros((500, 2), np.float32)], ""))
    check_refused("spectrogram", ([np.zeros(100, np.float32)], ""), center_windows=False)


@pytest.mark.parametrize(
    ("shape", "arguments"),
    [
        ((16,), {}),
        ((40, 64), {"nfft": 32, "power": 1}),
        ((16, 2), {"axis": 0}),
        ((2, 30, 3), {"axis": 1}),
        ((3, 101), {"axis": -1}),
    ],
)
def test_power_spectrum(shape: tuple[int, ...], arguments: dict[str, Any]) -> None:
    data = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    check("power_spectrum", ([data], ""), tolerance=1e-4, relative=1e-5, **arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"nfilter": 20, "sample_rate": 16000.0, "mel_formula": "htk", "normalize": False},
        {"nfilter": 12, "freq_low": 100.0, "freq_high": 7000.0},
    ],
)
def test_mel_filter_bank(arguments: dict[str, Any]) -> None:
    check("mel_filter_bank", SPECTRA, relative=2e-5, tolerance=1e-7, **arguments)
    check(
        "mel_filter_bank",
        ([data.T.copy() for data in SPECTRA[0]], "tf"),
        relative=2e-5,
        tolerance=1e-7,
        **arguments,
    )


def test_mel_filter_bank_errors() -> None:
    for arguments in ({"nfilter": 0}, {"freq_low": -1.0}, {"mel_formula": "a"}, {"sample_rate": 0}):
        check_refused("mel_filter_bank", SPECTRA, **arguments)
    check_refused("mel_filter_bank", SPECTRA, freq_low=900.0, freq_high=800.0)


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"multiplier": 20.0, "cutoff_db": -40.0},
        {"reference": 0.5, "cutoff_db": -500.0},
        {"reference": -1.0},
    ],
)
def test_to_decibels(arguments: dict[str, Any]) -> None:
    check("to_decibels", SPECTRA, tolerance=1e-4, relative=1e-6, **arguments)
    check("to_decibels", ([np.zeros((3, 4), np.float32)], ""), tolerance=1e-4, **arguments)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "arguments", [{}, {"n_mfcc": 5, "lifter": 22.0}, {"n_mfcc": 100}, {"normalize": True}]
)
def test_mfcc(kind: int, arguments: dict[str, Any]) -> None:
    if kind == 1 and arguments.get("normalize"):
        check_refused("mfcc", SPECTRA, dct_type=kind, **arguments)
    else:
        check("mfcc", SPECTRA, dct_type=kind, tolerance=1e-4, relative=1e-5, **arguments)
        if kind != 1:
            check("mfcc", SPECTRA, dct_type=kind, axis=1, tolerance=1e-4, **arguments)


def test_mfcc_errors() -> None:
    for arguments in ({"dct_type": 5}, {"n_mfcc": 0}, {"axis": 2}, {"axis": -1}):
        check_refused("mfcc", SPECTRA, **arguments)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "int64", "float32"])
def test_preemphasis_filter(dtype: str) -> None:
    kind = np.dtype(dtype).kind
    scale = 1 if kind == "f" else 120
    samples = [np.abs(signal * scale).astype(dtype) for signal in SIGNALS[0]]
    for border in ("zero", "clamp", "reflect"):
        check("preemphasis_filter", (samples, ""), border=border, tolerance=1e-4)
    check("preemphasis_filter", (samples, ""), preemph_coeff=0.5, dtype="INT8")
    coefficients = [np.float32(value) for value in (0.9, 0.0, 0.5)]
    check(
        "preemphasis_filter",
        (samples, ""),
        per_sample={"preemph_coeff": coefficients},
        tolerance=1e-4,
    )
    check_refused("preemphasis_filter", (samples, ""), border="wrap")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64", "float32"])
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"cutoff_db": -20.0},
        {"window_length": 256},
        {"window_length": 256, "reset_interval": -1, "cutoff_db": -30.0},
        {"window_length": 1},
        {"window_length": 512, "reference_power": 0.01},
    ],
)
def test_nonsilent_region(dtype: str, arguments: dict[str, Any]) -> None:
    samples = []
    for first in (3000, 0, 4500):
        signal = np.zeros(10000, dtype)
        signal[first : first + 2000] = 100
        samples.append(signal)
    check("nonsilent_region", (samples, ""), **arguments)


def test_nonsilent_region_errors() -> None:
    check_refused("nonsilent_region", SIGNALS, window_length=100)
    check_refused("nonsilent_region", ([np.zeros((10, 1), np.float32)], ""))
    check_refused("nonsilent_region", ([np.zeros(10)], ""))


@pytest.mark.parametrize("operator", ["audio_resample", "experimental.audio_resample"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "arguments",
    [
        {"scale": 2.0},
        {"scale": 0.5, "quality": 100.0},
        {"in_rate": 44100.0, "out_rate": 16000.0},
        {"in_rate": 16000.0, "out_rate": 22050.0, "quality": 0.0},
        {"out_length": 1234, "quality": 20.0},
    ],
)
def test_audio_resample(operator: str, arguments: dict[str, Any]) -> None:
    """The reference counts positions in single precision, which matters for high frequencies."""
    times = np.arange(3000) / 16000
    samples = [np.float32(0.5 * np.sin(2 * np.pi * f * times)) for f in (50, 200, 300)]
    check(operator, (samples, ""), tolerance=1e-4, **arguments)
    check(operator, SIGNALS, tolerance=3e-3, **arguments)
    stereo = [np.stack([samples[0], samples[1]], 1)]
    check(operator, (stereo, "tc"), tolerance=1e-4, **arguments)


def test_audio_resample_per_sample() -> None:
    values = [np.float32(value) for value in (0.5, 1.0, 2.0)]
    check("audio_resample", SIGNALS, per_sample={"scale": values}, tolerance=1e-3)
    check(
        "audio_resample",
        SIGNALS,
        per_sample={"in_rate": values, "out_rate": values[::-1]},
        tolerance=1e-3,
    )
    lengths = [np.int64(value) for value in (100, 0, 3000)]
    check("audio_resample", SIGNALS, per_sample={"out_length": lengths}, tolerance=3e-3)


@pytest.mark.parametrize(
    "dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float32"]
)
def test_audio_resample_types(dtype: str) -> None:
    sound = tones(500)[:, 0]
    if dtype != "float32":
        most = float(np.iinfo(dtype).max)
        sound = (sound / 2 + 0.5) * most if np.iinfo(dtype).min == 0 else sound * most
    for target in ("INT8", "UINT8", "INT16", "UINT16", "INT32", "UINT32", "FLOAT"):
        bits = 1 if target == "FLOAT" else 2.0 ** int(target.strip("UINT"))
        tolerance = 2e-3 if target == "FLOAT" else max(1.0, bits * 1e-3)
        check(
            "audio_resample",
            ([sound.astype(dtype)], ""),
            scale=1.5,
            dtype=target,
            tolerance=tolerance,
        )


def test_audio_resample_errors() -> None:
    for arguments in (
        *({}, {"in_rate": 3.0}, {"scale": -1.0}, {"scale": 1.0, "quality": 101.0}),
        *({"scale": 1.0, "out_length": 3}, {"scale": 1.0, "dtype": "FLOAT16"}),
    ):
        check_refused("audio_resample", SIGNALS, **arguments)
    check_refused("audio_resample", ([np.zeros((2, 2, 2), np.float32)], ""), scale=1.0)


FILES = [("WAV", "PCM_16"), ("WAV", "PCM_24"), ("FLAC", None), ("OGG", "VORBIS"), ("OGG", "OPUS")]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("operator", ["decoders.audio", "audio_decoder"])
@pytest.mark.parametrize(("form", "subtype"), FILES)
def test_decoder(operator: str, form: str, subtype: str | None) -> None:
    files = ([as_bytes(sound_file(tones(3000, n), form, subtype)) for n in (1, 2)], "")
    for dtype, step in (("FLOAT", 1 / 2**15), ("INT16", 1.0), ("INT32", 2.0**16)):
        for downmix in (False, True):
            common = {"dtype": dtype, "downmix": downmix}
            check(operator, files, tolerance=step, **common)
            check(operator, files, tolerance=100 * step, sample_rate=8000.0, quality=70, **common)
    rates = [np.float32(rate) for rate in (8000, 16000)]
    check(operator, files, per_sample={"sample_rate": rates}, tolerance=1e-3)
    check_refused(operator, files, dtype="UINT8")


def test_damaged_files() -> None:
    flac = sound_file(tones(9000), "FLAC")
    for file in (b"no sound", flac[: len(flac) // 2]):
        check_refused("decoders.audio", ([as_bytes(file)], ""))


def read(library: Any, operator: str, **arguments: Any) -> list[list[np.ndarray]]:
    function = library.fn
    for part in operator.split("."):
        function = getattr(function, part)
    pipeline = library.Pipeline(batch_size=4, num_threads=1, device_id=None)
    with pipeline:
        outputs = function(**arguments)
        pipeline.set_outputs(*list_of(outputs))
    pipeline.build()
    return [[np.array(batch.at(i)) for i in range(4)] for batch in pipeline.run()]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"read_idxs": True, "downmix": False},
        {"read_sample_rate": False, "read_text": False, "dtype": "INT16"},
        {"min_duration": 0.15, "read_idxs": True},
        {"max_duration": 0.15, "read_idxs": True},
        {"sample_rate": 8000.0, "quality": 30.0},
        {"num_shards": 2, "shard_id": 1, "stick_to_shard": True, "pad_last_batch": True},
    ],
)
def test_nemo_asr(tmp_path: Path, arguments: dict[str, Any]) -> None:
    entries = []
    for i in range(4):
        path = tmp_path / f"{i}.wav"
        path.write_bytes(sound_file(tones(1600 * (i + 1), 2, i)))
        entries.append(
            {"audio_filepath": str(path), "duration": 0.1 * (i % 3 + 1), "text": f"ä{i}"}
        )
    entries[2] |= {"offset": 0.1}
    del entries[3]["duration"], entries[3]["text"]
    manifest = tmp_path / "manifest.json"
    manifest.write_text("\n".join(map(json.dumps, entries)) + "\n")
    for operator in ("readers.nemo_asr", "nemo_asr_reader"):
        theirs, ours = (
            read(
                library,
                operator,
                manifest_filepaths=[str(manifest)],
                **arguments | ({"dtype": library.types.INT16} if "dtype" in arguments else {}),
            )
            for library in (reference, dali_core)
        )
        for expected, mine in zip(theirs, ours, strict=True):
            for one, other in zip(expected, mine, strict=True):
                assert (one.dtype, one.shape) == (other.dtype, other.shape)
                np.testing.assert_allclose(one.astype(float), other.astype(float), atol=1e-3)
