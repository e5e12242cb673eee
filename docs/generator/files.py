"""Sounds and files of other kinds for programs of the documentation."""

from __future__ import annotations

import io
import json
import tarfile
import wave
from pathlib import Path

import numpy as np

from tests.operators.readers.database_files import datum, write_database
from tests.operators.readers.dicom_files import dicom
from tests.operators.readers.mds_files import write_mds
from tests.operators.readers.record_files import image_record, write_recordio
from tests.operators.readers.test_nifti import nifti
from tests.operators.readers.test_safetensors import save as save_tensors
from tests.operators.readers.test_token_file import save as save_tokens
from tests.operators.readers.test_token_file import tokens
from tests.operators.readers.zarr_files import write_v3 as write_zarr

RATE = 16000


def sound() -> np.ndarray:
    """Draw three chirps of a bird with silence around them: 1.2 seconds, float64 from -1 to 1."""
    times = np.arange(int(1.2 * RATE)) / RATE
    total = np.zeros(len(times))
    for start, low, high in ((0.15, 1500, 3500), (0.45, 4000, 2000), (0.75, 1200, 5500)):
        inside = np.clip((times - start) / 0.25, 0, 1)
        phase = 2 * np.pi * (low * inside + (high - low) * inside**2 / 2) * 0.25
        total += np.sin(np.pi * inside) ** 2 * (np.sin(phase) + 0.3 * np.sin(2 * phase))
    return 0.5 * total / np.abs(total).max() + np.random.default_rng(0).normal(0, 1e-3, len(times))


def make_sounds(folder: Path) -> None:
    """Make the folder `sounds` that programs of the documentation read: WAV of 16 bits."""
    (folder / "sounds" / "birds").mkdir(parents=True)
    with wave.open(str(folder / "sounds" / "birds" / "0.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((sound() * 32767).astype("<i2").tobytes())


def make_files(folder: Path) -> None:
    """Make the folder `files` of the readers, from the photos and sounds that are there."""
    import h5py
    import pyarrow as pa
    import pyarrow.parquet as pq

    target = folder / "files"
    target.mkdir()
    for number in range(2):
        np.save(target / f"{number}.npy", np.arange(6, dtype=np.float32).reshape(2, 3) + number)
    photos = sorted((folder / "photos").glob("*/*.jpg"))
    encoded = [photo.read_bytes() for photo in photos]
    with tarfile.open(target / "photos.tar", "w") as archive:
        for number, photo in enumerate(photos):
            archive.add(photo, f"{number:06}.jpg")
            label = tarfile.TarInfo(f"{number:06}.cls")
            label.size = 1
            archive.addfile(label, io.BytesIO(b"%d" % number))
    columns = {"image": encoded, "label": [len(photo.parent.name) for photo in photos]}
    pq.write_table(pa.table(columns), target / "0.parquet")
    write_recordio(
        target / "0.rec", [image_record(photo, number) for number, photo in enumerate(encoded)]
    )
    write_database(
        target / "caffe",
        [(b"%06d" % number, datum(photo, number)) for number, photo in enumerate(encoded)],
    )
    save_tensors(target / "0.safetensors", {"a": np.arange(12).reshape(6, 2), "b": np.arange(6)})
    (target / "0.dcm").write_bytes(dicom(np.arange(20, dtype=np.int16).reshape(4, 5)))
    (target / "0.nii").write_bytes(nifti(np.arange(24, dtype=np.int16).reshape(4, 3, 2)))
    for name in ("image", "labels"):
        write_zarr(target / "zarr" / name, np.arange(24, dtype=np.int16).reshape(4, 6), (2, 2))
    with h5py.File(target / "0.h5", "w") as file:
        file["x"], file["y"] = np.arange(12).reshape(6, 2), np.arange(6)
    rows = [{"image": photo, "label": number} for number, photo in enumerate(encoded)]
    write_mds(target / "mds", {"image": "jpeg", "label": "int"}, rows, shard_rows=4)
    save_tokens(target / "tokens.bin", tokens())
    (target / "speech.json").write_text(
        json.dumps({"audio_filepath": "sounds/birds/0.wav", "duration": 1.2, "text": "bird"})
    )
    captions = [{"text": photo.parent.name, "label": n} for n, photo in enumerate(photos)]
    (target / "captions.jsonl").write_text("\n".join(map(json.dumps, captions)))
    vocabulary = {name: n for n, name in enumerate(["?", *map(str, captions)])}
    tokenizer = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "?"}
    (target / "tokenizer.json").write_text(json.dumps({"version": "1.0", "model": tokenizer}))
    images, boxes = [], []
    for number, photo in enumerate(photos):
        name = photo.relative_to(folder / "photos").as_posix()
        images.append({"id": number, "file_name": name, "width": 240, "height": 160})
        box = {"bbox": [20, 30, 60, 40], "category_id": 7, "area": 2400, "iscrowd": 0}
        boxes.append({**box, "id": number, "image_id": number})
    annotations = {"images": images, "annotations": boxes, "categories": [{"id": 7}]}
    (target / "boxes.json").write_text(json.dumps(annotations))
