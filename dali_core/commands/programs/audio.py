"""Train a classifier on sounds, in a folder for each class: sounds/yes/1.wav, sounds/no/1.wav.

pip install soundfile                     # decodes the sounds
python audio.py --data sounds
dali-core show audio.py:pipeline          # spectrograms
dali-core bench audio.py:pipeline         # how fast they are loaded
"""

from __future__ import annotations

import argparse

import torch
from torch import nn

from dali_core import DataNode, fn, pipeline_def
from dali_core.pytorch import Loader

RATE = 16000
FILTERS, STEPS = 64, 100
"""Extents of a spectrogram: frequencies, and times of 10 ms each."""
SILENCE = -80.0
"""Decibels below the loudest frequency that are shown as silence."""


@pipeline_def(batch_size=32, num_threads=4, device_id=None, seed=1)
def pipeline(data: str = "sounds") -> tuple[DataNode, DataNode]:
    """Return log-mel spectrograms of shape (FILTERS, STEPS) and the numbers of their classes."""
    encoded, label = fn.readers.file(
        file_root=data,
        file_filters=["*.wav", "*.flac", "*.ogg", "*.mp3"],
        random_shuffle=True,
    )
    sound, _ = fn.decoders.audio(encoded, sample_rate=RATE, downmix=True)
    sound = sound * fn.random.uniform(range=[0.5, 1.0])
    spectrum = fn.spectrogram(
        fn.preemphasis_filter(sound), nfft=512, window_length=400, window_step=RATE // 100
    )
    mels = fn.mel_filter_bank(spectrum, nfilter=FILTERS, sample_rate=RATE)
    mels = fn.to_decibels(mels, cutoff_db=SILENCE)
    # Cut to one length, or padded with silence.
    mels = fn.slice(
        mels, start=0, shape=STEPS, axes=[1], out_of_bounds_policy="pad", fill_values=SILENCE
    )
    return mels / -SILENCE + 1.0, label


def make_model(num_classes: int) -> nn.Module:
    """Stack a few convolutions over time; replace them by the model of your choice."""
    layers: list[nn.Module] = []
    for inputs, outputs in ((FILTERS, 64), (64, 64), (64, 64)):
        layers += [nn.Conv1d(inputs, outputs, 3, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(64, num_classes))


def main() -> None:
    """Train, and print the loss after each epoch."""
    parser = argparse.ArgumentParser(description="Train a classifier of sounds.")
    parser.add_argument("--data", default="sounds", help="folder of sounds (%(default)s)")
    parser.add_argument("--epochs", type=int, default=2, help="(%(default)s)")
    options = parser.parse_args()

    device = "cuda" if torch.cuda.is_available() else "cpu"
    loader = Loader(pipeline(options.data), device=device)
    model = make_model(len(loader.classes)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(options.epochs):
        loss = torch.zeros(())
        for spectrograms, labels in loader:
            loss = nn.functional.cross_entropy(model(spectrograms), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
