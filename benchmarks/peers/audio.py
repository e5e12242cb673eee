"""Libraries that compute log-mel spectrograms and resample, each with the same number of threads.

A pipeline is ``library/task``; the signals are in memory. ``torch`` computes what torchaudio's
``MelSpectrogram`` and ``AmplitudeToDB`` consist of, where torchaudio itself does not load.
"""

from __future__ import annotations

import importlib.metadata
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

RATE, SECONDS, NFFT, WINDOW, STEP, FILTERS = 16000, 10, 512, 400, 160, 80
TARGET_RATE = 22050
PACKAGES = {
    "ours": "numpy",
    "reference": "nvidia-dali-cuda130",
    "torchaudio": "torchaudio",
    "torch": "torch",
    "librosa": "librosa",
}
PIPELINES = [*(f"{library}/log-mel" for library in PACKAGES), "ours/resample", "reference/resample"]


def versions() -> dict[str, str]:
    """Return the versions of the installed libraries."""
    found = {}
    for package in sorted(set(PACKAGES.values())):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def open_batches(pipeline: str, files: list[str], threads: int, batch_size: int) -> Iterator[int]:
    """Compute forever, and yield the number of signals of each batch."""
    library, task = pipeline.split("/")
    generator = np.random.default_rng(1)
    signals = [
        np.float32(generator.standard_normal(RATE * SECONDS) * 0.1) for _ in range(batch_size)
    ]
    run = _MAKERS.get(library, _pipeline)(library, task, signals, threads)
    while True:
        run()
        yield batch_size


def _pipeline(
    library: str, task: str, signals: list[np.ndarray], threads: int
) -> Callable[[], Any]:
    dali: Any
    if library == "ours":
        import dali_core as dali
        from dali_core import fn
    else:
        from nvidia import dali
        from nvidia.dali import fn
    pipeline = dali.Pipeline(batch_size=len(signals), num_threads=threads, device_id=None)
    with pipeline:
        data = fn.external_source(source=lambda: signals)
        if task == "log-mel":
            data = fn.spectrogram(data, nfft=NFFT, window_length=WINDOW, window_step=STEP)
            data = fn.mel_filter_bank(data, nfilter=FILTERS, sample_rate=float(RATE))
            data = fn.to_decibels(data, reference=1.0, cutoff_db=-100.0)
        else:
            data = fn.audio_resample(data, in_rate=float(RATE), out_rate=float(TARGET_RATE))
        pipeline.set_outputs(data)
    pipeline.build()
    return pipeline.run  # type: ignore[no-any-return]


def _torchaudio(
    library: str, task: str, signals: list[np.ndarray], threads: int
) -> Callable[[], Any]:
    import torch
    import torchaudio

    torch.set_num_threads(threads)
    batch = torch.from_numpy(np.stack(signals))
    transform = torch.nn.Sequential(
        torchaudio.transforms.MelSpectrogram(
            RATE, n_fft=NFFT, win_length=WINDOW, hop_length=STEP, n_mels=FILTERS
        ),
        torchaudio.transforms.AmplitudeToDB(),
    )
    return lambda: transform(batch)


def _torch(library: str, task: str, signals: list[np.ndarray], threads: int) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(threads)
    batch = torch.from_numpy(np.stack(signals))
    window = torch.hann_window(WINDOW)
    filters = torch.rand(FILTERS, NFFT // 2 + 1)

    def run() -> torch.Tensor:
        spectra = torch.stft(batch, NFFT, STEP, WINDOW, window, return_complex=True)
        return 10 * torch.log10(torch.clamp(filters @ spectra.abs().pow(2), min=1e-10))

    return run


def _librosa(library: str, task: str, signals: list[np.ndarray], threads: int) -> Callable[[], Any]:
    # Otherwise the threads of the matrix product would compete with those of the pool.
    os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import librosa

    def one(signal: np.ndarray) -> Any:
        spectra = librosa.feature.melspectrogram(
            y=signal, sr=RATE, n_fft=NFFT, win_length=WINDOW, hop_length=STEP, n_mels=FILTERS
        )
        return librosa.power_to_db(spectra)

    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(one, signals))


_MAKERS: dict[str, Callable[[str, str, list[np.ndarray], int], Callable[[], Any]]] = {
    "torchaudio": _torchaudio,
    "torch": _torch,
    "librosa": _librosa,
}
