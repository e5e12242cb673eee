"""Reading manifests of NeMo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dali_core import Pipeline, fn
from dali_core.batching import Budget
from dali_core.errors import ArgumentValueError, SampleError
from dali_core.testing.examples import list_of
from tests.operators.readers.lengths import declared_lengths
from tests.operators.suite import Example
from tests.sounds import sound_file, tones

pytest.importorskip("soundfile", reason="not available: soundfile")


def write(folder: Path, count: int = 5, **more: Any) -> Path:
    """Write files of a tenth of a second more each, and their manifest."""
    lines = []
    for i in range(count):
        path = folder / f"{i}.wav"
        path.write_bytes(sound_file(tones(1600 * (i + 1), 2, i)))
        entry = {"audio_filepath": str(path), "duration": 0.1 * (i + 1), "text": f"Wort ä {i}"}
        lines.append(json.dumps(entry | more, ensure_ascii=bool(i % 2)))
    manifest = folder / "manifest.json"
    manifest.write_text("\n".join(lines) + "\n\n", "utf-8")
    return manifest


EXAMPLES = [
    Example("entries", [], lambda folder: {"manifest_filepaths": str(write(folder))}),
    Example(
        "parts",
        [],
        lambda folder: {
            "manifest_filepaths": [str(write(folder, offset=0.05, duration=0.02))],
            "read_idxs": True,
            "sample_rate": 8000.0,
            "downmix": False,
        },
    ),
]


def read(batch_size: int, manifests: Any, **arguments: Any) -> list[list[np.ndarray]]:
    pipeline = Pipeline(batch_size=batch_size, num_threads=2, device_id=None)
    with pipeline:
        outputs = fn.readers.nemo_asr(manifest_filepaths=manifests, **arguments)
        pipeline.set_outputs(*list_of(outputs))
    batch = pipeline.run()
    pipeline.close()
    return [[np.array(output.at(i)) for i in range(batch_size)] for output in batch]


def test_outputs(tmp_path: Path) -> None:
    manifest = str(write(tmp_path))
    sounds, rates, texts, indices = read(5, manifest, read_idxs=True)
    for i in range(5):
        np.testing.assert_allclose(sounds[i], tones(1600 * (i + 1), 2, i).mean(1), atol=1e-4)
        assert bytes(texts[i]).decode() == f"Wort ä {i}"
        assert (rates[i].shape, float(rates[i]), indices[i].tolist()) == ((), 16000, [i])
        assert (rates[i].dtype, indices[i].dtype) == (np.float32, np.int64)
    only = read(1, manifest, read_sample_rate=False, read_text=False)
    np.testing.assert_array_equal(only[0][0], sounds[0])
    texts, indices = read(2, manifest, read_sample_rate=False, read_idxs=True)[1:]
    assert bytes(texts[1]).decode() == "Wort ä 1"
    assert [index.tolist() for index in indices] == [[0], [1]]


def test_parts_of_files(tmp_path: Path) -> None:
    whole, *_ = read(5, str(write(tmp_path)))
    cut, *_ = read(5, str(write(tmp_path, offset=0.03, duration=0.05)))
    open_end, *_ = read(5, str(write(tmp_path, offset=0.05, duration=-1)))
    beyond, *_ = read(5, str(write(tmp_path, offset=0.05, duration=100)))
    for i in range(5):
        np.testing.assert_array_equal(cut[i], whole[i][480:1280])
        np.testing.assert_array_equal(open_end[i], whole[i][800:])
        np.testing.assert_array_equal(beyond[i], whole[i][800:])


def test_durations(tmp_path: Path) -> None:
    manifest = str(write(tmp_path))
    sounds, *_, indices = read(
        2, manifest, min_duration=0.15, max_duration=0.35, read_idxs=True, read_text=False
    )
    assert [len(sound) for sound in sounds] == [3200, 4800]
    assert [index.tolist() for index in indices] == [[0], [1]]
    two, *_ = read(3, [manifest, manifest], min_duration=0.5)
    assert [len(sound) for sound in two] == [8000] * 3


def test_resampling(tmp_path: Path) -> None:
    sounds, rates = read(2, str(write(tmp_path)), sample_rate=8000.0, read_text=False)
    assert [len(sound) for sound in sounds] == [800, 1600]
    assert [float(rate) for rate in rates] == [16000, 16000]  # those of the files


def test_state_at_every_step(tmp_path: Path) -> None:
    manifest = str(write(tmp_path, count=7))

    def make(checkpoint: bytes | None = None) -> Pipeline:
        pipeline = Pipeline(
            batch_size=2,
            num_threads=2,
            device_id=None,
            seed=5,
            enable_checkpointing=True,
            checkpoint=checkpoint,
        )
        with pipeline:
            pipeline.set_outputs(
                *fn.readers.nemo_asr(
                    manifest_filepaths=manifest,
                    random_shuffle=True,
                    num_shards=2,
                    shard_id=1,
                    read_idxs=True,
                    name="reader",
                )
            )
        return pipeline

    def next_indices(pipeline: Pipeline) -> list[int]:
        return np.array(pipeline.run()[3].as_tensor()).ravel().tolist()

    pipeline = make()
    states, batches = [], []
    for _ in range(9):
        states.append(pipeline.checkpoint())
        batches.append(next_indices(pipeline))
    assert len({index for batch in batches for index in batch}) > 5
    pipeline.close()
    for state, *following in zip(states[:-1], batches[:-1], batches[1:], strict=True):
        resumed = make(state)
        assert [next_indices(resumed), next_indices(resumed)] == following
        resumed.close()


def test_bad_samples(tmp_path: Path) -> None:
    manifest = write(tmp_path)
    (tmp_path / "1.wav").write_bytes(b"RIFF no sound")
    (tmp_path / "3.wav").unlink()
    pipeline = Pipeline(batch_size=5, num_threads=2, device_id=None, on_sample_error="replace")
    with pipeline:
        sounds, *_ = fn.readers.nemo_asr(manifest_filepaths=str(manifest))
        pipeline.set_outputs(sounds)
    (batch,) = pipeline.run()
    assert [len(np.array(batch.at(i))) // 1600 for i in range(5)] == [1, 3, 3, 5, 5]
    assert sorted(Path(bad.source).name for bad in pipeline.bad_samples) == ["1.wav", "3.wav"]
    pipeline.close()
    with pytest.raises(SampleError, match=r"1\.wav"):
        read(5, str(manifest))
    with pytest.raises(SampleError, match="the offset must be within the audio"):
        read(1, str(write(tmp_path, offset=5.0)))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "must have at least one entry"),
        ("{", "line 1: must be a JSON object"),
        ('\n\n{"text": "a"}', "line 3: must have audio_filepath"),
        ("[]", "line 1: must have audio_filepath"),
        ('{"audio_filepath": "a", "offset": "b"}', "offset must be a number of seconds"),
        ('{"audio_filepath": "a", "duration": NaN}', "duration must be a number of seconds"),
        ('{"audio_filepath": "a", "text": 3}', "text must be a string"),
        ('{"audio_filepath": "a\\u0000b"}', "without NUL characters"),
        ("\udcff", "must be text in UTF-8"),
    ],
)
def test_bad_manifests(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "manifest.json"
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    with pytest.raises(ArgumentValueError, match=message):
        read(1, str(path))


def test_missing_manifest() -> None:
    with pytest.raises(ArgumentValueError, match="must be readable files"):
        read(1, "no such file")


def test_durations_are_lengths(tmp_path: Path) -> None:
    manifest = str(write(tmp_path))
    found = declared_lengths("readers.nemo_asr", manifest_filepaths=manifest)
    assert found is not None
    assert found.tolist() == [100, 200, 300, 400, 500]
    lines = ['{"audio_filepath": "a.wav", "duration": 1.0001}', '{"audio_filepath": "b.wav"}']
    for count, expected in ((1, [1000]), (2, None)):
        (tmp_path / "some.json").write_text("\n".join(lines[:count]))
        found = declared_lengths("readers.nemo_asr", manifest_filepaths=str(tmp_path / "some.json"))
        assert (None if found is None else found.tolist()) == expected


def test_batches_have_a_budget_of_milliseconds(tmp_path: Path) -> None:
    pipeline = Pipeline(batching=Budget(600, padded=True), num_threads=1, device_id=None, seed=1)
    with pipeline:
        sounds, _, _ = fn.readers.nemo_asr(manifest_filepaths=str(write(tmp_path)), name="reader")
        pipeline.set_outputs(sounds)
    found = []
    while sum(map(len, found)) < 5:
        (batch,) = pipeline.run()
        found.append([len(np.array(sound)) / 16 for sound in batch])
    assert sorted(length for lengths in found for length in lengths) == [100, 200, 300, 400, 500]
    assert max(len(lengths) * max(lengths) for lengths in found) <= 600
    assert len(found) < 5
