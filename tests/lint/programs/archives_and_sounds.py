"""Records, archives, data sets in Python, and spectrograms of sounds, with strict types."""

# mypy: warn-unreachable

from __future__ import annotations

import io
import tarfile
import tempfile
import wave
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from dali_core import DataNode, Pipeline, fn, pipeline_def, samplers, tfrecord, types

# Records: the outputs come by their names.


@pipeline_def(batch_size=2, num_threads=1)
def records(folder: Path) -> tuple[DataNode, DataNode, DataNode]:
    """Read features of examples."""
    features: dict[str, tfrecord.Feature] = {
        "image": tfrecord.FixedLenFeature((), tfrecord.string, ""),
        "label": tfrecord.FixedLenFeature([1], tfrecord.int64, -1),
        "box": tfrecord.VarLenFeature(tfrecord.float32, 0.0),
    }
    outputs: dict[str, DataNode] = fn.readers.tfrecord(
        path=[folder / "a.tfrecord"],
        index_path=[str(folder / "a.idx")],
        features=features,
        random_shuffle=True,
        seed=3,
    )
    return outputs["image"], outputs["label"], outputs["box"]


# An archive: an output for each extension.


def write_archive(path: Path) -> None:
    """Write two samples of a sound and a number."""
    sound = io.BytesIO()
    with wave.open(sound, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes((numpy.sin(numpy.arange(2048)) * 9000).astype(numpy.int16).tobytes())
    with tarfile.open(path, "w") as archive:
        for number in range(2):
            for name, data in ((f"{number}.wav", sound.getvalue()), (f"{number}.cls", b"5")):
                entry = tarfile.TarInfo(name)
                entry.size = len(data)
                archive.addfile(entry, io.BytesIO(data))


@pipeline_def(batch_size=2, num_threads=1)
def spectrograms(path: Path) -> tuple[DataNode, ...]:
    """Decode sounds, and compute what a network for speech is trained on."""
    file, label = fn.readers.webdataset(paths=path, ext=["wav", "cls"], name="archive")
    sound, rate = fn.decoders.audio(file, downmix=True, sample_rate=8000, dtype=types.FLOAT)
    loud_from, loud_length = fn.nonsilent_region(sound, cutoff_db=-60.0)
    power = fn.spectrogram(
        fn.preemphasis_filter(sound, preemph_coeff=0.97),
        nfft=256,
        window_length=200,
        window_step=80,
        window_fn=[float(value) for value in numpy.hanning(200)],
    )
    mel = fn.mel_filter_bank(power, nfilter=16, sample_rate=8000.0, freq_high=4000)
    coefficients = fn.mfcc(fn.to_decibels(mel, cutoff_db=-80), n_mfcc=8)
    slower = fn.audio_resample(sound, in_rate=8000, out_rate=rate / 2)
    return label, mel, coefficients, slower, loud_from + loud_length


# A data set in Python: an output, or a list of as many as are said.


class Squares:
    """Squares of numbers."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> tuple[NDArray[numpy.int64], int]:
        return numpy.full(2, index**2), index


class Numbers:
    """Numbers from zero."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        return index


@pipeline_def(batch_size=3, num_threads=1)
def squares() -> tuple[DataNode, DataNode, DataNode]:
    """Read them."""
    both: list[DataNode] = fn.readers.python(source=Squares(), num_outputs=2, name="squares")
    single: DataNode = fn.readers.python(source=Numbers(), dtype=types.INT64)
    return both[0], both[1], single


# Columns of Parquet files: an output, or a list of them.


@pipeline_def(batch_size=3, num_threads=1)
def columns(paths: list[str]) -> tuple[DataNode, DataNode]:
    """Read them, in an order that reads row groups together."""
    pair: list[DataNode] = fn.readers.parquet(
        paths=paths, columns=["image", "label"], sampler=samplers.Blocks(window=2)
    )
    return pair[0], pair[1]


with tempfile.TemporaryDirectory() as folder:
    write_archive(Path(folder, "a.tar"))
    sounds: Pipeline = spectrograms(Path(folder, "a.tar"))
    label, mel, coefficients, slower, loud_until = sounds.run()
    shapes: list[tuple[int, ...]] = mel.shape()
    assert [shape[0] for shape in shapes] == [16, 16]
    assert coefficients.at(0).shape[0] == 8
    assert slower.at(0).shape == (1024,)
    meta: dict[str, Any] = sounds.reader_meta("archive")
    assert meta["epoch_size"] == 2
    sounds.close()

numbers: Pipeline = squares()
values: NDArray[Any] = numbers.run()[0].as_array()
assert values.tolist() == [[0, 0], [1, 1], [4, 4]]
numbers.close()
assert callable(records)
assert callable(columns)
